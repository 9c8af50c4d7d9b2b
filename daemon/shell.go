package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"cursord/agent"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// This file is the part of a turnWatch that looks for what no call names: the work of shell commands, MCP servers,
// sub-agents and tools that nobody knows.

// Whose a change is that no call names, its time on disk tells. What was written while a run was open is the run's, and
// what came shortly before or after that may be: the word of a call comes late on a busy machine.
const (
	tick    = 10 * time.Millisecond  // what the clock of a file system may lag behind
	slack   = 50 * time.Millisecond  // what is shortly
	unsaid  = 250 * time.Millisecond // what is shortly before a word that has no time of its own
	saidMax = 2 * time.Second        // words that are older are not by this machine's clock
)

// A run is the time in which a call that may write anything was open.
type run struct {
	from, to int64 // moments of package clock; to is 0 while it is open
	margin   int64 // how long before from it may have been open
	late     int64 // how long after to
	start    int   // which ToolStart of the batch, while it is in t.begun
	end      int   // which ToolEnd of the batch; -1 once its item is known, and while it is open
	source   diffs.Source
	window   *window
}

// covers reports whether a change at a time may be the run's, and whether that is certain.
func (r *run) covers(when int64) (may, certain bool) {
	open := r.to == 0
	return when >= r.from-r.margin && (open || when <= r.to+r.late), when >= r.from && (open || when <= r.to)
}

// callItems are the items that the calls of a batch have become, one for each ToolStart and each ToolEnd.
type callItems struct{ started, ended []string }

// writesAnything reports whether calls of this tool may write files that they do not name.
func writesAnything(tool string) bool {
	return tool == "shell" || tool == "mcp" || tool == "task" || tool == "other"
}

// parts cuts a batch behind each call after which the disk may have to be looked at.
func parts(events []agent.Event) iter.Seq[[]agent.Event] {
	return func(yield func([]agent.Event) bool) {
		from := 0
		for i, ev := range events {
			var cut bool
			switch ev := ev.(type) {
			case agent.ToolStart:
				cut = writesAnything(ev.Call.Name)
			case agent.ToolEnd:
				cut = writesAnything(ev.Call.Name)
			}
			if cut || i == len(events)-1 {
				if !yield(events[from : i+1]) {
					return
				}
				from = i + 1
			}
		}
	}
}

// came notes when the events were said at the earliest: now, or, if they may have waited for the previous ones to be
// dealt with, when those came.
func (t *turnWatch) came() {
	now := clock.Now()
	t.arrived = now
	if now-t.free < int64(slack/10) && t.asked != 0 {
		t.arrived = t.asked
	}
	t.asked = now
}

// saidAt returns the moment at which something was said that has come by now: by the agent's own clock, if that is this
// machine's.
func saidAt(by time.Time, now int64) (_ int64, known bool) {
	if by.IsZero() {
		return now, false
	}
	at := clock.Moment(by.UnixNano())
	if at > now+int64(tick) || now-at > int64(saidMax) {
		return now, false
	}
	return at, true
}

func (t *turnWatch) beginRun(ev *agent.ToolStart, start int) {
	from, known := saidAt(ev.Said, t.asked)
	margin := slack
	if !known {
		margin = unsaid + time.Duration(max(from-t.arrived, 0))
	}
	r := t.addRun(&ev.Call, from, margin)
	r.start = start
	t.begun = append(t.begun, r)
}

func (t *turnWatch) addRun(call *agent.Call, from int64, margin time.Duration) *run {
	via := diffs.ViaTool
	if call.Name == "shell" {
		via = diffs.ViaShell
	}
	r := &run{
		from: from - int64(tick), margin: int64(margin), end: -1,
		source: diffs.Source{SessionID: t.session, TurnID: t.turn, Via: via},
	}
	r.window = t.tree.windows.openAll(r.source, r.from, r.margin)
	t.runs[call.ID] = append(t.runs[call.ID], r)
	t.past = append(t.past, r)
	return r
}

