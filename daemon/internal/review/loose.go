package review

import (
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/snapshot"
	"cursord/diffs"
)

// loose returns a function that gives the author, at a moment, of changes that no call explains. While processes of the
// agent may write without a call, it is the turn, via unknown: such a change may also be a person's. The evidence for such
// processes is a background command of the turn, until the agent or its processes show its end; a process that outlived an
// earlier turn; or hooks that run programs. Without evidence it is nil, because people save files all the time.
func (t *Turn) loose() func(when int64) *diffs.Source {
	src := t.source(diffs.ViaUnknown)
	lives := len(t.background) > 0 || t.hooks.Any || t.orphans.Found() || t.r.setup.Survivors.Alive()
	if lives {
		t.unattend()
	}
	return func(when int64) *diffs.Source {
		if lives || t.silentFrom != 0 && when <= t.silentFrom {
			return &src
		}
		return nil
	}
}

// unattend notes in the tree that the turn's processes may write without a call.
func (t *Turn) unattend() {
	if !t.unattended {
		t.unattended = true
		t.tree.Unattended.Add(1)
	}
}

// endBackground notes that background commands of calls have ended. Later changes are not theirs.
func (t *Turn) endBackground(calls []string) {
	for _, call := range calls {
		delete(t.background, call)
	}
	if len(t.background) > 0 {
		return
	}
	t.silentFrom, t.overdue = clock.Now(), true
	if !t.tree.Isolated() {
		t.orphans.Look(t.r.setup.Survivors.Mark(t.owner)) // the commands may have left other processes
	}
}

// scanBackground finds the changes of background commands, once all of them have ended.
func (t *Turn) scanBackground() {
	loose := t.loose()
	t.scan(snapshot.ScanTime, true, func(c snapshot.ChangeTime) snapshot.Attribution {
		if c.When > t.silentFrom {
			return snapshot.Attribution{Leave: true} // left to the last scan
		}
		return snapshot.Attribution{Source: t.withPostponed(c.Path, t.tree.WriterAt(c, loose(c.When)))}
	})
}
