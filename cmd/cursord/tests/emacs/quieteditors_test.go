//go:build unix

package emacs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsTellsWhatATurnWaitsFor lets an agent wait for background commands: the mode line and the chat say so.
func TestEmacsTellsWhatATurnWaitsFor(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Waiting()
		w.Start()
		c := w.Opens()
		e := startEmacs(w, t, bin, emacsKeeps)
		e.eval(`(progn (cursord-workspace-open) nil)`)
		e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
		turn := c.Asks(nil)
		e.until("the wait", `(equal (cursord-lighter) " cu[waiting for 1 background command]")`)
		e.until("the silence", `(let ((cursord-quiet-after 0)) (string-prefix-p " cu[waiting for 1 background command, no output for 0m " (cursord-lighter)))`)
		require.Regexp(t, `  waiting for 1 background command$`, e.eval(`(substring-no-properties (cursord--heading (car (cursord-busy-turns (cursord-workspace-find)))))`))
		c.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
		e.until("the end", `(equal (cursord-lighter) " cu")`)
	})
}
