package review

import (
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/watch"
)

// A guard is a workspace that runs every function at once.
type guard struct{ Loop }

func (guard) Guard(f func()) bool {
	f()
	return false
}

// TestASaveComesBeforeALookThatFollows gives the reviewer a reported save and then the scan of a turn's end. Before, it took
// them in either order, and a command's text over the save could become the person's.
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
