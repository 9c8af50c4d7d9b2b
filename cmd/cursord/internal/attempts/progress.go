package attempts

import (
	"fmt"
	"io"
	"sync"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// A progress shows how attempts stand: on a terminal one line for each, which it redraws, elsewhere a line for each change.
type progress struct {
	w        io.Writer
	terminal bool

	mu    sync.Mutex // guards the fields below
	rows  []*row
	drawn int       // lines on the terminal
	spot  term.Spot // where they begin
	ended bool
}

// A row is an attempt.
type row struct {
	turn, check *sessions.Turn // as they are now; check is nil if there is none
	doing       string         // the latest call of the agent
	said        string         // the last line that was printed of it
}

func newProgress(w io.Writer, begun []*sessions.Turn) *progress {
	b := &progress{w: w, terminal: term.IsTerminal(w)}
	for _, t := range begun {
		b.rows = append(b.rows, &row{turn: t})
	}
	b.draw()
	return b
}

// update updates the rows by a notification. It reports whether the notification is about one of the attempts.
func (p *progress) update(n note) bool {
	p.mu.Lock()
	for _, r := range p.rows {
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
			p.mu.Unlock()
			p.draw()
			return true
		}
	}
	p.mu.Unlock()
	return false
}

// over reports whether all attempts and their checks have ended. A check is published before the end of the turn that it follows.
func (p *progress) over() bool { return len(p.active()) == 0 }

// active returns the turns that have not ended.
func (p *progress) active() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rows {
		for _, t := range []*sessions.Turn{r.turn, r.check} {
			if t != nil && !t.Status.Final() {
				ids = append(ids, t.ID)
			}
		}
	}
	return ids
}

// turn returns a turn as it is now.
func (p *progress) turn(id string) *sessions.Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rows {
		if r.turn.ID == id {
			return r.turn
		}
	}
	return &sessions.Turn{ID: id, Status: sessions.TurnFailed}
}

// asks says which attempt asks.
func (p *progress) asks(a *sessions.Approval) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, r := range p.rows {
		if r.turn.SessionID == a.SessionID {
			return fmt.Sprintf("Attempt %d", i+1)
		}
	}
	return "An attempt"
}

// state says how an attempt stands.
func (r *row) state() string {
	switch {
	case r.check != nil && !r.check.Status.Final() && r.turn.Status.Final():
		return "checking: " + r.check.Prompt
	case r.turn.Waiting && !r.turn.Status.Final():
		return "waits for your answer"
	case r.turn.Status.Final() && r.check != nil:
		return outcome(r.turn.Status, r.turn.Error) + "; check " + checkStatus(r.check.Status)
	}
	return outcome(r.turn.Status, r.turn.Error)
}

// draw shows the present state.
func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	if !p.terminal {
		for i, r := range p.rows {
			if s := r.state(); s != r.said {
				r.said = s
				fmt.Fprintf(p.w, "attempt %d: %s\n", i+1, term.Clean(s))
			}
		}
		return
	}
	text := p.cleared() // in one write with the rest, so that nothing flickers
	var begin string
	p.spot, begin = term.SpotOf(p.w, len(p.rows)+1)
	text += begin
	columns := term.Columns(p.w)
	for i, r := range p.rows {
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
	io.WriteString(p.w, text)
	p.drawn = len(p.rows)
}

// cleared returns what removes the lines that are drawn. The mutex must be held.
func (p *progress) cleared() string {
	if p.drawn == 0 {
		return ""
	}
	up := p.drawn
	p.drawn = 0
	if back := p.spot.Back(); back != "" {
		return back
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
}

// say prints lines to w above what is drawn.
func (p *progress) say(w io.Writer, lines ...string) {
	p.mu.Lock()
	io.WriteString(p.w, p.cleared())
	for _, line := range lines {
		term.PrintFolded(w, line+"\n")
	}
	p.mu.Unlock()
	p.draw()
}

// end removes what is drawn on a terminal, and shows nothing any more.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.w, p.cleared())
	p.ended = true
}
