//go:build unix

package emacs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// terminalEmacs starts an Emacs in a real terminal, for tests of keys and screens. term is the terminal's kind, by default one with
// 256 colours.
func terminalEmacs(w *world.World, t *testing.T, bin, init string, term ...string) (*emacs, *world.Tmux) {
	t.Helper()
	kind := append(term, "screen-256color")[0]
	e := &emacs{t: t, w: w, socket: freeName(w, "emacs"), gone: make(chan struct{})}
	tm := w.Terminal(t, "EMACS_SOCKET="+e.socket, "XDG_RUNTIME_DIR="+w.Dir)
	args := append(emacsArgs(t, bin, init), "--eval", "(server-start)")
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	w.Put("../emacs.sh", "TERM="+kind+" exec "+bin+" -nw "+strings.Join(quoted, " ")+"\n")
	tm.Types("sh ../emacs.sh", "Enter")
	e.starts()
	return e, tm
}

// untilScreen waits until the screen matches a pattern.
func untilScreen(tm *world.Tmux, e *emacs, pattern string) {
	tm.T.Helper()
	e.poll("on the screen: "+pattern, func() bool { return regexp.MustCompile(pattern).MatchString(tm.Screen()) })
}

// TestEmacsTerminal asks by keys in a terminal, and types on while the agent answers.
func TestEmacsTerminal(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "one\ntwo\n")
		var lines []string
		for range 200 {
			lines = append(lines, world.Streams("some words\n"))
		}
		w.Plays(append(append([]string{world.Streams("I begin.\n\n"), `{"fake":"wait","path":"{{cwd}}/../go"}`}, lines...), world.Streams("The end."), world.Done)...)
		w.Start()
		w.Trusts()
		e, tm := terminalEmacs(w, t, bin, `(progn (keymap-global-set "C-c a" cursord-command-map) (cursord-mode))`)
		e.eval(`(progn (find-file %q) nil)`, w.Path("f"))
		tm.Types("C-c", "a", "Space")
		untilScreen(tm, e, `\nAsk \(new session\):$`)
		tm.Types("what is @f", "Enter")
		untilScreen(tm, e, ` working · (auto · )?0:0\d · k cancel`)
		untilScreen(tm, e, `I begin\.`)
		untilScreen(tm, e, `cu\[working\]`)
		require.Equal(t, "f", e.eval(`(buffer-name)`))
		// The typed text goes to the same buffer, and no window scrolls.
		w.Put("../go", "")
		for _, key := range strings.Split("typed while it comes", "") {
			if key == " " {
				key = "Space"
			}
			tm.Types(key)
		}
		untilScreen(tm, e, `The end\.\n`)
		untilScreen(tm, e, ` idle · (auto · )?c write`)
		require.Contains(t, e.messages(), "cursord: done\n")
		e.until("what was typed", `(equal (buffer-string) "typed while it comesone\ntwo\n")`)
		require.Equal(t, filepath.Base(w.Path("f")), e.eval(`(buffer-name)`))

		// The menu, all of it beside two windows, and the doctor.
		tm.Types("C-c", "a", "m")
		untilScreen(tm, e, `(?s)~/ws/: idle, 0 hunks.*Ask.*SPC ask.*= s conflicts.*D +doctor.*-k keep for new ones +R rewind`)
		tm.Types("D")
		untilScreen(tm, e, `✓ program +/.*cursord, version`)
		tm.Types("q")
		tm.Types("C-c", "a", "c")
		untilScreen(tm, e, `(?m)^## Cursor$|The end\.`)
		require.Equal(t, chatName, e.eval(`(buffer-name)`))
		tm.Types("p")
		require.Equal(t, "## You", e.eval(`(progn (sit-for 0.01) (buffer-substring-no-properties (line-beginning-position) (line-end-position)))`))
		e.quiet()
	})
}

// TestEmacsNarrowMenu: the keys of commands that a narrow menu does not show run them.
func TestEmacsNarrowMenu(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "one\n")
		w.Start()
		w.Trusts()
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		e.eval(`(progn (find-file %q) nil)`, w.Path("f"))
		e.resizes(tm, 40)
		for _, at := range []struct{ keys, shown string }{
			{"R", `(?m)^There is no session yet$`}, {"?", `no prompt is known`}, {"= A", `There is nothing to review`}, {"D", `✓ program`},
		} {
			tm.Types("C-c", "a", "m")
			untilScreen(tm, e, `(?m)^The next session`)
			require.NotContains(t, tm.Screen(), "rewind")
			tm.Types(strings.Fields(at.keys)...)
			untilScreen(tm, e, at.shown)
		}
		e.quiet()
	})
}

// TestEmacsNarrowModeLine: the state is in sight in narrow windows, too, and once.
func TestEmacsNarrowModeLine(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("a-long-name.py", "one\n")
		w.Start()
		w.Trusts()
		e, tm := terminalEmacs(w, t, bin, "(cursord-mode)")
		e.eval(`(progn (find-file %q) (cursord-workspace-open) nil)`, w.Path("a-long-name.py"))
		e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
		for columns, pattern := range map[int]string{40: ` a-long-name\.py +cu  All`, 60: ` a-long-name\.py +cu  All`, 100: ` a-long-name\.py +All.*\(Python.* cu\b`} {
			e.resizes(tm, columns)
			untilScreen(tm, e, pattern)
			require.Len(t, regexp.MustCompile(`\bcu\b`).FindAllString(tm.Screen(), -1), 1)
		}
		e.eval(`(progn (cursord-mode -1) nil)`)
		e.until("nothing of it", `(not (member cursord--position mode-line-position))`)
		e.quiet()
	})
}
