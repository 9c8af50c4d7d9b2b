package toolcalls

import (
	"path/filepath"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/savewatch"
)

// Source records the times of all saves in the work tree while the turn runs, until t.Stop. Without it, a person's
// save between two commands, or before the first, could be overwritten by the next command before anybody has looked.
func (t *Observer) WatchSaves() {
	if !t.Waits || t.Tree.Isolated() || !filestat.ChangeTimes {
		return
	}
	ended, watched, stop := make(chan struct{}), make(chan struct{}), t.Stop
	go func() {
		defer close(watched)
		select {
		case <-t.Start.Taken():
		case <-ended:
			return
		}
		if t.Start.Useless() != "" {
			return
		}
		folders := savewatch.WatchFolders(t.Start.Folders(), t.saved)
		t.folders.Store(folders)
		defer folders.Close()
		<-ended
	}()
	t.Stop = func() {
		stop()
		close(ended)
		<-watched
	}
}

// WatchSavesBeside has the saves of new files in the folder of a path recorded from now on: a call may have made that folder.
func (t *Observer) WatchSavesBeside(name string) {
	t.folders.Load().Watch(filepath.Dir(t.Start.Full(name)))
}

// saved notes the moment of saves of files. Files that open calls name have a watch of their own.
func (t *Observer) saved(paths []string) {
	now := clock.Now()
	for _, full := range paths {
		name := t.Start.Name(full)
		if !t.Tree.Ledger.Pending(name) && !t.Tree.Ledger.Writing(name) {
			t.Start.Saw(name, filestat.Of(full), now)
		}
	}
}
