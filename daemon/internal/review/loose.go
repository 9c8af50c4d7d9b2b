package review

import (
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/snapshot"
	"cursord/diffs"
)

// loose returns whose changes of a moment are that no call explains: of the turn, as what may be a person's, while processes of the
// agent may write without a call. Those are what a command left in the background in this turn, as it said, until the agent says
// that it has ended, or as its processes show; what outlived an earlier turn; and hooks that run programs. Without such
// evidence it is nil: people save files all the time.
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

// unattend has the tree know that the turn's processes may write without a call.
func (t *Turn) unattend() {
	if !t.unattended {
		t.unattended = true
		t.tree.unattended.Add(1)
	}
}

// endBackground notes that what calls have left in the background has ended. What is changed from then on is not theirs.
func (t *Turn) endBackground(calls []string) {
	for _, call := range calls {
		delete(t.background, call)
	}
	if len(t.background) > 0 {
		return
	}
	t.silentFrom, t.overdue = clock.Now(), true
	if !t.tree.isolated() {
		t.orphans.Look(t.r.setup.Survivors.Mark(t.turn)) // it may have left others
	}
}

// scanBackground finds what commands in the background have written that have all ended.
func (t *Turn) scanBackground() {
	loose := t.loose()
	t.scan(snapshot.ScanTime, true, func(c snapshot.ChangeTime) snapshot.Attribution {
		if c.When > t.silentFrom {
			return snapshot.Attribution{Leave: true} // the last scan looks at it
		}
		return snapshot.Attribution{Source: t.withPostponed(c.Path, t.tree.writerAt(c, loose(c.When)))}
	})
}
