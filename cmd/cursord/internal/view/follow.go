package view

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// A Follower picks one turn out of a workspace's notifications. Its Notify is the client's onNotify: a terminal or a
// pipe that is slow slows the connection, and thereby nobody but itself.
type Follower struct {
	turn  string              // the id
	Show  *Screen             // where people read it, or nil
	Lines io.Writer           // where programs read it, as lines of JSON, or nil
	Ended chan *sessions.Turn // gets the turn when all of it has been shown
	News  atomic.Uint64       // how often something was heard of the turn

	mu       sync.Mutex // guards the rest, and show
	quiet    Quiet
	over     bool
	session  string            // the turn's, once it is known
	sessions []json.RawMessage // before it is
}

// Change is what any notification may carry, as far as a follower looks into it.
type Change struct {
	Session *struct {
		ID string `json:"id"`
	} `json:"session"`
	Turn *sessions.Turn `json:"turn"`
	Item *sessions.Item `json:"item"`
	Diff *struct {
		Turns []string `json:"turns"`
	} `json:"diff"`
	Level   string `json:"level"`
	Message string `json:"message"`
}

func NewFollower(turn string, show *Screen, lines io.Writer) *Follower {
	return &Follower{turn: turn, Show: show, Lines: lines, Ended: make(chan *sessions.Turn, 1)}
}

func (f *Follower) Notify(method string, params json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	if method == "item/delta" {
		var d rpc.DeltaParams
		if json.Unmarshal(params, &d) == nil && d.TurnID == f.turn {
			f.News.Add(1)
			f.quiet.Heard(nil)
			if f.Show != nil {
				f.Show.Delta(d.ItemID, d.Kind, d.Offset, d.Text)
			}
			f.print(method, params)
		}
		return
	}
	var c Change
	if json.Unmarshal(params, &c) != nil {
		return // of another version's making
	}
	switch {
	case method == "log/message":
		if f.Show != nil && c.Level != "debug" { // it may be why nothing happens
			f.Show.Line(f.Show.Palette.Yellow("cursord: " + term.Clean(c.Message)))
		}
		f.print(method, params)
	case c.Session != nil && f.session == "":
		f.sessions = append(f.sessions, params)
	case c.Session != nil && c.Session.ID == f.session:
		f.print(method, params)
	case c.Turn != nil && c.Turn.ID == f.turn:
		f.News.Add(1)
		f.quiet.Heard(c.Turn)
		f.begin(c.Turn.SessionID)
		f.print(method, params)
		if f.over = c.Turn.Status.Final(); f.over {
			f.Ended <- c.Turn
		}
	case c.Item != nil && c.Item.TurnID == f.turn:
		f.News.Add(1)
		f.quiet.Heard(nil)
		if f.Show != nil {
			f.Show.Item(c.Item)
		}
		f.print(method, params)
	case c.Diff != nil && slices.Contains(c.Diff.Turns, f.turn):
		f.print(method, params)
	}
}

// Waits shows on a terminal, until the next news, what the turn waits for.
func (f *Follower) Waits(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil && !f.over {
		f.Show.await(what)
	}
}

// Queued reports whether the turn was told to wait for its place, and has not begun or ended since.
func (f *Follower) Queued() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.over && f.quiet.turn != nil && f.quiet.turn.Status == sessions.TurnQueued
}

// Behind shows people what a queued turn waits for, where they read the turn.
func (f *Follower) Behind(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil && !f.over && f.quiet.turn != nil && f.quiet.turn.Status == sessions.TurnQueued {
		f.Show.Behind(what)
	}
}

// Tick shows on a terminal since when nothing came of the turn, where that is of interest.
func (f *Follower) Tick(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil && !f.over {
		f.Show.Quiet(f.quiet.Text(now, f.Show.Open()))
	}
}

// Cancel notes that somebody has asked for the turn's end, and shows it on a terminal until that comes.
func (f *Follower) Cancel() {
	f.mu.Lock()
	f.quiet.Cancel()
	f.mu.Unlock()
	f.Tick(time.Now())
}

// Session returns the id of the turn's session; "" while it is not known.
func (f *Follower) Session() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.session
}

// End ends the last lines of what is shown.
func (f *Follower) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil {
		f.Show.End()
	}
}

// begin learns the turn's session and prints what was said about it before.
func (f *Follower) begin(session string) {
	if f.session != "" {
		return
	}
	f.session = session
	for _, params := range f.sessions {
		var c Change
		if json.Unmarshal(params, &c) == nil && c.Session != nil && c.Session.ID == session {
			f.print("session/changed", params)
		}
	}
	f.sessions = nil
}

// print prints a notification where they are wanted as JSON.
func (f *Follower) print(method string, params json.RawMessage) {
	if f.Lines != nil {
		fmt.Fprintf(term.PlainWriter{W: f.Lines}, "{\"method\":%q,\"params\":%s}\n", method, params)
	}
}
