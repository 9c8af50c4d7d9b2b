package review

import (
	"sync"
	"testing"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
)

// TestADateIsAskedWhileTurnsComeAndGo: a turn asks when a file was changed while the reviewer notes other changes. Only the
// race detector sees the former fault.
func TestADateIsAskedWhileTurnsComeAndGo(t *testing.T) {
	in := (&Reviewer{setup: Setup{Root: t.TempDir()}}).newWorktree("")
	var asking sync.WaitGroup
	asking.Go(func() {
		for range 1000 {
			in.changedAt("f", filestat.Of(in.absolute("f")))
		}
	})
	for range 1000 {
		one, two := snapshot.Empty(in.name), snapshot.Empty(in.name)
		in.starts.Add(one)
		in.starts.Add(two)
		in.starts.Remove(one)
		in.starts.Remove(two)
	}
	asking.Wait()
}
