package view

import (
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// A Quiet is what a person sees of a turn that runs and says nothing. The daemon tells nothing of it: who shows the turn
// counts from the last notification.
type Quiet struct {
	turn    *sessions.Turn // as last published; nil before
	since   time.Time      // when something of it came last
	cancels time.Time      // since when it is being cancelled; the zero time if it is not
}

// TickTime is how often who shows a turn looks at its Quiet.
const TickTime = 250 * time.Millisecond

const (
	busyAfter = time.Second      // of silence, a person sees that the turn works
	openAfter = 10 * time.Second // the same where that ends a line of the agent's text before its time
)

// Heard notes that something of the turn came, and the turn itself if it is that.
func (q *Quiet) Heard(turn *sessions.Turn) {
	q.since = time.Now()
	if turn != nil {
		q.turn = turn
	}
}

// Cancel notes that somebody has asked for the turn's end.
func (q *Quiet) Cancel() { q.cancels = time.Now() }

// Text is what is to be shown at a moment, "" for nothing. open says that the last line of the agent's text is not complete.
func (q *Quiet) Text(now time.Time, open bool) string {
	if !q.cancels.IsZero() && (q.turn == nil || !q.turn.Status.Final()) {
		return "cancelling" + seconds(now.Sub(q.cancels), " for ") + " (Ctrl-C again leaves the turn to the daemon)"
	}
	if q.turn == nil || q.turn.Status != sessions.TurnRunning {
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

// seconds says for people how long something takes, behind a word; "" before it is a second.
func seconds(d time.Duration, word string) string {
	if d < time.Second {
		return ""
	}
	return word + d.Truncate(time.Second).String()
}

// WaitsFor says for how many commands in the background a turn only waits.
func WaitsFor(commands int) string {
	return "waiting for " + term.Count(commands, "background command")
}
