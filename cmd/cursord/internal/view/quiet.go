package view

import (
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// A Quiet is what a person sees of a turn that runs and says nothing. The daemon tells nothing of it: who shows the turn
// counts from the last that was told.
type Quiet struct {
	turn  *sessions.Turn // as last told; nil before
	since time.Time      // of the last that was told of it
}

// Heard notes that something of the turn was told, and the turn itself where that is it.
func (q *Quiet) Heard(turn *sessions.Turn) {
	q.since = time.Now()
	if turn != nil {
		q.turn = turn
	}
}

// Text is what is to be shown at a moment, "" for nothing.
func (q *Quiet) Text(now time.Time) string {
	if q.turn == nil || q.turn.Status != sessions.TurnRunning {
		return ""
	}
	silence := rpc.Silence(now.Sub(q.since))
	commands := q.turn.Background
	if len(commands) == 0 {
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

// WaitsFor says for how many commands in the background a turn only waits.
func WaitsFor(commands int) string {
	return "waiting for " + term.Count(commands, "background command")
}
