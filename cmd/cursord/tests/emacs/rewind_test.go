//go:build unix

package emacs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsWhyAndRewind asks in a terminal which prompt a line comes from, goes to it in the chat, sees the patch of a rewind there, and
// takes the turn back.
func TestEmacsWhyAndRewind(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "one\ntwo\n")
		w.Plays(append(world.Edits("1", "f", "one\ntwo\n", "one\nTWO\n"), world.Streams("Louder now."), world.Done)...)
		w.Start()
		c := w.Opens()
		c.Turn(world.Obj{"prompt": "make two louder"})
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		e.eval(`(progn (find-file %q) nil)`, w.Path("f"))
		tm.Types("M-<", "C-c", "a", "?")
		untilScreen(tm, e, `(?m)^cursord: Line 1: no prompt is known; a person wrote it, or it is older than cursord`)
		tm.Types("C-n", "C-c", "a", "?")
		untilScreen(tm, e, `(?m)^Line 2  make two louder\n  pending, [-0-9 :]+ \(just now\), make two louder$`)
		e.until("it counts as unmodified", `(with-current-buffer "*cursord why*" (not (buffer-modified-p)))`)
		tm.Types("Enter")
		untilScreen(tm, e, `(?s)## You\n\nmake two louder\n.*✓ Edit f \+1`)
		e.until("the prompt", `(and (eq major-mode 'cursord-chat-mode) (looking-at-p "## You\n\nmake two louder"))`)
		tm.Types("R")
		untilScreen(tm, e, `(?s)\n-TWO\n\+two\n.*\nTake back 1 turn and 1 change of files\? \(y or n\)`)
		require.Contains(t, tm.Screen(), "\nThis prompt leaves the session:\n  make two louder\n")
		tm.Types("n")
		untilScreen(tm, e, `(?m)^cursord: nothing was taken back`)
		require.Equal(t, "one\nTWO\n", w.Get("f"))
		tm.Types("R")
		untilScreen(tm, e, `\(y or n\)`)
		tm.Types("y")
		untilScreen(tm, e, `(?m)^cursord: took back 1 turn and 1 change of files; C-c a u brings the files back`)
		e.until("the chat without the turn", `(and (eq major-mode 'cursord-chat-mode) (not (string-search "louder" (buffer-string))))`)
		require.Equal(t, "one\ntwo\n", w.Get("f"))
		e.until("the file's buffer", `(equal "one\ntwo\n" (with-current-buffer "f" (buffer-string)))`)
		tm.Types("C-c", "a", "u")
		e.poll("the undo", func() bool { return w.Get("f") == "one\nTWO\n" })
		e.quiet()
	})
}

// TestEmacsScrollsThePatchOfARewind: the keys that scroll another window scroll the patch, while the question waits.
func TestEmacsScrollsThePatchOfARewind(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]string{"short": `\(y or n\)`, "long": `\(yes or no\)`} {
		no := map[string][]string{"short": {"n"}, "long": {"no", "Enter"}}[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anEmacs(t, func(t *testing.T, bin string) {
				w := world.New(t)
				w.Put("f", "")
				w.Plays(append(world.Edits("1", "f", "", world.Numbered(60, nil)), world.Streams("Longer now."), world.Done)...)
				w.Start()
				w.Trusts()
				w.Opens().Turn(world.Obj{"prompt": "make it longer"})
				e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
				e.eval(`(progn (setq use-short-answers %s) (cd %q) nil)`, map[string]string{"short": "t", "long": "nil"}[name], w.Root)
				tm.Types("C-c", "a", "c")
				untilScreen(tm, e, `Longer now`)
				for _, layout := range []struct {
					columns int
					windows string
				}{{40, "1"}, {80, "1"}, {80, "2"}} {
					e.resizes(tm, layout.columns)
					tm.Types("C-x", layout.windows, "R")
					untilScreen(tm, e, `(?s)\n-line 1\n.*Take back .*`+ends)
					tm.Types("C-M-v", "C-M-v", "C-M-v", "C-M-v")
					untilScreen(tm, e, `(?s)\n-line 30\n.*Take back .*`+ends)
					tm.Types("M-PPage", "M-PPage", "M-PPage", "M-PPage")
					untilScreen(tm, e, `(?s)\n-line 1\n.*Take back .*`+ends)
					tm.Types(no...) // C-g could quit what the test asks of Emacs instead
					e.until("no question", `(not (active-minibuffer-window))`)
				}
				e.quiet()
			})
		})
	}
}

// TestEmacsWhyOfACommit asks for a line that a command of the agent has brought by somebody's commit.
func TestEmacsWhyOfACommit(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		bob := w.HasBobsBranch()
		w.Plays(world.Shells("s", "git merge -q bob")...)
		w.Start()
		w.Trusts()
		w.Opens().Turn(nil)
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		e.eval(`(progn (find-file %q) nil)`, w.Path("f"))
		tm.Types("M-<", "C-n", "C-c", "a", "?")
		untilScreen(tm, e, `(?m)^Line 2  of commit `+bob[:10]+`, which an agent's command brought$`)
		e.quiet()
	})
}

// TestEmacsChatShowsWhatIsLeft takes a turn back whose answer fills the chat's window: the window then shows what is left of the chat.
func TestEmacsChatShowsWhatIsLeft(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(world.Streams("The first answer."), world.Done)
		w.Start()
		w.Trusts()
		c := w.Opens()
		first := c.Turn(world.Obj{"prompt": "first"})
		w.Plays(world.Streams(world.Numbered(60, nil)+"\nThe last line."), world.Done)
		c.Turn(world.Obj{"prompt": "second", "sessionId": first.SessionID})
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		e.eval(`(progn (cd %q) nil)`, w.Root)
		tm.Types("C-c", "a", "c")
		untilScreen(tm, e, `The last line`)
		tm.Types("M->", "R")
		untilScreen(tm, e, `\(y or n\)`)
		tm.Types("y")
		untilScreen(tm, e, `(?s)The first answer\..*cursord: took back 1 turn`)
		e.quiet()
	})
}

// TestEmacsTitlesHaveSpaces chooses a session by its title, with the spaces in it.
func TestEmacsTitlesHaveSpaces(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "one\n")
		w.Start()
		w.Trusts()
		c := w.Opens()
		first := c.Turn(world.Obj{"prompt": "paint it red"})
		c.Turn(world.Obj{"prompt": "paint it blue"})
		e, tm := terminalEmacs(w, t, bin, `(keymap-global-set "C-c a" cursord-command-map)`)
		e.eval(`(progn (find-file %q) nil)`, w.Path("f"))
		tm.Types("C-c", "a", "s")
		untilScreen(tm, e, `Go on with`)
		for _, key := range []string{"p", "a", "i", "n", "t", "Space", "i", "t", "Space", "r", "e", "d"} {
			tm.Types(key)
		}
		untilScreen(tm, e, `Go on with.*: paint it red`)
		tm.Types("Enter")
		e.until("the session", `(equal %q (cursord-workspace-current (cursord-workspace-find)))`, first.SessionID)
		tm.Types("C-c", "a", "m")
		untilScreen(tm, e, `c chat \(C-u: new\)`)
		tm.Types("C-u", "c")
		e.until("a new one", `(and (eq major-mode 'cursord-chat-mode) (null (cursord-workspace-current (cursord-workspace-find))))`)
		e.quiet()
	})
}
