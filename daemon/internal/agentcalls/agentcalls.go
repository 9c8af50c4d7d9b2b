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
