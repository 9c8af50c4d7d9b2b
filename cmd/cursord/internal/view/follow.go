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

// A Follower picks one turn out of a workspace's notifications. Pass its Notify to the client as onNotify. A slow terminal
// or pipe slows only this client's connection.
type Follower struct {
	turn  string                   // its id
	Show  *Screen                  // output for people, or nil
	Lines io.Writer                // output for programs as lines of JSON, or nil
	Ended chan *sessions.Turn      // receives the turn after all of it was shown
	Asked func(*sessions.Approval) // gets what the turn's agent asks, each time that changes; or nil
	News  atomic.Uint64            // counts the notifications about the turn

	mu       sync.Mutex // guards the fields below, and Show
	quiet    Quiet
	over     bool
	asked    map[string]bool   // questions without an answer
	session  string            // the turn's session, once it is known
	sessions []json.RawMessage // notifications about sessions until then
}

// Change has the members of any notification that a follower needs.
type Change struct {
	Session *struct {
		ID string `json:"id"`
	} `json:"session"`
	Turn     *sessions.Turn     `json:"turn"`
	Item     *sessions.Item     `json:"item"`
	Approval *sessions.Approval `json:"approval"`
	Diff     *struct {
		Path  string   `json:"path"`
		State string   `json:"state"`
		Turns []string `json:"turns"`
	} `json:"diff"`
	Level   string `json:"level"`
	Message string `json:"message"`
}

func NewFollower(turn string, show *Screen, lines io.Writer) *Follower {
	return &Follower{turn: turn, Show: show, Lines: lines, Ended: make(chan *sessions.Turn, 1), asked: map[string]bool{}}
}

func (f *Follower) Notify(method string, params json.RawMessage) {
	if a := f.show(method, params); a != nil && f.Asked != nil {
		f.Asked(a)
	}
}

// show shows a notification, and returns the approval that it is about, if it is the turn's.
func (f *Follower) show(method string, params json.RawMessage) *sessions.Approval {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return nil
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
		return nil
	}
	var c Change
	if json.Unmarshal(params, &c) != nil {
		return nil // another version has sent it
	}
	switch {
	case method == "log/message":
		if f.Show != nil && c.Level != "debug" { // it may explain a wait
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
	case c.Approval != nil && c.Approval.TurnID == f.turn:
		f.News.Add(1)
		f.print(method, params)
		if f.asked[c.Approval.ID] = true; c.Approval.Status != sessions.ApprovalPending {
			delete(f.asked, c.Approval.ID)
		}
		if f.Show != nil {
			f.Show.Asks = len(f.asked) > 0
		}
		return c.Approval
	case c.Diff != nil && slices.Contains(c.Diff.Turns, f.turn):
		f.print(method, params)
	}
	return nil
}

// Waits shows on a terminal what the turn waits for, until the next notification.
func (f *Follower) Waits(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil && !f.over {
		f.Show.await(what)
	}
}

// Say prints lines for the person, on w where the turn is not shown there.
func (f *Follower) Say(w io.Writer, lines ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil && f.Show.ErrOut != w {
		f.Show.apart(w)
	}
	for _, line := range lines {
		if f.Show != nil && f.Show.ErrOut == w {
			f.Show.Line(line)
		} else {
			term.PrintFolded(w, line+"\n")
		}
	}
}

// Shows reports whether a person who is asked on w has the text before them already: Screen.Shows.
func (f *Follower) Shows(w io.Writer, a *sessions.Approval) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Show != nil && f.Show.ErrOut == w && f.Show.Shows(a)
}

// Queued reports whether the turn is still queued.
func (f *Follower) Queued() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.over && f.quiet.turn != nil && f.quiet.turn.Status == sessions.TurnQueued
}

// Behind shows people what a queued turn waits for.
func (f *Follower) Behind(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil && !f.over && f.quiet.turn != nil && f.quiet.turn.Status == sessions.TurnQueued {
		f.Show.Behind(what)
	}
}

// Tick shows on a terminal how long the turn has been silent, if that is long enough to matter.
func (f *Follower) Tick(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil && !f.over {
		f.Show.Quiet(f.quiet.Text(now, f.Show.Open()))
	}
}

// Cancel shows on a terminal that the turn is being cancelled, until it has ended.
func (f *Follower) Cancel() {
	f.mu.Lock()
	f.quiet.Cancel()
	f.mu.Unlock()
	f.Tick(time.Now())
}

// Session returns the id of the turn's session; "" while it is unknown.
func (f *Follower) Session() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.session
}

// End ends the last line.
func (f *Follower) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Show != nil {
		f.Show.End()
	}
}

// begin stores the turn's session and prints the earlier notifications about it.
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

// print writes a notification to Lines.
func (f *Follower) print(method string, params json.RawMessage) {
	if f.Lines != nil {
		fmt.Fprintf(term.PlainWriter{W: f.Lines}, "{\"method\":%q,\"params\":%s}\n", method, params)
	}
}
