// Package survivors finds processes of an agent that run longer than they should: processes outside of its group that
// outlive its turn, and processes that a command leaves in the background while the turn runs. They may write files that no
// tool call names. Turns.Mark in their environments identifies them.
package survivors

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cursord/agent/process"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// survivorTime is the time that processes outside of an agent's group have to end after the agent.
const survivorTime = 250 * time.Millisecond

// Turns are the turns of a workspace whose agents have left running processes behind.
type Turns struct {
	Store string // the epoch of the store that has these turns; set before the first use

	mu    sync.Mutex
	marks []string // guarded by mu; marks in the environments of such processes
}

// Variable is the name of the environment variable of Mark.
const Variable = "CURSORD_TURN"

// Mark returns the environment variable that identifies the processes of a turn. Clients choose the ids of turns, so another
// daemon of the user may have a turn with the same id. The store's epoch makes the mark unique.
func (s *Turns) Mark(turn string) string { return Variable + "=" + s.Store + "/" + turn }

// Owner returns the id by which Mark marks the processes of a turn: the turn's, or that of its session, whose turns may have one process.
func Owner(turn *sessions.Turn) string {
	if turn.Driver == "acp" {
		return turn.SessionID
	}
	return turn.ID
}

// Left records and returns the processes that a turn's agent has left behind.
func (s *Turns) Left(turn string) []process.Info {
	mark := s.Mark(turn)
	all := process.Survivors(mark)
	for end := time.Now().Add(survivorTime); len(all) > 0 && time.Now().Before(end); all = process.Survivors(mark) {
		time.Sleep(survivorTime / 10)
	}
	if len(all) > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.marks = append(s.marks, mark)
	}
	return all
}

// Alive reports whether any such process still runs.
func (s *Turns) Alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = slices.DeleteFunc(s.marks, func(mark string) bool { return len(process.Survivors(mark)) == 0 })
	return len(s.marks) > 0
}

// Orphans finds processes that a turn's commands have left in the background without a report, as "( … ) &" does. It belongs
// to the turn's goroutine, which waits for a look only when it needs the result.
type Orphans struct {
	looks sync.WaitGroup
	due   atomic.Int64 // number of requested looks; one look serves all requests that came before it
	some  atomic.Bool
}

// Look begins to look for such processes, in another goroutine.
func (o *Orphans) Look(mark string) {
	if o.some.Load() || o.due.Add(1) > 1 {
		return
	}
	o.looks.Go(func() {
		for due := int64(1); due != 0; {
			if due = o.due.Load(); len(process.Orphans(mark)) > 0 {
				o.some.Store(true)
			}
			if o.due.CompareAndSwap(due, 0) {
				due = 0
			}
		}
	})
}

// Found reports whether a look has found orphans.
func (o *Orphans) Found() bool {
	o.looks.Wait()
	return o.some.Load()
}

// About returns a text for people about processes that an agent has left running; "" if there are none.
func About(all []process.Info) string {
	if len(all) == 0 {
		return ""
	}
	var names []string
	for _, p := range all[:min(len(all), 3)] {
		names = append(names, fmt.Sprintf("%s (process %d)", paths.Shown(p.Command), p.ID))
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "The agent left processes running: " + strings.Join(names, ", ") +
		". While they run, changes that nothing else explains are listed for review, and may be yours."
}
