// Package agentcalls interprets an agent's events for the review of files: which calls write files, after which of them the
// disk may need a scan, and when the agent wrote an event.
package agentcalls

import (
	"iter"
	"time"

	"cursord/agent"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/diffs"
)

// SaidMax is the greatest age of a time given by the agent. An older time counts as one of another machine's clock.
const SaidMax = 2 * time.Second

// WordTime bounds the delay with which the announcement of a write may reach the daemon. Until then the author of a change is unknown.
const WordTime = 250 * time.Millisecond

// Came returns the earliest moment at which the agent may have written the events that have come, and now. Delayed output may date from the last
// moment at which the daemon had processed everything. Call it from emit, as heard.Came.
func Came(heard *agent.Heard) (earliest, now int64) {
	now, earliest = clock.Now(), clock.At(heard.UpTo())
	if first, late := heard.Came(); !late { // reading a long line takes time
		earliest = max(earliest, clock.At(first)-int64(WordTime))
	}
	return min(now, earliest), now
}

// Write reports whether a call writes the files that it names.
func Write(call *agent.Call) bool { return call.Writes() == agent.WritesNamed }

// WriteAnything reports whether a call may write files that it does not name.
func WriteAnything(call *agent.Call) bool { return call.Writes() == agent.WritesAnything }

// Via returns the way by which a call that may write any file has made its changes, by the name of its tool.
func Via(tool string) diffs.Via {
	if tool == "shell" {
		return diffs.ViaShell
	}
	return diffs.ViaTool
}

// ViaEnd returns the way by which a call that writes the files that it names has made its change of one, which was changed last at a moment. A
// refused call may have made it while a person was asked, and so may the person have; the file system's clock may be slow, so a change right after
// the refusal may count as one before it. In a tree of the agent's own nobody else writes.
func ViaEnd(ev *agent.ToolEnd, changed int64, isolated bool) diffs.Via {
	if ev.State == agent.CallRejected && !isolated && changed < clock.At(ev.Refused) {
		return diffs.ViaUnknown
	}
	return diffs.ViaEdit
}

// BeganAt returns the moment at which a call began, and the earliest at which it may have: both are the agent's word, if it gives one.
func BeganAt(said time.Time, arrived, now int64) (earliest, from int64) {
	from, known := SaidAt(said, arrived, now)
	if !known {
		return arrived, from
	}
	return from, from
}

// EndedAt returns the latest moment at which a call may have ended. arrived is a lower bound. Call it from emit, as heard.Came.
func EndedAt(ev *agent.ToolEnd, heard *agent.Heard, arrived int64) int64 {
	now := endedBy(ev, heard, arrived)
	to, known := SaidAt(ev.Said, arrived, now)
	if known {
		to = min(to+int64(time.Millisecond), now) // agents give times in whole ms
	}
	return to
}

// endedBy returns a moment by which a call had ended: now, but of one that was refused as early as is known, because what changes after it may be that of
// a call which was allowed.
func endedBy(ev *agent.ToolEnd, heard *agent.Heard, arrived int64) int64 {
	if ev.State != agent.CallRejected {
		return clock.Now()
	}
	until := arrived
	if first, late := heard.Came(); !late {
		until = max(until, clock.At(first))
	}
	return max(until, clock.At(ev.Refused))
}

// Refused returns the titles of the calls that were refused and may have been made all the same, by the index of their ToolEnd among those of
// the events.
func Refused(events []agent.Event) map[int]string {
	var titles map[int]string
	ends := 0
	for _, ev := range events {
		if end, ok := ev.(agent.ToolEnd); ok {
			if end.State == agent.CallRejected && !end.Asked.IsZero() {
				if titles == nil {
					titles = map[int]string{}
				}
				titles[ends] = end.Call.Title
			}
			ends++
		}
	}
	return titles
}

// Last takes the latest of the open calls with an id out of the list; nil if there is none.
func Last[T any](open map[string][]*T, id string) *T {
	list := open[id]
	if len(list) == 0 {
		return nil
	}
	if open[id] = list[:len(list)-1]; len(list) == 1 {
		delete(open, id)
	}
	return list[len(list)-1]
}

// Parts cuts a batch of events after each call that may need a scan of the disk.
func Parts(events []agent.Event) iter.Seq[[]agent.Event] {
	return func(yield func([]agent.Event) bool) {
		from := 0
		for i, ev := range events {
			var cut bool
			switch ev := ev.(type) {
			case agent.ToolStart:
				cut = WriteAnything(&ev.Call)
			case agent.ToolEnd:
				cut = WriteAnything(&ev.Call)
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

// SaidAt returns the moment at which the agent wrote an event, according to the agent. If the agent gives no time, or its
// clock is not this machine's, it returns now and false. earliest is a lower bound for the moment.
func SaidAt(by time.Time, earliest, now int64) (_ int64, known bool) {
	if by.IsZero() {
		return now, false
	}
	at := clock.Moment(by.UnixNano())
	if at > now+int64(attribution.Tick) || earliest-at > int64(SaidMax) {
		return now, false
	}
	return at, true
}
