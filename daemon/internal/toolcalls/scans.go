package toolcalls

import (
	"cmp"
	"time"

	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/diffs"
)

// This file says which scans are due, and whose the changes are that they find.

// A Scan looks for changes that no call names.
type Scan struct {
	Limit time.Duration
	List  bool                                           // it lists files that the snapshot does not have, too
	Judge func(snapshot.ChangeTime) snapshot.Attribution // says whose a change is
}

// DueScan returns the scan that the last batch of events makes necessary; nil if there is none. One finds people's changes before a call that
// may write any file, and one the calls' changes when the last of them has ended.
func (t *Observer) DueScan() *Scan {
	begun := len(t.begun) > 0
	t.begun = nil
	switch {
	case len(t.runs) == 0 && len(t.ended) > 0:
		scan := t.scanEnded()
		t.ended, t.overdue = nil, false
		return scan
	case len(t.runs) == 0 && t.overdue:
		t.overdue = false
		return t.scanBackground()
	case begun && filestat.ChangeTimes && len(t.runs) == 1:
		loose := t.loose()
		return &Scan{snapshot.ScanTime, false, func(c snapshot.ChangeTime) snapshot.Attribution {
			src := t.Tree.WriterAt(c, nil)
			maybe := src != nil && src.Via == diffs.ViaUnknown
			moved := maybe && !filestat.Of(t.Tree.Absolute(c.Path)).Exists() // perhaps, by the command: this scan lists no new names
			if src != nil && !maybe || c.When > t.asked || moved {
				return snapshot.Attribution{Leave: true}
			}
			return snapshot.Attribution{Source: cmp.Or(t.judged(c, src), loose(c.When))}
		}}
	}
	return nil
}

// scanEnded finds the changes of ended calls. It leaves newer changes to the next scan, because they may belong to a call
// that the daemon has not heard of yet.
func (t *Observer) scanEnded() *Scan {
	ended := int64(0)
	for _, r := range t.ended {
		ended = max(ended, r.to)
	}
	last := t.Tree.Ledger.Source(t.past[len(t.past)-1].call)
	loose := t.loose()
	return &Scan{snapshot.ScanTime, true, func(c snapshot.ChangeTime) snapshot.Attribution {
		src := t.Tree.WriterAt(c, loose(c.When))
		switch {
		case !filestat.ChangeTimes || c.When < t.Start.Began():
			return snapshot.Attribution{Source: &last}
		case c.When > ended:
			born, known := filestat.Born(t.Tree.Absolute(c.Path))
			madeSince := c.Came && known && born > ended
			if _, left := t.postponed[c.Path]; !left && !madeSince {
				t.postponed[c.Path] = postponed{last, c.When}
			}
			return snapshot.Attribution{Leave: true}
		}
		return snapshot.Attribution{Source: t.judged(c, src)}
	}}
}

// judged returns the author of a change; src is the author of the latest one. If nobody knows what the path held, calls may have changed it
// earlier, as far as they had begun.
func (t *Observer) judged(c snapshot.ChangeTime, src *diffs.Source) *diffs.Source {
	if src == nil && c.Doubt && len(t.past) > 0 && c.When >= t.past[0].from-int64(attribution.Tick) {
		maybe := t.Tree.Ledger.Source(t.past[len(t.past)-1].call)
		maybe.Via = diffs.ViaUnknown
		src = &maybe
	}
	return t.withPostponed(c.Path, src)
}

// A postponed is a change that a scan has left to the next scan, because it was made after the calls had ended.
type postponed struct {
	last diffs.Source // the last call; it may have changed the path earlier
	when int64
}

// withPostponed returns the author of a path's changes; src is the author of the latest one. If a scan has postponed a
// change of the path, its calls may be authors too. Unless another call explains the postponed change, it may be a person's.
func (t *Observer) withPostponed(path string, src *diffs.Source) *diffs.Source {
	p, left := t.postponed[path]
	if !left {
		return src
	}
	delete(t.postponed, path)
	switch {
	case src == nil:
		src = &p.last
	case t.Tree.WriterAt(snapshot.ChangeTime{Path: path, When: p.when}, nil) != nil:
		return src
	}
	maybe := *src
	if !t.Tree.Isolated() {
		maybe.Via = diffs.ViaUnknown
	}
	return &maybe
}

// LastScan returns the scan at the end of the turn; nil if no call can have written files without naming them.
func (t *Observer) LastScan() *Scan {
	t.ended = nil
	loose := t.loose()
	if len(t.past) == 0 && loose(0) == nil {
		return nil
	}
	t.Start.LookAhead(loose(0) == nil)
	return &Scan{snapshot.LastScanTime, true, func(c snapshot.ChangeTime) snapshot.Attribution {
		src := t.Tree.WriterAt(c, loose(c.When))
		return snapshot.Attribution{Source: t.judged(c, src)}
	}}
}

// ForgetRuns ends the ledger's knowledge of the turn's calls.
func (t *Observer) ForgetRuns() {
	for _, r := range t.past {
		t.Tree.Ledger.Forget(r.call)
	}
}

// beside returns the author of changes of a path by calls after which no scan has run yet; nil if there are no such calls.
func (t *Observer) beside(path string) *diffs.Source {
	earlier := t.withPostponed(path, nil)
	if n := len(t.past); n > 0 && len(t.runs)+len(t.ended) > 0 {
		src := t.Tree.Ledger.Source(t.past[n-1].call)
		return &src
	}
	return earlier
}

// loose returns a function that gives the author, at a moment, of changes that no call explains. While processes of the
// agent may write without a call, it is the turn, via unknown: such a change may also be a person's. The evidence for such
// processes is a background command of the turn, until the agent or its processes show its end; a process that outlived an
// earlier turn; or hooks that run programs. Without evidence it is nil, because people save files all the time.
func (t *Observer) loose() func(when int64) *diffs.Source {
	src := t.Source(diffs.ViaUnknown)
	lives := len(t.background) > 0 || t.Hooks.Any || t.orphans.Found() || t.alive.Alive()
	if lives {
		t.Unattend()
	}
	return func(when int64) *diffs.Source {
		if lives || t.silentFrom != 0 && when <= t.silentFrom {
			return &src
		}
		return nil
	}
}

// Unattend notes in the tree that the turn's processes may write without a call.
func (t *Observer) Unattend() {
	if !t.unattended {
		t.unattended = true
		t.Tree.Unattended.Add(1)
	}
}

// EndUnattended takes back what Unattend has noted.
func (t *Observer) EndUnattended() {
	if t.unattended {
		t.Tree.Unattended.Add(-1)
	}
}

// endBackground notes that background commands of calls have ended. Later changes are not theirs.
func (t *Observer) endBackground(calls []string) {
	for _, call := range calls {
		delete(t.background, call)
	}
	if len(t.background) > 0 {
		return
	}
	t.silentFrom, t.overdue = clock.Now(), true
	if !t.Tree.Isolated() {
		t.orphans.Look(t.alive.Mark(t.owner)) // the commands may have left other processes
	}
}

// scanBackground finds the changes of background commands, once all of them have ended.
func (t *Observer) scanBackground() *Scan {
	loose := t.loose()
	return &Scan{snapshot.ScanTime, true, func(c snapshot.ChangeTime) snapshot.Attribution {
		if c.When > t.silentFrom {
			return snapshot.Attribution{Leave: true} // left to the last scan
		}
		return snapshot.Attribution{Source: t.judged(c, t.Tree.WriterAt(c, loose(c.When)))}
	}}
}
