package review

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"cursord/agent"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/diffs"
)

// This file is the part of a Turn that finds changes by calls that may write any file: commands, MCP servers, sub-agents and
// unknown tools.

// A run is a call that may write any file.
type run struct {
	call  *attribution.Call
	to    int64 // the latest moment at which it may have ended, by package clock; 0 while it is open
	start int   // its index among the ToolStarts of the batch, while it is in t.begun
	end   int   // its index among the ToolEnds of the batch; -1 while it is open, and once its item is known
}

// Items are the items of a batch's calls, one for each ToolStart and each ToolEnd.
type Items struct{ Started, Ended []string }

func (t *Turn) beginRun(ev *agent.ToolStart, start int) {
	earliest, from := agentcalls.BeganAt(ev.Said, t.arrived, t.asked)
	r := t.addRun(&ev.Call, earliest, from)
	r.start = start
	t.begun, t.runs[ev.Call.ID] = append(t.begun, r), append(t.runs[ev.Call.ID], r)
}

func (t *Turn) addRun(call *agent.Call, earliest, from int64) *run {
	t.head.Ran(call.Command)
	r := &run{end: -1, call: t.tree.Ledger.OpenAny(t.source(agentcalls.Via(call.Name)), earliest, from)}
	t.past = append(t.past, r)
	return r
}

// source returns the turn as the source of changes made via.
func (t *Turn) source(via diffs.Via) diffs.Source {
	return diffs.Source{SessionID: t.session, TurnID: t.turn, Via: via}
}

func (t *Turn) finishRun(ev *agent.ToolEnd, end int) {
	r := agentcalls.Last(t.runs, ev.Call.ID)
	any, refused := agentcalls.WriteAnything(&ev.Call), !ev.Asked.IsZero()
	if r != nil && (refused || ev.State == agent.CallRejected) {
		t.dropRun(r)
		r = nil
	}
	switch {
	case r != nil:
	case any && refused: // it may have run all the same
		r = t.addRun(&ev.Call, clock.At(ev.Asked), clock.At(ev.Refused))
	case !any || ev.State == agent.CallRejected:
		return
	default:
		from := t.start.Began() // no event says when the call began
		if n := len(t.past); n > 0 && t.past[n-1].to != 0 {
			from = t.past[n-1].to
		}
		r = t.addRun(&ev.Call, from, from)
	}
	r.end = end
	r.to = agentcalls.EndedAt(ev, &t.heard, t.arrived)
	t.later.Ended(ev, r.to)
	t.tree.Ledger.End(r.call, r.to)
	if ev.Call.Background {
		if t.background == nil {
			t.background = map[string]bool{}
		}
		t.background[ev.Call.ID] = true
		t.unattend()
	}
	if !t.tree.Isolated() {
		t.orphans.Look(t.r.setup.Survivors.Mark(t.owner))
	}
	t.ended = append(t.ended, r)
}

// dropRun drops a call that did not run as its start said.
func (t *Turn) dropRun(r *run) {
	t.tree.Ledger.Forget(r.call)
	t.past = slices.DeleteFunc(t.past, func(one *run) bool { return one == r })
}

// nameRuns gives the calls of the last batch their items.
func (t *Turn) nameRuns(items Items) {
	for _, w := range t.named {
		if w.start < len(items.Started) {
			w.item = items.Started[w.start]
		}
	}
	t.named = nil
	for _, r := range t.begun {
		if r.start < len(items.Started) {
			t.tree.Ledger.Name(r.call, items.Started[r.start])
		}
	}
	for _, r := range t.ended {
		if r.end >= 0 && r.end < len(items.Ended) {
			t.tree.Ledger.Name(r.call, items.Ended[r.end])
		}
		r.end = -1
	}
}

// CheckDisk scans for people's changes before a call that may write any file, and for the calls' changes when the last of
// them has ended.
func (t *Turn) CheckDisk() {
	begun := len(t.begun) > 0
	t.begun = nil
	switch {
	case len(t.runs) == 0 && len(t.ended) > 0:
		t.scanEnded()
		t.ended, t.overdue = nil, false
	case len(t.runs) == 0 && t.overdue:
		t.overdue = false
		t.scanBackground()
	case begun && filestat.ChangeTimes && len(t.runs) == 1:
		loose := t.loose()
		t.scan(snapshot.ScanTime, false, func(c snapshot.ChangeTime) snapshot.Attribution {
			src := t.tree.WriterAt(c, nil)
			maybe := src != nil && src.Via == diffs.ViaUnknown
			moved := maybe && !filestat.Of(t.tree.Absolute(c.Path)).Exists() // perhaps, by the command: this scan lists no new names
			if src != nil && !maybe || c.When > t.asked || moved {
				return snapshot.Attribution{Leave: true}
			}
			return snapshot.Attribution{Source: cmp.Or(t.withPostponed(c.Path, src), loose(c.When))}
		})
	}
}

