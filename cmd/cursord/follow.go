package main

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

// A follower picks one turn out of a workspace's notifications. Its notify is the client's onNotify: a terminal or a
// pipe that is slow slows the connection, and thereby nobody but itself.
type follower struct {
	turn  string              // the id
	show  *screen             // where people read it, or nil
	lines io.Writer           // where programs read it, as lines of JSON, or nil
	ended chan *sessions.Turn // gets the turn when all of it has been shown
	news  atomic.Uint64       // how often something was heard of the turn

	mu       sync.Mutex // guards the rest, and show
	quiet    quiet
	over     bool
	session  string            // the turn's, once it is known
	sessions []json.RawMessage // before it is
}

// change is what any notification may carry, as far as a follower looks into it.
type change struct {
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

func newFollower(turn string, show *screen, lines io.Writer) *follower {
	return &follower{turn: turn, show: show, lines: lines, ended: make(chan *sessions.Turn, 1)}
}

func (f *follower) notify(method string, params json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	if method == "item/delta" {
		var d rpc.DeltaParams
		if json.Unmarshal(params, &d) == nil && d.TurnID == f.turn {
			f.news.Add(1)
			f.quiet.heard(nil)
			if f.show != nil {
				f.show.delta(d.ItemID, d.Kind, d.Offset, d.Text)
			}
			f.print(method, params)
		}
		return
	}
	var c change
	if json.Unmarshal(params, &c) != nil {
		return // of another version's making
	}
	switch {
	case method == "log/message":
		if f.show != nil && c.Level != "debug" { // it may be why nothing happens
			f.show.line(f.show.palette.Yellow("cursord: " + term.Clean(c.Message)))
		}
		f.print(method, params)
	case c.Session != nil && f.session == "":
		f.sessions = append(f.sessions, params)
	case c.Session != nil && c.Session.ID == f.session:
		f.print(method, params)
	case c.Turn != nil && c.Turn.ID == f.turn:
		f.news.Add(1)
		f.quiet.heard(c.Turn)
		f.begin(c.Turn.SessionID)
		f.print(method, params)
		if f.over = c.Turn.Status.Final(); f.over {
			f.ended <- c.Turn
		}
	case c.Item != nil && c.Item.TurnID == f.turn:
		f.news.Add(1)
		f.quiet.heard(nil)
		if f.show != nil {
			f.show.item(c.Item)
		}
		f.print(method, params)
	case c.Diff != nil && slices.Contains(c.Diff.Turns, f.turn):
		f.print(method, params)
	}
}

// waits shows on a terminal, until the next news, what the turn waits for.
func (f *follower) waits(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.show != nil && !f.over {
		f.show.await(what)
	}
}

// tick shows on a terminal since when nothing was told of the turn, where that is of interest.
func (f *follower) tick(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.show != nil && !f.over {
		f.show.quiet(f.quiet.text(now))
	}
}

// end ends the last lines of what is shown.
func (f *follower) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.show != nil {
		f.show.end()
	}
}

// begin learns the turn's session and prints what was said about it before.
func (f *follower) begin(session string) {
	if f.session != "" {
		return
	}
	f.session = session
	for _, params := range f.sessions {
		var c change
		if json.Unmarshal(params, &c) == nil && c.Session != nil && c.Session.ID == session {
			f.print("session/changed", params)
		}
	}
	f.sessions = nil
}

// print prints a notification where they are wanted as JSON.
func (f *follower) print(method string, params json.RawMessage) {
	if f.lines != nil {
		fmt.Fprintf(term.PlainWriter{W: f.lines}, "{\"method\":%q,\"params\":%s}\n", method, params)
	}
}
