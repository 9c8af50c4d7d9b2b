package worktree

import (
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// This file finds the authors of changes.

// Absolute returns where a path's file lies.
func (t *Tree) Absolute(name string) string { return paths.Absolute(t.Under(name), name) }

// Writer returns the agent that may have made the present content of a path; nil if there is none.
func (t *Tree) Writer(name string) *diffs.Source {
	return t.WriterAt(snapshot.ChangeTime{Path: name, When: t.ChangedAt(name, filestat.Of(t.Absolute(name)))}, nil)
}

// WriterAt returns the agent that may have made a change, or nil. loose is the source of processes that may write without a call, or nil.
func (t *Tree) WriterAt(seen snapshot.ChangeTime, loose *diffs.Source) *diffs.Source {
	if !t.Isolated() && editorfile.Own(seen.Path) {
		return nil
	}
	c := attribution.Change{
		When: seen.When, Since: seen.Since, Undated: !filestat.ChangeTimes, Alone: t.Others(), Loose: loose,
	}
	for _, e := range seen.Earlier {
		c.Earlier = append(c.Earlier, attribution.Change{When: e.When, By: e.By})
	}
	src := t.Ledger.Author(c)
	if src != nil && c.Alone == nil && src.Via != diffs.ViaUnknown && t.HeldElsewhere(seen.Path) {
		c.Locked = true
		src = t.Ledger.Author(c)
	}
	return src
}

// Explained reports whether agents would have announced by now a change made at the moment when.
func (t *Tree) Explained(when int64) bool {
	if when > clock.Now()+int64(agentcalls.SaidMax) {
		return true // its time is not by this machine's clock, so waiting does not help
	}
	for _, h := range t.Hearings {
		if when+int64(agentcalls.WordTime) > clock.At(h.UpTo()) {
			return false
		}
	}
	return true
}
