package lsp

import (
	"encoding/json"
	"errors"
	"time"

	"cursord/rpc"
)

const (
	// deltaInterval is the time, in ms, between the deltas that the daemon sends. They are counted, not shown.
	deltaInterval = 500
	firstPause    = time.Second // between tries to reach a daemon; each pause is twice the one before
	longPause     = time.Minute
)

// A link is a connection that outlives daemons. It only ends when a daemon with another database comes.
type link struct {
	s      *Server
	client *rpc.Client
}

// dial makes a link and sends the daemon all open documents.
func (s *Server) dial() {
	l := &link{s: s}
	l.client = s.opts.Dial(func(method string, params json.RawMessage) {
		s.post(func() {
			if s.daemon == l {
				s.heard(method, params)
			}
		})
	})
	s.daemon = l
	go func() {
		<-l.client.Done()
		select {
		case <-time.After(firstPause):
		case <-s.ctx.Done():
			return
		}
		s.post(func() {
			if s.daemon == l && s.phase == serving {
				l.client.Close()
				s.forget()
				s.dial()
			}
		})
	}()
	call(s, "initialize", rpc.InitializeParams{ClientInfo: &rpc.Info{Name: s.client.Name + " (lsp)"}}, func(rpc.InitializeResult, error) {})
	for _, d := range s.docs {
		d.sent = false
		s.tellDaemon(d)
	}
	for _, w := range s.folders {
		w.heard = false
		s.trySubscribe(w, firstPause)
	}
}

// call makes a request of the daemon. The loop calls then with the answer, in its order among all that comes from the daemon.
func call[R any](s *Server, method string, params any, then func(R, error)) {
	s.need()
	l := s.daemon
	answered := func(result R, err error) {
		if errors.Is(err, rpc.ErrClosed) {
			err = errors.New("the cursord daemon cannot be reached")
		}
		s.post(func() {
			if err == nil && s.daemon == l {
				s.subscribeAll() // the daemon can be reached now
			}
			then(result, err)
		})
	}
	if err := rpc.Send(l.client, method, params, answered); err != nil {
		var none R
		go answered(none, err) // the loop must not wait for itself
	}
}

// subscribeAll subscribes to the folders that have no subscription.
func (s *Server) subscribeAll() {
	for _, w := range s.folders {
		if !w.heard {
			s.trySubscribe(w, firstPause)
		}
	}
}

// kindOf returns the kind of the daemon's error.
func kindOf(err error) string {
	e := (*rpc.Error)(nil)
	if errors.As(err, &e) {
		return string(e.Data.Kind)
	}
	return ""
}

// complain shows an error of the daemon with its hint.
func (s *Server) complain(err error) {
	message := err.Error()
	if e := (*rpc.Error)(nil); errors.As(err, &e) && e.Data.Hint != "" {
		message += " – " + e.Data.Hint
	}
	s.show(levelError, "cursord: %s", message)
}

// trySubscribe subscribes to a folder. If the daemon cannot be reached, it tries again later.
func (s *Server) trySubscribe(w *workspace, pause time.Duration) {
	l := s.daemon
	w.heard = true
	params := rpc.SubscribeParams{Workspace: w.path, DeltaInterval: deltaInterval}
	call(s, "workspace/subscribe", params, func(_ struct{}, err error) {
		if w.closed || s.daemon != l {
			return
		}
		if err == nil {
			s.load(w)
			return
		}
		waited := len(w.waiting) > 0
		s.settle(w, err)
		if kindOf(err) != "unavailable" {
			if !waited {
				s.complain(err)
			}
			return
		}
		w.heard = false
		s.after(pause, func() {
			if !w.closed && !w.heard && s.daemon == l {
				s.trySubscribe(w, min(2*pause, longPause))
			}
		})
	})
}

// forget drops the state that came from a daemon with another database.
func (s *Server) forget() {
	for _, w := range s.folders {
		for _, p := range w.running {
			s.endProgress(p, "interrupted")
		}
		w.clear()
		s.publishAll(w)
	}
}

// heard handles a notification of the daemon.
func (s *Server) heard(method string, params json.RawMessage) {
	switch method {
	case "diff/changed":
		hearing(s, params, func(w *workspace, n *rpc.DiffChanged) { s.diffChanged(w, n.Diff) })
	case "approval/changed":
		hearing(s, params, func(w *workspace, n *rpc.ApprovalChanged) { s.approvalChanged(w, n.Approval) })
	case "turn/changed":
		hearing(s, params, func(w *workspace, n *rpc.TurnChanged) { s.turnChanged(w, n.Turn) })
	case "item/changed":
		hearing(s, params, func(w *workspace, n *rpc.ItemChanged) { s.itemChanged(w, n.Item) })
	case "item/delta":
		hearing(s, params, func(w *workspace, n *rpc.DeltaParams) {
			s.follow(w, n.SessionID)
			w.noteHeard(n.TurnID)
		})
	case "session/changed":
		hearing(s, params, func(w *workspace, n *rpc.SessionChanged) {
			if n.Removed {
				if delete(w.sessions, n.SessionID); w.session == n.SessionID {
					w.session = ""
				}
				return
			}
			s.sessionChanged(w, n.Session)
		})
	case "log/message":
		var n rpc.LogMessage
		if json.Unmarshal(params, &n) != nil {
			return
		}
		switch n.Level {
		case "error":
			s.show(levelError, "cursord: %s", n.Message)
		case "warning":
			s.show(levelWarning, "cursord: %s", n.Message)
		default:
			s.log(levelInfo, n.Message)
		}
	}
}

// hearing decodes a notification about one of the editor's folders.
func hearing[N any](s *Server, params json.RawMessage, take func(*workspace, *N)) {
	var at struct {
		Workspace string `json:"workspace"`
	}
	var n N
	if json.Unmarshal(params, &at) != nil || json.Unmarshal(params, &n) != nil {
		return
	}
	for _, w := range s.folders {
		if w.path == at.Workspace {
			take(w, &n)
		}
	}
}
