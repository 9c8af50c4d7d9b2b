package review

import (
	"context"
	"maps"
	"slices"
	"time"

	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/toolcalls"
	"cursord/diffs"
)

// This file is the part of a Turn that finds changes by calls that may write any file: commands, MCP servers, sub-agents and
// unknown tools.

// CheckDisk carries out the scan that the last batch of events makes necessary.
func (t *Turn) CheckDisk() {
	if due := t.DueScan(); due != nil {
		t.scan(due)
	}
}

// scan finds changes and hands them to the reviewer.
func (t *Turn) scan(due *toolcalls.Scan) {
	<-t.Start.Ready()
	t.r.call(func() { // also waits until earlier calls have been reviewed
		t.r.doubtGuesses(t.tree)
		t.r.refreshPending()
	})
	if !t.taken(due) {
		return
	}
	if due.List {
		t.warn()
	}
	if t.Start.Useless() != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), due.Limit)
	defer cancel()
	all, left := t.Start.Scan(ctx, due.List, due.Judge)
	for i := range all {
		if !all[i].Was.Exists() {
			t.WatchSavesBeside(all[i].Path)
		}
		if c := &all[i]; c.Source == nil && t.r.setup.Documents.Typed(t.tree.Absolute(c.Path), c.After) == nil {
			t.Later.Saw(c.Path, t.tree.ChangedAt(c.Path, c.Is))
		}
	}
	for len(all) > 0 {
		n := min(len(all), 100)
		batch := all[:n]
		all = all[n:]
		t.r.call(func() { t.r.takeInScan(t.tree, t.Start, batch) })
	}
	if due.List {
		t.bring(due.Limit == snapshot.LastScanTime)
	}
	if text := left.After(due.Limit); due.List && text != "" {
		t.Say(text)
	}
}

// taken reports whether the snapshot is taken. A scan that lists waits for it, because calls have ended, and changes in large trees are found as
// soon as in others. The last scan of the turn waits until the snapshot is taken or cannot be. Other scans are left to a later one.
func (t *Turn) taken(due *toolcalls.Scan) bool {
	select {
	case <-t.Start.Taken():
		return true
	default:
		if !due.List {
			return false
		}
	}
	var late <-chan time.Time
	if due.Limit != snapshot.LastScanTime {
		late = time.After(due.Limit)
	}
	select {
	case <-t.Start.Taken():
		return true
	case <-late:
		return false
	}
}

// warn says in the transcript, once per turn, which changes cannot be found.
func (t *Turn) warn() {
	if text := t.Start.Warning(); text != "" && !t.warned {
		t.Say(text)
	}
	t.warned = true
}

// reportOutside puts control files outside of the workspace on the list if they have changed during the turn's commands.
func (t *Turn) reportOutside() {
	if !t.Ran() || t.tree.Isolated() {
		return
	}
	changed := snapshot.ChangedOutside(t.tree.Name, t.outside)
	if len(changed) == 0 {
		return
	}
	src := diffs.Source{SessionID: t.Session, TurnID: t.TurnID, Via: "unknown"}
	t.r.call(func() {
		for _, name := range slices.Sorted(maps.Keys(changed)) {
			before, after := t.outside[name], changed[name]
			if before.Unreadable != "" || after.Unreadable != "" {
				continue
			}
			f := t.tree.files[name]
			if f == nil || t.r.load(f) != nil {
				f = t.r.add(t.tree, name, t.r.setup.Large.New(before.Content))
			}
			f.Review.Observe(after.Content, &src)
			t.r.save(f)
		}
	})
}
