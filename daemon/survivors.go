package daemon

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cursord/agent/process"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// survivorTime is how long processes that have left an agent's group may take to end after the agent.
const survivorTime = 250 * time.Millisecond

// survivors are the turns whose agents have left processes behind that run on outside of their groups.
type survivors struct {
	mu    sync.Mutex
	marks []string // guarded by mu; what their environments have
}

func turnMark(turn string) string { return "CURSORD_TURN_ID=" + turn }

// left notes and returns the processes that a turn's agent has left behind.
func (s *survivors) left(turn string) []process.Info {
	mark := turnMark(turn)
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

// alive reports whether any such process still runs.
func (s *survivors) alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = slices.DeleteFunc(s.marks, func(mark string) bool { return len(process.Survivors(mark)) == 0 })
	return len(s.marks) > 0
}

// orphans says whether a turn's commands have left processes in the background without a word, as by "( … ) &". It belongs to
// the turn's goroutine, which does not wait for a look before it has to know.
type orphans struct {
	looks sync.WaitGroup
	due   atomic.Int64 // looks; those that are due at the end of one are one more
	some  atomic.Bool
}

// look looks for such processes, beside what is done next.
func (o *orphans) look(mark string) {
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

// found reports whether any were seen.
func (o *orphans) found() bool {
	o.looks.Wait()
	return o.some.Load()
}

// aboutSurvivors tells people what an agent has left running; "" if nothing.
func aboutSurvivors(all []process.Info) string {
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
	return "The agent has left processes running that it started: " + strings.Join(names, ", ") +
		". While they run, changes that nothing else explains are listed for review, and may be yours."
}

// loose returns whose changes of a moment are that no call explains: of the turn, as what may be a person's, while processes of the
// agent may write without a call. Those are what a command left in the background in this turn, as it said, until the agent says
// that it has ended, or as its processes show; what outlived an earlier turn; and hooks that run programs. Without such
// evidence it is nil: people save files all the time.
func (t *turnWatch) loose() func(when int64) *diffs.Source {
	src := t.source(diffs.ViaUnknown)
	lives := len(t.background) > 0 || t.hooks.Any || t.orphans.found() || t.r.w.survivors.alive()
	if lives {
		t.unattend()
	}
	return func(when int64) *diffs.Source {
		if lives || t.silentFrom != 0 && when <= t.silentFrom {
			return &src
		}
		return nil
	}
}

// unattend has the tree know that the turn's processes may write without a call.
func (t *turnWatch) unattend() {
	if !t.unattended {
		t.unattended = true
		t.tree.unattended.Add(1)
	}
}

// endBackground notes that what calls have left in the background has ended. What is changed from then on is not theirs.
func (t *turnWatch) endBackground(calls []string) {
	for _, call := range calls {
		delete(t.background, call)
	}
	if len(t.background) > 0 {
		return
	}
	t.silentFrom, t.overdue = clock.Now(), true
	if !t.tree.isolated() {
		t.orphans.look(turnMark(t.turn)) // it may have left others
	}
}

// scanBackground finds what commands in the background have written that have all ended.
func (t *turnWatch) scanBackground() {
	loose := t.loose()
	t.scan(snapshot.ScanTime, true, func(c snapshot.ChangeTime) snapshot.Attribution {
		if c.When > t.silentFrom {
			return snapshot.Attribution{Leave: true} // the last scan looks at it
		}
		return snapshot.Attribution{Source: t.withPostponed(c.Path, t.tree.writerAt(c.Path, c.When, c.Since, loose(c.When)))}
	})
}