func (t *turnWatch) finishRun(ev *agent.ToolEnd, end int) {
	open := t.runs[ev.Call.ID]
	if len(open) == 0 {
		if !writesAnything(ev.Call.Name) || ev.State == agent.CallRejected {
			return
		}
		from := t.start.began
		if n := len(t.past); n > 0 && t.past[n-1].to != 0 {
			from = t.past[n-1].to
		}
		t.addRun(&ev.Call, from, slack)
		open = t.runs[ev.Call.ID]
	}
	r := open[len(open)-1]
	if t.runs[ev.Call.ID] = open[:len(open)-1]; len(open) == 1 {
		delete(t.runs, ev.Call.ID)
	}
	if ev.State == agent.CallRejected {
		t.forget(r)
		return
	}
	r.end = end
	if !inBackground(&ev.Call) {
		now := clock.Now()
		to, _ := saidAt(ev.Said, now)
		r.to, r.late = to+int64(tick), now-to+int64(slack)
	}
	t.ended = append(t.ended, r)
}

// forget drops a run that was none.
func (t *turnWatch) forget(r *run) {
	t.tree.windows.close(r.window)
	for i := range t.past {
		if t.past[i] == r {
			t.past = append(t.past[:i:i], t.past[i+1:]...)
			return
		}
	}
}

// inBackground reports whether a shell command goes on after its call has ended.
func inBackground(call *agent.Call) bool {
	var shell struct {
		IsBackground bool `json:"isBackground"`
	}
	for _, raw := range []json.RawMessage{call.Args, call.Result} {
		if json.Unmarshal(raw, &shell) == nil && shell.IsBackground {
			return true
		}
	}
	return false
}

// nameRuns gives the runs of the last batch their items.
func (t *turnWatch) nameRuns(items callItems) {
	name := func(r *run, item string) {
		r.source.ItemID = item
		t.tree.windows.name(r.window, item)
	}
	for _, r := range t.begun {
		if r.start < len(items.started) {
			name(r, items.started[r.start])
		}
	}
	for _, r := range t.ended {
		if r.end >= 0 && r.end < len(items.ended) {
			name(r, items.ended[r.end])
		}
		r.end = -1
	}
}

// settle looks at the disk if the events before give cause to: for what people have changed, before a call may write
// anything, and for what calls have written, once the last of those at the same time has ended.
func (t *turnWatch) settle() {
	defer func() { t.free = clock.Now() }()
	begun := len(t.begun) > 0
	t.begun = nil
	if !t.scans {
		t.closeRuns()
		return
	}
	switch {
	case len(t.runs) == 0 && len(t.ended) > 0:
		ended := int64(0)
		for _, r := range t.ended {
			ended = max(ended, r.to)
		}
		if ended == 0 { // all go on in the background
			ended = t.asked
		}
		postponed := t.postponed
		t.postponed = map[string]diffs.Source{}
		t.scan(scanTime, true, func(c trace) verdict {
			last := t.past[len(t.past)-1].source
			src := t.during(c.when)
			earlier, left := postponed[c.path]
			switch {
			case !filestat.ChangeTimes || c.when < t.start.began:
				return verdict{source: &last}
			case c.when > ended: // perhaps by what comes next
				t.left = true
				switch {
				case left:
					t.postponed[c.path] = earlier
				case src != nil:
					t.postponed[c.path] = *src
				case c.inexact:
					t.postponed[c.path] = last
				}
				return verdict{leave: true}
			case src == nil && left:
				return verdict{source: &earlier}
			}
			return verdict{source: src}
		})
		t.closeRuns()
	case begun && filestat.ChangeTimes && len(t.runs) == 1:
		last := t.past[len(t.past)-1]
		t.scan(scanTime, false, func(c trace) verdict {
			return verdict{leave: c.when >= last.from-last.margin || t.during(c.when) != nil}
		})
	}
}

// lastScan looks at the disk at the end of the turn, if anything ran that may have written.
func (t *turnWatch) lastScan() {
	for _, open := range t.runs {
		t.ended = append(t.ended, open...)
	}
	if t.scans && len(t.past) > 0 {
		first := t.past[0].from - t.past[0].margin
		unknown := diffs.Source{SessionID: t.session, TurnID: t.turn, Via: "unknown"}
		t.scan(lastTime, true, func(c trace) verdict {
			if src := t.during(c.when); src != nil {
				return verdict{source: src}
			}
			if filestat.ChangeTimes && c.when < first && c.when >= t.start.began {
				return verdict{}
			}
			if earlier, left := t.postponed[c.path]; left {
				return verdict{source: &earlier}
			}
			return verdict{source: &unknown}
		})
	}
	t.closeRuns()
	for _, r := range t.past {
		t.tree.windows.close(r.window)
	}
}

