//go:build unix

package helix

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// eachHelix runs a test with each installed Helix.
func eachHelix(t *testing.T, test func(t *testing.T, bin string)) {
	for _, bin := range world.EditorsFound(t, "hx-*", "hx") {
		t.Run(filepath.Base(bin), func(t *testing.T) { test(t, bin) })
	}
}

// A hx is a Helix on a real terminal with the configuration of "cursord editor install helix".
type hx struct {
	*world.Tmux
	w      *world.World
	popups bool // it shows questions in popups, and its keys pass arguments
}

// helixEnv returns the environment in which "hx" is that Helix and gopls is found, with a configuration of its own.
func helixEnv(w *world.World, t *testing.T, bin string) []string {
	t.Helper()
	tools := filepath.Join(w.Dir, "bin")
	require.NoError(t, os.MkdirAll(tools, 0o755))
	require.NoError(t, os.Symlink(bin, filepath.Join(tools, "hx")))
	for _, gopls := range world.EditorsFound(t, "gopls", "gopls") {
		require.NoError(t, os.Symlink(gopls, filepath.Join(tools, "gopls")))
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	return []string{
		"PATH=" + tools + ":" + os.Getenv("PATH"), "XDG_CONFIG_HOME=" + filepath.Join(w.Dir, "config"), "XDG_CACHE_HOME=" + filepath.Join(w.Dir, "cache"),
		"GOCACHE=" + strings.TrimSpace(string(cache)), "GOPROXY=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off",
	}
}

// editorCommand runs "cursord editor" in the environment of a Helix.
func editorCommand(w *world.World, t *testing.T, env []string, args ...string) string {
	t.Helper()
	out, err := tool(w, env, "cursord", append([]string{"editor"}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// tool returns a command for a program of a helixEnv.
func tool(w *world.World, env []string, name string, args ...string) *exec.Cmd {
	if name == "hx" {
		name = filepath.Join(w.Dir, "bin", "hx")
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = w.Env(env...), w.Root
	return cmd
}

// helix starts Helix in the workspace.
func helix(w *world.World, t *testing.T, bin string, files ...string) *hx {
	t.Helper()
	env := helixEnv(w, t, bin)
	editorCommand(w, t, env, "install", "helix", "--yes", "--languages", "go,markdown,text")
	h := &hx{Tmux: helixTerminal(w, t, env), w: w}
	h.popups = !strings.Contains(filepath.Base(bin), "25.01")
	h.opens(files...)
	return h
}

func helixTerminal(w *world.World, t *testing.T, env []string) *world.Tmux {
	t.Helper()
	tm := w.Terminal(t, append(slices.Clone(env), "TERM=screen-256color", "COLORTERM=truecolor")...)
	out, err := tm.Command("resize-window", "-x", "110", "-y", "24").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(w.Dir, "cache", "helix", "helix.log"))
			t.Logf("the screen is\n%s\nHelix's log:\n%s", tm.Screen(), log[max(0, len(log)-1000):])
		}
	})
	return tm
}

// opens starts Helix in the shell, and waits until cursord serves the first file.
func (h *hx) opens(files ...string) {
	h.T.Helper()
	h.Types("clear; hx "+strings.Join(files, " "), "Enter")
	h.sees("NOR", files[0])
	h.served()
}

// served waits until cursord serves the buffer: then its commands are listed first. It asks again if no list comes.
func (h *hx) served() {
	h.T.Helper()
	lists := []string{"> cursord.accept", "> gopls.", "0/0"} // 0/0: the server has not started yet
	h.Poll("cursord's commands", func() bool {
		h.ex("lsp-workspace-command")
		first := false
		world.Comes(world.Patience/6, func() bool {
			screen := h.Screen()
			first = strings.Contains(screen, lists[0])
			return slices.ContainsFunc(lists, func(one string) bool { return strings.Contains(screen, one) })
		})
		h.escapes(lists...)
		return first
	})
}

// ex types a command line, all its keys at once: Helix 25.07 closes the prompt a moment after another file got the focus, and takes what is typed after that for keys.
func (h *hx) ex(line string) {
	h.T.Helper()
	h.Types("-l", ":"+line+"\r")
}

// Poll waits like a Tmux. Helix's reader of keys at times leaves what was typed beside a change of the window's size unread until more
// comes, so a long wait sends what a terminal sends when its window gets the focus.
func (h *hx) Poll(what string, fits func() bool) {
	h.T.Helper()
	for range 3 {
		if world.Comes(world.Patience/6, fits) {
			return
		}
		_ = h.Command("send-keys", "-H", "1b", "5b", "49").Run()
	}
	h.Tmux.Poll(what, fits)
}

// sees waits until the screen has all of the texts.
func (h *hx) sees(parts ...string) {
	h.T.Helper()
	h.Poll("on the screen: "+strings.Join(parts, " and "), func() bool {
		screen := h.Screen()
		for _, part := range parts {
			if !strings.Contains(screen, part) {
				return false
			}
		}
		return true
	})
}

// misses waits until the screen has none of the texts.
func (h *hx) misses(parts ...string) {
	h.T.Helper()
	h.Poll("gone from the screen: "+strings.Join(parts, " and "), func() bool {
		screen := h.Screen()
		for _, part := range parts {
			if strings.Contains(screen, part) {
				return false
			}
		}
		return true
	})
}

// sawOne waits until the screen has one of the texts, and returns it.
func (h *hx) sawOne(parts ...string) (one string) {
	h.T.Helper()
	h.Poll("on the screen: "+strings.Join(parts, " or "), func() bool {
		screen := h.Screen()
		for _, part := range parts {
			if strings.Contains(screen, part) {
				one = part
				return true
			}
		}
		return false
	})
	return one
}

// escapes closes a popup or a picker.
func (h *hx) escapes(until ...string) {
	h.T.Helper()
	h.Types("Escape")
	h.misses(until...)
}

// shows waits for the lines of the text on the screen, without line numbers.
func (h *hx) shows(want string) {
	h.T.Helper()
	h.Poll("the text\n"+want, func() bool { return strings.HasPrefix(h.textShown(), want) })
}

func (h *hx) textShown() string {
	var b strings.Builder
	for line := range strings.Lines(h.Screen()) {
		cells := []rune(strings.TrimRight(line, "\n"))
		b.WriteString(strings.TrimRight(string(cells[min(len(cells), 7):]), " ") + "\n")
	}
	return b.String()
}

// TestHelixReview plays a turn and its review in each Helix, in Go, Markdown and plain text at once, beside gopls.
func TestHelixReview(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		w.Put("go.mod", "module shout\n\ngo 1.24\n")
		code := "package main\n\nfunc main() {\n\tprintln(\"one\")\n\tprintln(\"two\")\n\tprintln(\"three\")\n\tunused := 4\n}\n"
		loud := strings.NewReplacer("one", "ONE", "three", "THREE").Replace(code)
		w.Put("a.go", code)
		w.Put("notes.md", "# Notes\n\nsome words\n\nmore words\n")
		w.Put("todo.txt", "alpha\nbeta\n")
		w.Plays(world.Lines(
			world.Edits("1", "a.go", code, loud),
			world.Edits("2", "notes.md", w.Get("notes.md"), "# Notes\n\nSOME words\n\nmore words\n"),
			world.Edits("3", "todo.txt", "alpha\nbeta\n", "ALPHA\nbeta\n"),
			[]string{fmt.Sprintf(`{"fake":"wait","path":%q}`, w.Path("../go on"))},
		)...)
		w.Start()
		h := helix(w, t, bin, "a.go", "notes.md", "todo.txt")

		// All three buffers are served at once, the first one also by gopls.
		h.sees("declared and not used: unused")
		h.ex("open todo.txt")
		h.sees("NOR   todo.txt")
		h.served()
		h.ex("open notes.md")
		h.sees("more words")
		h.served()

		// A question about a selection.
		h.Types("1", "G", "x", "x", "x", "Space", "a")
		h.sees("Ask agent about selection…")
		h.Types("Enter")
		h.sees("PROMPT.md", "# file: notes.md:1-3", "#     some words", "# file: a.go", "# file: todo.txt")
		h.Types("i")
		h.sees("INS")
		h.Types("-l", "make it loud")
		h.Types("Escape")
		h.sees("NOR", "make it loud")
		h.ex("wbc")

		// The question of trust.
		if h.popups {
			h.sees("May the agent run commands and change files in", "Deny", "Trust this folder")
			h.Types("Down", "Enter")
		} else {
			h.sees("cursord: trust ws? space i a (cursord.allow) or space i d (cursord.deny)")
			h.Types("Space", "i", "a")
		}
		shown := regexp.MustCompile(`cursord: agent ⋅ Edit todo\.txt|\[cursord-turn-1\].* Edit todo\.txt`)
		h.Poll("what the agent does", func() bool { return shown.MatchString(h.Screen()) })
		w.Put("../go on", "")
		h.sees("cursord: done – 4 hunks to review in 3 files · ok")
		prompt := w.Runs()[0].Prompt
		require.Contains(t, prompt, "make it loud")
		require.Contains(t, prompt, "some words")
		require.NotContains(t, prompt, ">8")
		require.Equal(t, code, w.Get("a.go"), "the agent works in a copy")

		// The hunks of all files.
		h.Types("Space", "D")
		h.sees(`a.go     → println("O`, `a.go     → println("T`, "notes.md → SOME words", "todo.txt → ALPHA")
		h.escapes("severity")
		h.ex("open a.go")
		h.Types("4", "G")
		h.sees(`println("two")`, `→ println("THREE") · 2/2 +1 −1`)
		h.Types("Space", "k")
		h.sees("hunk 1/2 +1 −1 · make it loud", `-    println("one")`, `+    println("ONE")`)
		h.escapes("hunk 1/2")

		// Accept, take it back, accept again.
		h.Types("Space", "a")
		h.sees("Accept hunk 1/2 (+1 −1)", "Reject hunk 1/2 (+1 −1)")
		h.Types("Enter")
		h.sees(`println("ONE")`, "a.go [+]", "cursord: accepted 1 hunk in your buffers – save to write (:wa)", `→ println("THREE") · 1/1 +1 −1`)
		h.Types("u")
		h.sees(`println("one")`, `→ println("ONE") · 1/2 +1 −1`, `→ println("THREE") · 2/2 +1 −1`)
		h.Types("Space", "a")
		h.sees("Accept hunk 1/2 (+1 −1)")
		h.Types("Enter")
		h.sees(`println("ONE")`, "1/1 +1 −1")
		require.Equal(t, code, w.Get("a.go"), "before it is saved")

		// Reject another one by the menu.
		h.ex("open notes.md")
		h.Types("3", "G")
		h.sees("→ SOME words · 1/1 +1 −1")
		h.Types("Space", "a")
		h.sees("Accept hunk 1/1", "Reject hunk 1/1")
		h.Types("Down", "Enter")
		h.misses("1/1 +1 −1")
		h.shows("# Notes\n\nsome words\n")
		h.ex("wa")
		once := strings.Replace(code, "one", "ONE", 1)
		h.Poll("the file is written", func() bool { return w.Get("a.go") == once })
		e := w.Joins()
		h.Poll("what is left", func() bool { // Helix reports a save after the file is written
			left := e.Diffs()
			return len(left) == 2 && left["notes.md"] == nil && left["a.go"] != nil && len(left["a.go"].Hunks) == 1
		})

		// On to the next one, in another file.
		h.Types("Space", "i", "n")
		h.sees("NOR", " todo.txt", "1/1 +1 −1")
		if h.popups {
			h.Types("Space", "i", "y")
			h.sees("1  ALPHA", "todo.txt [+]")
			h.Types("u")
			h.sees("1  alpha", "→ ALPHA · 1/1 +1 −1")
		}
		h.Types("Space", "i", "Y")
		h.sees("1  ALPHA", "todo.txt [+]")
		h.ex("wa")
		h.Poll("all is accepted", func() bool { return len(e.Diffs()) == 0 })
		require.Equal(t, loud, w.Get("a.go"))
		require.Equal(t, "ALPHA\nbeta\n", w.Get("todo.txt"))
		require.Equal(t, "# Notes\n\nsome words\n\nmore words\n", w.Get("notes.md"))
		h.ex("q!") // Helix may not know yet that the buffer is saved
		h.Until("$")
	})
}
