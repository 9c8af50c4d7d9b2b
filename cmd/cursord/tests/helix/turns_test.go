//go:build unix

package helix

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestHelixTurns cancels a turn, ends Helix during another one, and finds everything in the next Helix.
func TestHelixTurns(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		w.Put("notes.md", "# Notes\n\nsome words\n")
		w.Put("todo.txt", "alpha\nbeta\n")
		w.Plays(world.Streams("I begin."), `{"fake":"hang"}`)
		w.Start()
		e := w.Opens()
		h := helix(w, t, bin, "notes.md", "todo.txt")

		// Cancel. In 25.07 the prompt is typed on one line, before that in a file.
		h.asks("wait for me")
		running := e.Until("the turn runs", func(n world.Notification) bool {
			return n.Method == "turn/changed" && n.Turn.Status == sessions.TurnRunning
		}).Turn
		require.Equal(t, "wait for me", running.Prompt)
		h.sawOne("cursord: agent ⋅ writing", "[cursord-turn-1] writing")
		h.Types("Space", "i", "x")
		h.sees("cursord: cancelled")
		require.Equal(t, sessions.TurnCancelled, e.Ends(running.ID).Status)

		// Helix ends during the turn, as if its terminal were closed.
		on := w.Path("../go on")
		w.Plays(world.Lines(
			world.Edits("1", "notes.md", w.Get("notes.md"), "# Notes\n\nSOME words\n"),
			[]string{world.Streams("One is done."), fmt.Sprintf(`{"fake":"wait","path":%q}`, on)},
			world.Edits("2", "todo.txt", "alpha\nbeta\n", "ALPHA\nbeta\n"),
			[]string{world.Streams("Two is done.")},
		)...)
		h.asks("make it loud")
		h.sees("→ SOME words · 1/1 +1 −1")
		out, err := h.Command("respawn-pane", "-k", "sh").CombinedOutput()
		require.NoError(t, err, "%s", out)
		h.Until("$")
		h.Types("clear; ../bin/hx notes.md todo.txt", "Enter")
		h.sees("some words", "→ SOME words · 1/1 +1 −1")
		h.sawOne("cursord: agent ⋅ ", "[cursord-turn-1] ")
		w.Put("../go on", "")
		h.sees("cursord: done – 2 hunks to review in 2 files")
		h.Types("Space", "D")
		h.sees("notes.md → SOME words", "todo.txt → ALPHA")
		h.escapes("severity")
		last := e.Until("the turn's end", func(n world.Notification) bool {
			return n.Method == "turn/changed" && n.Turn.Prompt == "make it loud" && n.Turn.Status.Final()
		}).Turn
		require.Equal(t, sessions.TurnCompleted, last.Status)
		require.Equal(t, running.SessionID, last.SessionID)

		// The transcript, and the list of sessions.
		h.Types("Space", "i", "o")
		h.sees("chat.md", "Two is done.", "*completed in ")
		h.Types("Space", "i", "r")
		h.sees("SESSIONS.md", "wait for me")

		// The next prompt goes to the session of the former Helix.
		w.Plays(world.Streams("Three is done."), world.Done)
		h.asks("and a third")
		last = e.Until("the third turn's end", func(n world.Notification) bool {
			return n.Method == "turn/changed" && n.Turn.Prompt == "and a third" && n.Turn.Status.Final()
		}).Turn
		require.Equal(t, running.SessionID, last.SessionID)
	})
}

// TestHelixPrompt completes the name of a file in a prompt, follows the transcript in its file, and goes to a place that the agent names.
func TestHelixPrompt(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		w.Put("notes.md", "# Notes\n")
		w.Put("src/main.go", "package main\n\nfunc main() {}\n")
		on := w.Path("../go on")
		w.Plays(world.Streams("One. "), fmt.Sprintf(`{"fake":"wait","path":%q}`, on), world.Streams("Two: src/main.go:3."), world.Done)
		w.Start()
		w.Opens()
		h := helix(w, t, bin, "notes.md")
		h.Types("Space", "i", "c")
		h.sees("PROMPT.md", ">8")
		h.Types("i")
		h.sees("INS")
		h.Types("-l", "look at @mai")
		h.sees("src/main.go")
		h.Types("Tab")
		h.sees("look at @src/main.go")
		h.Types("Enter")
		h.Types("Escape")
		h.sees("NOR", "look at @src/main.go")
		h.ex("wbc")
		h.sawOne("cursord: agent ⋅ writing", "[cursord-turn-1] writing")
		require.Contains(t, w.Runs()[0].Prompt, `<file path="src/main.go" />`)
		require.True(t, strings.HasSuffix(w.Runs()[0].Prompt, "\n\nlook at @src/main.go"), w.Runs()[0].Prompt)

		h.Types("Space", "i", "o")
		h.sees("chat.md", "look at @src/main.go", "One.")
		w.Put("../go on", "")
		h.sees("cursord: done")
		h.Poll("the file to have all", func() bool {
			raw, err := os.ReadFile(w.LspFile("chat.md"))
			return err == nil && strings.Contains(string(raw), "One. Two: src/main.go:3.") && strings.Contains(string(raw), "*completed in ")
		})
		h.ex("reload")
		h.sees("One. Two: src/main.go:3.", "*completed in ")

		// Go to the place that the agent named.
		h.Types("g", "g")
		h.Types("-l", "/main.go:3")
		h.Types("Enter", ";")
		if h.popups {
			h.Types("g", "d")
		} else {
			h.Types("Space", "a")
			h.sees("Go to src/main.go:3")
			h.Types("Enter")
		}
		h.sees("func main() {}", "1 sel  3:1")
		h.Types("C-o")
		h.sees("chat.md", "One. Two: src/main.go:3.")
		h.ex("bc") // it has no unsaved changes
		h.misses("One. Two: src/main.go:3.")
		h.ex("q")
		h.Until("$")
	})
}