// scanEnded finds the changes of ended calls. It leaves newer changes to the next scan, because they may belong to a call
// that the daemon has not heard of yet.
func (t *Turn) scanEnded() {
	ended := int64(0)
	for _, r := range t.ended {
		ended = max(ended, r.to)
	}
	last := t.tree.Ledger.Source(t.past[len(t.past)-1].call)
	loose := t.loose()
	t.scan(snapshot.ScanTime, true, func(c snapshot.ChangeTime) snapshot.Attribution {
		src := t.tree.WriterAt(c, loose(c.When))
		switch {
		case !filestat.ChangeTimes || c.When < t.start.Began():
			return snapshot.Attribution{Source: &last}
		case c.When > ended:
			born, known := filestat.Born(t.tree.Absolute(c.Path))
			madeSince := c.Came && known && born > ended
			if _, left := t.postponed[c.Path]; !left && !madeSince {
				t.postponed[c.Path] = postponed{last, c.When}
			}
			return snapshot.Attribution{Leave: true}
		}
		return snapshot.Attribution{Source: t.withPostponed(c.Path, src)}
	})
}

// A postponed is a change that a scan has left to the next scan, because it was made after the calls had ended.
type postponed struct {
	last diffs.Source // the last call; it may have changed the path earlier
	when int64
}

// withPostponed returns the author of a path's changes; src is the author of the latest one. If a scan has postponed a
// change of the path, its calls may be authors too. Unless another call explains the postponed change, it may be a person's.
func (t *Turn) withPostponed(path string, src *diffs.Source) *diffs.Source {
	p, left := t.postponed[path]
	if !left {
		return src
	}
	delete(t.postponed, path)
	switch {
	case src == nil:
		src = &p.last
	case t.tree.WriterAt(snapshot.ChangeTime{Path: path, When: p.when}, nil) != nil:
		return src
	}
	maybe := *src
	maybe.Via = diffs.ViaUnknown
	return &maybe
}

// lastScan scans at the end of the turn if a call may have written files without naming them.
func (t *Turn) lastScan() {
	t.ended = nil
	loose := t.loose()
	if len(t.past) > 0 || loose(0) != nil {
		t.start.LookAhead(loose(0) == nil)
		t.scan(snapshot.LastScanTime, true, func(c snapshot.ChangeTime) snapshot.Attribution {
			src := t.tree.WriterAt(c, loose(c.When))
			return snapshot.Attribution{Source: t.withPostponed(c.Path, src)}
		})
	}
	for _, r := range t.past {
		t.tree.Ledger.Forget(r.call)
	}
}

// beside returns the author of changes of a path by calls after which no scan has run yet; nil if there are no such calls.
func (t *Turn) beside(path string) *diffs.Source {
	earlier := t.withPostponed(path, nil)
	if n := len(t.past); n > 0 && len(t.runs)+len(t.ended) > 0 {
		src := t.tree.Ledger.Source(t.past[n-1].call)
		return &src
	}
	return earlier
}

// scan finds changes and hands them to the reviewer.
func (t *Turn) scan(limit time.Duration, list bool, judge func(snapshot.ChangeTime) snapshot.Attribution) {
	<-t.start.Ready()
	t.r.call(func() { // also waits until earlier calls have been reviewed
		t.r.doubtGuesses(t.tree)
		t.r.refreshPending()
	})
	if list {
		t.warn()
	}
	if t.start.Useless() != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	all, left := t.start.Scan(ctx, list, judge)
	for i := range all {
		if c := &all[i]; c.Source == nil && t.r.setup.Documents.Typed(t.tree.Absolute(c.Path), c.After) == nil {
			t.later.Saw(c.Path, t.tree.ChangedAt(c.Path, c.Is))
		}
	}
	for len(all) > 0 {
		n := min(len(all), 100)
		batch := all[:n]
		all = all[n:]
		t.r.call(func() { t.r.agentFound(t.tree, t.start, batch) })
	}
	if list {
		t.bring(limit == snapshot.LastScanTime)
	}
	if text := left.After(limit); list && text != "" {
		t.say(text)
	}
}

// warn says in the transcript, once per turn, which changes cannot be found.
func (t *Turn) warn() {
	if text := t.start.Warning(); text != "" && !t.warned {
		t.say(text)
	}
	t.warned = true
}

// reportOutside puts control files outside of the workspace on the list if they have changed during the turn's commands.
func (t *Turn) reportOutside() {
	if len(t.past) == 0 || t.tree.Isolated() {
		return
	}
	changed := snapshot.ChangedOutside(t.tree.Name, t.outside)
	if len(changed) == 0 {
		return
	}
	src := diffs.Source{SessionID: t.session, TurnID: t.turn, Via: "unknown"}
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

// Heard returns the record of how far the agent's output has been processed; the turn's goroutine updates it.
func (t *Turn) Heard() *agent.Heard { return &t.heard }
