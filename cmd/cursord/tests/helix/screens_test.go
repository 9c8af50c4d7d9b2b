//go:build unix

package helix

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// coloured returns the screen with its colours, as tmux prints it.
func (h *hx) coloured() string {
	out, err := h.Command("capture-pane", "-e", "-p").Output()
	require.NoError(h.T, err)
	return string(out)
}

// colourOf returns the foreground colour of a text on the screen, as tmux writes it; "" if the text is not there or has the
// terminal's own colour.
func colourOf(screen, text string) string {
	for line := range strings.Lines(screen) {
		at := strings.Index(line, text)
		if at < 0 {
			continue
		}
		colour := ""
		for _, part := range strings.Split(line[:at], "\x1b[")[1:] {
			codes, _, _ := strings.Cut(part, "m")
			for _, code := range []string{"38;2;", "38;5;"} {
				if _, rest, ok := strings.Cut(codes, code); ok {
					colour = code + rest
				}
			}
			if codes == "0" || codes == "39" || codes == "" {
				colour = ""
			}
		}
		return colour
	}
	return ""
}

// TestHelixScreens draws a hunk at the end of a line, in a hover and in the list of all hunks, in wide and narrow windows
// and with light and dark themes. The change can be read, in the theme's colours.
func TestHelixScreens(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		for _, one := range []struct {
			width int
			theme string
		}{{80, "default"}, {40, "default"}, {80, "onelight"}, {40, "onelight"}} {
			t.Run(fmt.Sprintf("%d/%s", one.width, one.theme), func(t *testing.T) {
				w := world.New(t)
				w.Put(".git/HEAD", "")
				before := "def hello(name):\n    return \"hello \" + name\n"
				w.Put("a.py", before)
				w.Put("../config/helix/config.toml", fmt.Sprintf("theme = %q\n", one.theme))
				w.Plays(world.Lines(
					world.Edits("1", "a.py", before, "def hello(name):\n    return f\"hello, {name}!\"\n"),
					world.Edits("2", "b.py", "(absent)", "x = 1\n"),
				)...)
				w.Start()
				w.Trusts()
				w.Opens().Turn(world.Obj{"isolation": "copy"})
				env := helixEnv(w, t, bin)
				editorCommand(w, t, env, "install", "helix", "--yes", "--languages", "python")
				h := &hx{Tmux: helixTerminal(w, t, env), w: w}
				out, err := h.Command("resize-window", "-x", fmt.Sprint(one.width), "-y", "24").CombinedOutput()
				require.NoError(t, err, "%s", out)
				h.Types("clear; hx a.py", "Enter")
				h.sees("NOR", "2      return") // and asks cursord for nothing
				h.Types("2", "G")
				word, other := `f"hello,`, `"hello`
				if one.width == 80 {
					h.sees("└─→ return f\"hello, {name}!\" · 1/1 +1 −1")
				} else {
					word, other = "→", "return" // in narrow windows Helix only shows it at the line's end
					h.sees("name  → re…")
				}
				screen := h.coloured()
				require.NotEmpty(t, colourOf(screen, word), screen)
				require.NotEqual(t, colourOf(screen, other), colourOf(screen, word), screen)
				for _, line := range strings.Split(h.Screen(), "\n") {
					require.LessOrEqual(t, utf8.RuneCountInString(line), one.width)
				}
				h.Types("Space", "k")
				h.sees("hunk 1/1 +1 −1", "+    return f")
				h.escapes("hunk 1/1")
				h.ex("lsp-workspace-command cursord.status")
				h.sees("cursord: 2 hunks to review, 0 turns runn") // what matters most is not cut off
				h.ex("lsp-workspace-command cursord.allow")
				h.sees("cursord: trusted /")
				h.ex("lsp-workspace-command cursord.diff")
				h.sees("diff --cursord a/a.py b/a.py", "+x = 1")
			})
		}
	})
}

