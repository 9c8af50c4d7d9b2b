package review

import (
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/watch"
)

// A guard is a workspace that runs what it is given.
type guard struct{ Loop }

func (guard) Guard(f func()) bool {
	f()
	return false
}

// TestASaveComesBeforeALookThatFollows gives the reviewer a save that an editor reported, and then the scan of a turn's end. It took
// the one or the other first, so that what a command had written over the save had the person's lines in it.
func TestASaveComesBeforeALookThatFollows(t *testing.T) {
	for range 50 {
		r := &Reviewer{
			inbox: make(chan func(), 1), quit: make(chan struct{}), done: make(chan struct{}), setup: Setup{Loop: guard{}},
			watch: &watch.Files{Log: slog.New(slog.NewTextHandler(io.Discard, nil))},
		}
		r.later.Init()
		var order []string
		r.later.Put(func() { order = append(order, "save") })
		r.inbox <- func() { order = append(order, "scan") }
		go r.loop()
		require.NoError(t, r.call(func() {}))
		require.Equal(t, []string{"save", "scan"}, order)
		r.Close()
	}
}
