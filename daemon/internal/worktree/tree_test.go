package worktree

import (
	"sync"
	"testing"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
)

// TestADateIsAskedWhileTurnsComeAndGo: a turn asks when a file was changed while the reviewer notes other changes. Only the
// race detector sees the former fault.
func TestADateIsAskedWhileTurnsComeAndGo(t *testing.T) {
	in := new(Tree)
	in.Init("", t.TempDir(), nil)
	var asking sync.WaitGroup
	asking.Go(func() {
		for range 1000 {
			in.ChangedAt("f", filestat.Of(in.Absolute("f")))
		}
	})
	for range 1000 {
		one, two := snapshot.Empty(in.Name), snapshot.Empty(in.Name)
		in.Starts.Add(one)
		in.Starts.Add(two)
		in.Starts.Remove(one)
		in.Starts.Remove(two)
	}
	asking.Wait()
}