// TestHelixUnsaved: the agent writes a file that is unsaved in Helix. Its lines come into the buffer as one step of undo,
// and ":w!" saves both.
func TestHelixUnsaved(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		before, after := world.Numbered(12, nil), world.Numbered(12, map[int]string{9: "agent 9\n"})
		w.Put("todo.txt", before)
		w.Plays(world.Lines(world.Edits("1", "todo.txt", before, after))...)
		w.Start()
		w.Trusts()
		e := w.Opens()
		env := helixEnv(w, t, bin)
		editorCommand(w, t, env, "install", "helix", "--yes", "--languages", "text")
		w.Put("../config/helix/languages.toml", strings.Replace(w.Get("../config/helix/languages.toml"), `"copy"`, `"none"`, 1))
		h := &hx{Tmux: helixTerminal(w, t, env), w: w}
		h.opens("todo.txt")
		h.Types("O")
		h.Types("-l", "mine")
		h.Types("Escape")
		h.sees("1  mine", "NOR   todo.txt [+]")
		h.ex("lsp-workspace-command cursord.status") // the daemon gets the text before the command
		h.sees("cursord: 0 hunks to review, 0 turns running, a new session")
		e.Turn(nil)
		h.sees("10  agent 9", "1  mine") // the message of the turn's end may have replaced this one's
		h.Types("u")
		h.sees("10  line 9", "1  mine")
		h.Types("U")
		h.sees("10  agent 9")
		h.ex("w!")
		h.Poll("both are saved", func() bool { return w.Get("todo.txt") == "mine\n"+after })
		h.misses("[+]")
		require.Len(t, e.Diffs()["todo.txt"].Hunks, 1, "and the agent's line is under review")
	})
}

// TestHelixSaveByAnotherProgram: another program saves a file that is unsaved in Helix. Its other lines come into the buffer, and the
// message begins with what ":w!" would drop.
func TestHelixSaveByAnotherProgram(t *testing.T) {
	t.Parallel()
	aHelix := world.EditorsFound(t, "hx-*", "hx")[0]
	w := world.New(t)
	w.Put(".git/HEAD", "")
	before, after := world.Numbered(12, nil), world.Numbered(12, map[int]string{9: "agent 9\n"})
	w.Put("todo.txt", before)
	w.Plays(world.Lines(world.Edits("1", "todo.txt", before, after))...)
	w.Start()
	w.Trusts()
	e := w.Opens()
	e.Turn(nil)
	env := helixEnv(w, t, aHelix)
	editorCommand(w, t, env, "install", "helix", "--yes", "--languages", "text")
	w.Put("../config/helix/languages.toml", strings.Replace(w.Get("../config/helix/languages.toml"), `"copy"`, `"none"`, 1))
	h := &hx{Tmux: helixTerminal(w, t, env), w: w}
	out, err := h.Command("resize-window", "-x", "80", "-y", "24").CombinedOutput()
	require.NoError(t, err, "%s", out)
	h.opens("todo.txt")
	h.sees("← line 9")
	h.Types("2", "G", "A")
	h.Types("-l", " mine")
	h.Types("Escape")
	h.sees("line 2 mine", "todo.txt [+]")
	h.ex("lsp-workspace-command cursord.undo") // the daemon gets the text before the command
	h.sees("nothing to undo")
	w.Put("todo.txt", strings.NewReplacer("line 2\n", "theirs 2\n", "line 5\n", "theirs 5\n").Replace(after))
	h.sees("theirs 5", "line 2 mine", "cursord: todo.txt: :w! drops another program's lines – changes on disk came in")
}

// TestHelixInlineConfiguration installs into a configuration with inline tables for servers and languages: Helix starts
// cursord.
func TestHelixInlineConfiguration(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("a.md", "# A\n")
		languages := "language-server = { mine = { command = \"true\" } }\nlanguage = [{ name = \"markdown\", language-servers = [\"mine\"] }]\n"
		w.Put("../config/helix/languages.toml", languages)
		w.Start()
		env := helixEnv(w, t, bin)
		editorCommand(w, t, env, "install", "helix", "--yes")
		h := &hx{Tmux: helixTerminal(w, t, env), w: w}
		h.opens("a.md")
		h.ex("open b.py")
		h.sees("b.py")
		h.served()
		h.ex("qa!")
		h.Until("$")
		editorCommand(w, t, env, "uninstall", "helix", "--yes")
		require.Equal(t, languages, w.Get("../config/helix/languages.toml"))
	})
}
