//go:build linux || darwin

package agent

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHeard: an agent writes a line, and another one while the first is still being taken in.
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
			_, late := heard.Came()
			require.False(t, late, "nobody was busy")
			heard.Taken()
			require.True(t, upTo(time.Now()), "nothing is left")
			f.touch("go")
			f.await("said")
			require.False(t, upTo(time.Now()), "there is more to be read")
		case 2:
			require.False(t, upTo(time.Now()))
			_, late := heard.Came()
			require.True(t, late, "it came while the first was taken in")
			heard.Taken()
			require.True(t, upTo(time.Now()))
			f.touch("end")
		}
	})
	require.True(t, upTo(time.Now()), "nobody speaks any more")
}

// TestNothingIsReadUnnoted watches a pipe during reads: bytes that have left it are noted at every moment.
func TestNothingIsReadUnnoted(t *testing.T) {
	out, in, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	defer out.Close()
	h := &Heard{}
	h.begin(out)
	read, taken := make(chan error), make(chan bool)
	go func() {
		b := make([]byte, 10)
		for range taken {
			_, err := h.readFrom(out, b)
			read <- err
		}
	}()
	defer close(taken)
	for range 3000 {
		h.whole = true
		h.Taken()
		taken <- true
		_, err := in.Write([]byte("x"))
		require.NoError(t, err)
		for unread(out) > 0 {
		}
		require.False(t, h.all.Load(), "it was read, and that is not noted")
		require.NoError(t, <-read)
	}
	taken <- true
	require.NoError(t, out.SetReadDeadline(time.Now()))
	require.ErrorIs(t, <-read, os.ErrDeadlineExceeded)
	taken <- true
	require.NoError(t, out.SetReadDeadline(time.Time{}))
	require.NoError(t, in.Close())
	err = <-read
	if errors.Is(err, os.ErrDeadlineExceeded) { // the old deadline may still end one read
		taken <- true
		err = <-read
	}
	require.Equal(t, io.EOF, err)
}