// beside returns the source of what calls may have changed and no scan has seen yet; nil if none may have.
func (t *turnWatch) beside() *diffs.Source {
	if n := len(t.past); n > 0 && (t.left || t.past[n-1].to == 0 || len(t.ended) > 0) {
		src := t.past[n-1].source
		return &src
	}
	return nil
}

// during returns whose a change at a time is: that of the latest run that was certainly open then, or else of the
// latest that may have been; nil if none was.
func (t *turnWatch) during(when int64) *diffs.Source {
	var maybe *diffs.Source
	for i := len(t.past) - 1; i >= 0; i-- {
		src := t.past[i].source
		switch may, certain := t.past[i].covers(when); {
		case certain:
			return &src
		case may && maybe == nil:
			src.Via = "unknown"
			maybe = &src
		}
	}
	return maybe
}

// closeRuns closes the windows of the calls that have ended, less those that go on in the background.
func (t *turnWatch) closeRuns() {
	for _, r := range t.ended {
		if r.to != 0 {
			t.tree.windows.close(r.window)
		}
	}
	t.ended = nil
}

// scan finds changes and hands them to the reviewer.
func (t *turnWatch) scan(limit time.Duration, list bool, judge func(trace) verdict) {
	<-t.start.ready
	t.r.call(t.r.refreshPending) // also waits until the calls before have been reviewed
	if list {
		t.warn()
	}
	if t.start.useless() != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if t.tree.isolated() {
		judge = t.judgeCopy(judge)
	}
	all, left := t.start.scan(ctx, list, judge)
	all = t.start.paired(all)
	for len(all) > 0 {
		n := min(len(all), 100)
		batch := all[:n]
		all = all[n:]
		t.r.call(func() { t.r.agentFound(t.tree, t.start, batch) })
	}
	if text := left.String(); list && text != "" {
		t.say(text)
	}
}

// judgeCopy is judge for a copy, in which nobody but the agent works.
func (t *turnWatch) judgeCopy(judge func(trace) verdict) func(trace) verdict {
	return func(c trace) verdict {
		v := judge(c)
		if v.source == nil {
			v.source = &diffs.Source{SessionID: t.session, TurnID: t.turn, Via: "unknown"}
		}
		return v
	}
}

// warn says, once, what cannot be found.
func (t *turnWatch) warn() {
	if t.warned {
		return
	}
	t.warned = true
	if why := t.start.useless(); why != "" {
		t.say("What commands change in this workspace is not looked for: " + why + ".")
	} else if lacks := t.start.lacks(); lacks != "" {
		t.say("Some changes by commands may not be found, or may be without their former content: " + lacks + ".")
	}
}

// String says what a scan has left out, for people; "" if nothing.
func (l leftOut) String() string {
	var say []string
	if l.more > 0 {
		say = append(say, fmt.Sprintf("%d changed file(s) are not listed for review: at most %d files and %d MiB are taken at a time",
			l.more, scanFiles, scanBytes>>20))
	}
	if l.late > 0 {
		say = append(say, "not everything could be looked at for changes in time")
	}
	if n := len(l.odd); n > 0 {
		text := fmt.Sprintf("%d change(s) cannot be reviewed: %s", n, strings.Join(l.odd[:min(n, 3)], "; "))
		if n > 3 {
			text += "; …"
		}
		say = append(say, text)
	}
	for _, dir := range l.made {
		say = append(say, fmt.Sprintf("a repository has come to %s; what is in it is not listed for review", shown(dir)))
	}
	for _, dir := range l.gone {
		say = append(say, fmt.Sprintf("the repository in %s is gone; what was in it cannot be reviewed", shown(dir)))
	}
	return strings.Join(say, ". ")
}
