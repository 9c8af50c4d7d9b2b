package view

import (
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// A Quiet describes a silent turn. The daemon sends nothing while a turn is silent, so the time counts from the last
// notification.
type Quiet struct {
	turn    *sessions.Turn // its last published state; nil before the first
	since   time.Time      // the time of the last notification
	cancels time.Time      // the time at which a cancel was asked for, or the zero time
}

// TickTime is the time between two calls of Text.
const TickTime = 250 * time.Millisecond

const (
	busyAfter = time.Second      // of silence until "working" is shown
	openAfter = 10 * time.Second // the same while the agent's text stops within a line, which "working" would break
)

// Heard notes a notification about the turn, and the turn's state if the notification has it.
func (q *Quiet) Heard(turn *sessions.Turn) {
	q.since = time.Now()
	if turn != nil {
		q.turn = turn
	}
}

// Cancel notes that somebody has asked for a cancel.
func (q *Quiet) Cancel() { q.cancels = time.Now() }

// Text returns the words to show now, or "". open: the agent's text stops within a line.
func (q *Quiet) Text(now time.Time, open bool) string {
	if !q.cancels.IsZero() && (q.turn == nil || !q.turn.Status.Final()) {
		return "cancelling" + seconds(now.Sub(q.cancels), " for ") + " (Ctrl-C again leaves the turn to the daemon)"
	}
	if q.turn == nil || q.turn.Status != sessions.TurnRunning || q.turn.Waiting { // the question stands there, and its answer is typed
		return ""
	}
	silence := rpc.Silence(now.Sub(q.since))
	commands := q.turn.Background
	if len(commands) == 0 {
		after := busyAfter
		if open {
			after = openAfter
		}
		if silence == "" && now.Sub(q.since) >= after {
			return "working" + seconds(now.Sub(q.since), " for ")
		}
		return silence
	}
	text := WaitsFor(len(commands)) + ": " + term.Clean(commands[0])
	if len(commands) > 1 {
		text += ", …"
	}
	if silence != "" {
		return silence + ", " + text
	}
	return text
}

// seconds returns word and a duration in whole seconds; "" below one second.
func seconds(d time.Duration, word string) string {
	if d < time.Second {
		return ""
	}
	return word + d.Truncate(time.Second).String()
}

// WaitsFor names the number of background commands that a turn waits for.
func WaitsFor(commands int) string {
	return "waiting for " + term.Count(commands, "background command")
}
