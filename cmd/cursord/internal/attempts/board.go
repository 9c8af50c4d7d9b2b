package attempts

import (
	"fmt"
	"io"
	"sync"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// A board shows how attempts stand: on a terminal one line for each, which it redraws, elsewhere a line for each change.
type board struct {
	w        io.Writer
	terminal bool

	mu    sync.Mutex // guards the fields below
	rows  []*row
	drawn int // lines on the terminal
	ended bool
}

// A row is an attempt.
type row struct {
	turn, check *sessions.Turn // as they are now; check is nil if there is none
	doing       string         // the latest call of the agent
	said        string         // the last line that was printed of it
}

func newBoard(w io.Writer, begun []*sessions.Turn) *board {
	b := &board{w: w, terminal: term.IsTerminal(w)}
	for _, t := range begun {
		b.rows = append(b.rows, &row{turn: t})
	}
	b.draw()
	return b
}

// take takes in a notification. It reports whether it is about one of the attempts.
func (b *board) take(n note) bool {
	b.mu.Lock()
	for _, r := range b.rows {
		is := false
		switch {
		case n.Turn != nil && n.Turn.ID == r.turn.ID:
			r.turn, is = n.Turn, true
		case n.Turn != nil && n.Turn.SessionID == r.turn.SessionID && n.Turn.Check:
			r.check, is = n.Turn, true
		case n.Item != nil && n.Item.SessionID == r.turn.SessionID:
			if n.Item.Tool != nil {
				r.doing = n.Item.Tool.Title
			}
			is = true
		case n.Approval != nil && n.Approval.SessionID == r.turn.SessionID, n.Session != nil && n.Session.ID == r.turn.SessionID:
			is = true
		}
		if is {
			b.mu.Unlock()
			b.draw()
			return true
		}
	}
	b.mu.Unlock()
	return false
}

// over reports whether all attempts and their checks have ended. A check is published before the end of the turn that it follows.
func (b *board) over() bool { return len(b.active()) == 0 }

// active returns the turns that have not ended.
func (b *board) active() (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.rows {
		for _, t := range []*sessions.Turn{r.turn, r.check} {
			if t != nil && !t.Status.Final() {
				ids = append(ids, t.ID)
			}
		}
	}
	return ids
}

// turn returns a turn as it is now.
func (b *board) turn(id string) *sessions.Turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.rows {
		if r.turn.ID == id {
			return r.turn
		}
	}
	return &sessions.Turn{ID: id, Status: sessions.TurnFailed}
}

// state says how an attempt stands.
func (r *row) state() string {
	switch {
	case r.check != nil && !r.check.Status.Final() && r.turn.Status.Final():
		return "checking: " + r.check.Prompt
	case r.turn.Status.Final() && r.check != nil:
		return outcome(r.turn.Status, r.turn.Error) + "; check " + checkStatus(r.check.Status)
	}
	return outcome(r.turn.Status, r.turn.Error)
}

// draw shows the present state.
func (b *board) draw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	if !b.terminal {
		for i, r := range b.rows {
			if s := r.state(); s != r.said {
				r.said = s
				fmt.Fprintf(b.w, "attempt %d: %s\n", i+1, term.Clean(s))
			}
		}
		return
	}
	text := b.cleared() // in one write with the rest, so that nothing flickers
	columns := term.Columns(b.w)
	for i, r := range b.rows {
		line := fmt.Sprintf("attempt %d: %s", i+1, r.state())
		if t := r.turn; t.StartedAt != nil && !t.Status.Final() {
			line += " · " + term.Span(time.Since(t.StartedAt.Time))
			if r.doing != "" {
				line += " · " + r.doing
			}
		}
		line = term.Clean(line)
		if columns > 1 {
			line = term.Fit(line, columns-1)
		}
		text += line + "\n"
	}
	io.WriteString(b.w, text)
	b.drawn = len(b.rows)
}

// cleared returns what removes the lines that are drawn. The mutex must be held.
func (b *board) cleared() string {
	if b.drawn == 0 {
		return ""
	}
	up := b.drawn
	b.drawn = 0
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
}

// say prints lines to w above what is drawn.
func (b *board) say(w io.Writer, lines ...string) {
	b.mu.Lock()
	io.WriteString(b.w, b.cleared())
	for _, line := range lines {
		term.PrintFolded(w, line+"\n")
	}
	b.mu.Unlock()
	b.draw()
}

// end removes what is drawn on a terminal, and shows nothing any more.
func (b *board) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	io.WriteString(b.w, b.cleared())
	b.ended = true
}
