package review

import (
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/savewatch"
)

// watchBetween records the times of all saves in the work tree while the turn runs, until t.stop. Without it, a person's
// save between two commands, or before the first, could be overwritten by the next command before anybody has looked.
func (t *Turn) watchBetween() {
	if !t.waits || t.tree.Isolated() || !filestat.ChangeTimes {
		return
	}
	ended, watched, stop := make(chan struct{}), make(chan struct{}), t.stop
	go func() {
		defer close(watched)
		select {
		case <-t.start.Ready():
		case <-ended:
			return
		}
		if t.start.Useless() != "" {
			return
		}
		folders := savewatch.WatchFolders(t.start.Folders(), t.saved)
		t.folders.Store(folders)
		defer folders.Close()
		<-ended
	}()
	t.stop = func() {
		stop()
		close(ended)
		<-watched
	}
}

// saved notes the moment of saves of files. Files that open calls name have a watch of their own.
func (t *Turn) saved(paths []string) {
	now := clock.Now()
	for _, full := range paths {
		name := t.start.Name(full)
		if !t.tree.Ledger.Pending(name) && !t.tree.Ledger.Writing(name) {
			t.start.Saw(name, filestat.Of(full), now)
		}
	}
}