// asks sends a prompt by "space i i".
func (h *hx) asks(prompt string) {
	h.T.Helper()
	h.Types("Space", "i", "i")
	if h.popups {
		h.sees(`:lsp-workspace-command cursord.ask ""`)
		h.Types("-l", prompt)
		h.Types("Enter")
		return
	}
	h.sees("PROMPT.md", ">8")
	h.Types("i")
	h.sees("INS")
	h.Types("-l", prompt)
	h.Types("Escape")
	h.sees("NOR", prompt)
	h.ex("wbc")
	h.misses("PROMPT.md")
}

// TestHelixConfigured installs into a user's own configuration, starts Helix with it, and takes it out again.
func TestHelixConfigured(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("a.md", "# A\n")
		languages := "# mine\n[[language]]\nname = \"markdown\"\nauto-format = true\n\n[[language]]\nname = \"rust\"\nlanguage-servers = [\"mine\"]\n[language-server]\nmine = { command = \"true\" }\n"
		config := "theme = \"base16_default_dark\"\n[editor]\nline-number = \"relative\"\nlsp.display-messages = true\n[keys.normal]\nspace = { w = \":w\" }\n"
		w.Put("../config/helix/languages.toml", languages)
		w.Put("../config/helix/config.toml", config)
		w.Start()
		env := helixEnv(w, t, bin)
		health := func(language string) string {
			cmd := tool(w, env, "hx", "--health", language)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			return string(out)
		}
		before := health("markdown") + health("rust") + health("python")
		require.NotContains(t, before, "cursord")

		// On a terminal the command asks.
		tm := helixTerminal(w, t, env)
		tm.Types("clear; cursord editor install helix --languages go,rust,python", "Enter")
		tm.Until("\nChange this? [y/N]")
		tm.Types("Enter")
		tm.Until("\nnothing was changed\n$")
		tm.Types("clear; cursord editor install helix --languages go,rust,python,markdown,text", "Enter")
		tm.Until("\nChange this? [y/N]")
		tm.Types("y", "Enter")
		tm.Until("\"cursord doctor --helix\" checks all of it.\n$")
		require.Contains(t, editorCommand(w, t, env, "install", "helix"), "nothing to do: ")

		// Each language has its own servers behind cursord.
		require.Equal(t, before, withoutCursord(health("markdown")+health("rust")+health("python")))
		require.Regexp(t, `(?s)cursord.*(mine|true)`, health("rust"))
		require.Contains(t, health("plaintext"), "cursord")
		out, _ := tool(w, env, "cursord", "doctor", "--helix").CombinedOutput() // its exit status also depends on the agent
		require.Regexp(t, `helix +25\.\d\d\.1, .*, set up for markdown, rust, go, python, diff, plaintext`, string(out))
		require.NotContains(t, string(out), "problem: ")

		// Helix starts without an error, and has the user's keys and cursord's.
		h := &hx{Tmux: tm, w: w}
		h.Types("clear; hx a.md", "Enter")
		h.sees("NOR", "a.md")
		h.served()
		h.Types("Space", "i")
		h.sees("cursord.acceptAll", "cursord.cancel", "chat")
		h.escapes("cursord.cancel")
		h.Types("Space")
		h.sees(":w")
		h.escapes(":w")
		h.ex("q")
		tm.Until("$")

		require.Contains(t, editorCommand(w, t, env, "uninstall", "helix", "--yes"), "removed from ")
		require.Equal(t, languages, w.Get("../config/helix/languages.toml"))
		require.Equal(t, config, w.Get("../config/helix/config.toml"))
		require.Contains(t, editorCommand(w, t, env, "uninstall", "helix", "--yes"), "nothing to do")
	})
}

// withoutCursord returns the output of "hx --health" without the lines about cursord.
func withoutCursord(health string) string {
	var b strings.Builder
	for line := range strings.Lines(health) {
		if !strings.Contains(line, "cursord") {
			b.WriteString(line)
		}
	}
	return b.String()
}
