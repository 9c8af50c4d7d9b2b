package toolcalls

import (
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/savewatch"
	"cursord/daemon/paths"
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
		t.Start.WatchedBy(folders.Watched)
		defer folders.Close()
		<-ended
	}()
	t.Stop = func() {
		stop()
		close(ended)
		<-watched
	}
}

// WatchSavesBeside has the saves of new files in the folders of a path recorded from now on: a call may have made these folders.
func (t *Observer) WatchSavesBeside(name string) {
	folders := t.folders.Load()
	if folders == nil {
		return
	}
	for dir := paths.Parent(name); ; dir = paths.Parent(dir) {
		full := t.Start.Full(dir)
		if is, _ := folders.Watched(full); is || dir == "." {
			return
		}
		folders.Watch(full)
	}
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
