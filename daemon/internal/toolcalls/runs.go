package toolcalls

import (
	"slices"

	"cursord/agent"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/diffs"
)

// This file follows calls that may write any file: commands, MCP servers, sub-agents and unknown tools.

// A run is a call that may write any file.
type run struct {
	call  *attribution.Call
	from  int64 // the earliest moment at which it may have begun
	to    int64 // the latest moment at which it may have ended, by package clock; 0 while it is open
	start int   // its index among the ToolStarts of the batch, while it is in t.begun
	end   int   // its index among the ToolEnds of the batch; -1 while it is open, and once its item is known
}

func (t *Observer) beginRun(ev *agent.ToolStart, start int) {
	earliest, from := agentcalls.BeganAt(ev.Said, t.arrived, t.asked)
	r := t.addRun(&ev.Call, earliest, from)
	r.start = start
	t.begun, t.runs[ev.Call.ID] = append(t.begun, r), append(t.runs[ev.Call.ID], r)
}

func (t *Observer) addRun(call *agent.Call, earliest, from int64) *run {
	t.Commits.Ran(call.Command)
	r := &run{end: -1, from: earliest, call: t.Tree.Ledger.OpenAny(t.Source(agentcalls.Via(call.Name)), earliest, from)}
	t.past = append(t.past, r)
	return r
}

// Source returns the turn as the source of changes made via.
func (t *Observer) Source(via diffs.Via) diffs.Source {
	return diffs.Source{SessionID: t.Session, TurnID: t.TurnID, Via: via}
}

func (t *Observer) finishRun(ev *agent.ToolEnd, end int) {
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
		from := t.Start.Began() // no event says when the call began
		if n := len(t.past); n > 0 && t.past[n-1].to != 0 {
			from = t.past[n-1].to
		}
		r = t.addRun(&ev.Call, from, from)
	}
	r.end = end
	r.to = agentcalls.EndedAt(ev, &t.heard, t.arrived)
	t.Later.Ended(ev, r.to)
	t.Tree.Ledger.End(r.call, r.to)
	if ev.Call.Background {
		if t.background == nil {
			t.background = map[string]bool{}
		}
		t.background[ev.Call.ID] = true
		t.Unattend()
	}
	if !t.Tree.Isolated() {
		t.orphans.Look(t.alive.Mark(t.owner))
	}
	t.ended = append(t.ended, r)
}

// dropRun drops a call that did not run as its start said.
func (t *Observer) dropRun(r *run) {
	t.Tree.Ledger.Forget(r.call)
	t.past = slices.DeleteFunc(t.past, func(one *run) bool { return one == r })
}

// NameCalls gives the calls of the last batch their items: one for each ToolStart, and one for each ToolEnd.
func (t *Observer) NameCalls(started, ended []string) {
	for _, w := range t.named {
		if w.start < len(started) {
			w.item = started[w.start]
		}
	}
	t.named = nil
	for _, r := range t.begun {
		if r.start < len(started) {
			t.Tree.Ledger.Name(r.call, started[r.start])
		}
	}
	for _, r := range t.ended {
		if r.end >= 0 && r.end < len(ended) {
			t.Tree.Ledger.Name(r.call, ended[r.end])
		}
		r.end = -1
	}
}
