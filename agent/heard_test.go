//go:build linux || darwin

package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHeard has an agent say something, and then something more while the first is still being taken in.
func TestHeard(t *testing.T) {
	f := newFake(t, sayInit+"until [ -e go ]; do sleep 0.01; done\n"+sayDelta+"touch said\n"+
		"until [ -e end ]; do sleep 0.01; done\n"+sayResult)
	heard := &Heard{}
	f.req.Heard = heard
	upTo := func(moment time.Time) bool { return !heard.UpTo().Before(moment) }
	require.True(t, upTo(time.Now()), "nobody speaks")
	batches := 0
	f.run(t.Context(), func(Event) {
		switch batches++; batches {
		case 1:
			require.False(t, upTo(time.Now()), "a word has come and was not taken in")
			heard.Taken()
			require.True(t, upTo(time.Now()), "nothing is left")
			f.touch("go")
			f.await("said")
			require.False(t, upTo(time.Now()), "there is more to be read")
		case 2:
			require.False(t, upTo(time.Now()))
			heard.Taken()
			require.True(t, upTo(time.Now()))
			f.touch("end")
		}
	})
	require.True(t, upTo(time.Now()), "nobody speaks any more")
}
