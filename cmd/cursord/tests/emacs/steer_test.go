//go:build unix

package emacs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsSteer adds to a running turn of an agent that takes texts while it works.
func TestEmacsSteer(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\n")
		w.Put("f", "one\n")
		w.Start("CURSORD_FAKE_BUILD=2026.10.01-e373342")
		w.Trusts()
		w.Plays(`{"fake":"say","text":"Go. "}`, `{"fake":"wait","path":"go"}`, `{"fake":"say","text":"End of {{prompt}}."}`)
		e, tm := terminalEmacs(w, t, bin, `(progn (keymap-global-set "C-c a" cursord-command-map) (cursord-mode))`)
		e.eval(`(progn (find-file %q) nil)`, w.Path("f"))
		tm.Types("M-x", "cursord-steer", "Enter")
		untilScreen(tm, e, `No turn of the chat runs: C-c a SPC begins one`)
		tm.Types("C-c", "a", "Space")
		untilScreen(tm, e, `Ask \(new session\):$`)
		tm.Types("begin", "Enter")
		untilScreen(tm, e, `Go\.`)
		tm.Types("C-c", "a", "i")
		untilScreen(tm, e, `To the running turn:$`)
		tm.Types("and faster", "Enter")
		untilScreen(tm, e, `the agent has this with its running turn`)
		untilScreen(tm, e, `Added to this turn: and faster`)
		w.Put("go", "")
		untilScreen(tm, e, `End of begin`)
		e.quiet()
	})
}

// TestEmacsSteerWaits: where the agent takes nothing while it works, the text is a prompt that waits.
func TestEmacsSteerWaits(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(world.Streams("I wait."), `{"fake":"wait","path":"{{cwd}}/../go"}`, world.Done)
		w.Start()
		e := emacsOpens(w, t, bin, "")
		e.eval(`(progn (require (quote cursord-ask)) (cursord-send (cursord-workspace-find) "begin" (cursord-origin-here)) nil)`)
		e.until("the turn", `(equal "working" (cursord-work (cursord-workspace-find)))`)
		e.eval(`(progn (cursord-steer "and quickly") nil)`)
		e.poll("that it waits", func() bool {
			return strings.Contains(e.messages(), "the agent takes nothing while it works: this is the next prompt")
		})
		e.eval(`(progn (cursord-steer "and well") nil)`)
		e.poll("that it waits, too", func() bool { return strings.Contains(e.messages(), "this waits behind 1 prompt") })
		w.Put("../go", "")
		e.until("the end", `(null (cursord-busy-turns (cursord-workspace-find)))`)
		e.quiet()
	})
}

// TestEmacsSteersATurnFromElsewhere: the text goes to the turn that runs in the folder where the chat has none; of several none is chosen.
func TestEmacsSteersATurnFromElsewhere(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\nparallel_turns = 2\n")
		w.Put("f", "one\n")
		w.Start("CURSORD_FAKE_BUILD=2026.10.01-e373342")
		w.Trusts()
		c := w.Opens()
		e, tm := terminalEmacs(w, t, bin, `(progn (keymap-global-set "C-c a" cursord-command-map) (cursord-mode))`)
		e.eval(`(progn (find-file %q) (cursord-workspace-open) nil)`, w.Path("f"))
		e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
		w.Plays(`{"fake":"say","text":"Go. "}`, `{"fake":"wait","path":"go"}`, `{"fake":"say","text":"End."}`)
		first := c.Asks(world.Obj{"prompt": "paint\nthe house"})
		c.Until("its first word: before that it takes nothing", func(n world.Notification) bool { return n.Item != nil && n.Item.TurnID == first.ID })
		e.until("the turn", `(equal "working" (cursord-work (cursord-workspace-find)))`)
		tm.Types("C-c", "a", "i")
		untilScreen(tm, e, `To the running turn "paint the house":$`)
		tm.Types("and faster", "Enter")
		untilScreen(tm, e, `the agent has this with its running turn`)
		second := c.Asks(world.Obj{"prompt": "dig a hole"})
		e.until("both", `(= 2 (length (cursord-busy-turns (cursord-workspace-find))))`)
		e.until("both run", `(seq-every-p (lambda (turn) (equal "running" (plist-get turn :status))) (cursord-busy-turns (cursord-workspace-find)))`)
		tm.Types("C-c", "a", "i")
		untilScreen(tm, e, `No turn of the chat runs, but "paint the house" and "dig a hole" do`)
		require.Contains(t, e.messages(), `"dig a hole" do: go to the session of one with C-c a s`)
		w.Put("go", "")
		c.Ends(first.ID)
		c.Ends(second.ID)
		e.quiet()
	})
}
