package lsp

import (
	"errors"
	"slices"
	"time"

	"cursord/rpc"
	"cursord/sessions"
)

// lookPause is the time between looks for a daemon that somebody else starts.
const lookPause = time.Second

// lookForDaemon connects to the daemon if one runs or a folder of the editor has pending hunks. Else it looks again from
// time to time.
func (s *Server) lookForDaemon() {
	if s.daemon != nil || s.looking {
		return
	}
	s.looking = true
	go func() {
		var all, pending []string
		running, err := s.opts.Running(), error(nil)
		if !running {
			all, pending, err = s.opts.Folders(s.ctx)
		}
		s.post(func() {
			if s.looking = false; err != nil {
				s.opts.Log.Warn("what is left to review is not known", "err", err)
			}
			if s.daemon != nil || s.phase != serving {
				return
			}
			if running || slices.ContainsFunc(s.folders, func(w *workspace) bool { return slices.Contains(pending, w.path) }) {
				s.dial()
				return
			}
			s.looked = true
			for _, w := range s.folders {
				w.seen = slices.Contains(all, w.path)
				s.settle(w, nil) // without hunks
			}
			s.awaitDaemon()
		})
	}()
}

// awaitDaemon connects to a daemon once one runs.
func (s *Server) awaitDaemon() {
	if s.lookAgain != nil {
		s.lookAgain.Stop()
	}
	s.lookAgain = s.after(lookPause, func() {
		switch {
		case s.daemon != nil || s.phase != serving:
		case s.opts.Running():
			s.dial()
		default:
			s.awaitDaemon()
		}
	})
}

// need connects to the daemon, and starts it if none runs.
func (s *Server) need() {
	if s.daemon == nil {
		s.dial()
	}
}

// load reads the hunks and sessions of a folder to which the server has subscribed.
func (s *Server) load(w *workspace) {
	l := s.daemon
	gone := func(err error) bool {
		if w.closed || s.daemon != l {
			return true // the next connection loads it
		}
		if err != nil {
			s.settle(w, err)
		}
		return err != nil
	}
	call(s, "diff/list", rpc.DiffParams{Workspace: w.path}, func(list rpc.DiffList, err error) {
		if gone(err) {
			return
		}
		for _, d := range list.Diffs {
			if d.Seq > w.seqs[d.Path] {
				s.diffChanged(w, d)
			}
		}
		call(s, "session/list", rpc.SessionListParams{Workspace: w.path, Limit: sessionsKnown}, func(list rpc.SessionList, err error) {
			if gone(err) {
				return
			}
			for _, one := range list.Sessions {
				if w.sessions[one.ID] == nil {
					s.sessionChanged(w, one)
				}
			}
			w.known = true
			s.settle(w, nil)
		})
	})
}

// sessionsKnown is the number of a folder's sessions that are loaded.
const sessionsKnown = 20

// settle calls the functions that wait for a folder's hunks and sessions.
func (s *Server) settle(w *workspace, err error) {
	waiting := w.waiting
	w.waiting = nil
	for _, act := range waiting {
		act(err)
	}
}

// giveUp answers the requests that still wait when the editor leaves.
func (s *Server) giveUp() {
	for _, w := range s.folders {
		s.settle(w, errors.New("the server ends"))
	}
}

// later answers a request of the editor once a folder's hunks and sessions are known: at once, or later with errLater. With
// wanted it starts a daemon for that.
func (s *Server) later(w *workspace, wanted bool, answer func(error) (any, error)) (any, error) {
	if w == nil || w.known || !wanted && s.daemon == nil && s.looked {
		return answer(nil)
	}
	if wanted {
		s.need()
	}
	id := s.answering
	w.waiting = append(w.waiting, func(err error) {
		var result any
		s.answering = id
		if s.guard("an answer", func() { result, err = answer(err) }) {
			err = &rpc.Error{Code: rpc.CodeInternal, Message: "an internal error"}
		}
		if err != errLater {
			s.reply(id, result, err)
		}
	})
	return nil, errLater
}

// whereSeen is later for requests that start a daemon only in folders that daemons know.
func (s *Server) whereSeen(w *workspace, answer func(error) (any, error)) (any, error) {
	return s.later(w, false, func(err error) (any, error) {
		if err == nil && s.daemon == nil && w.seen {
			return s.later(w, true, answer)
		}
		return answer(err)
	})
}

// nextSession returns the session of the next prompt: the chosen one, else the folder's latest one with the isolation of the
// settings, but no attempt beside others; "" for a new one.
func (s *Server) nextSession(w *workspace) string {
	if w.session != "" || w.fresh || w.opening != nil {
		return w.session
	}
	for _, one := range sessions.ToContinue(w.latestSessions()) {
		if one.Turns > 0 && s.suits(one) {
			return one.ID
		}
	}
	return ""
}

// suits reports whether a session has the isolation of the settings.
func (s *Server) suits(one *sessions.Session) bool {
	want := s.client.Settings.Isolation
	return want == "" || want == one.Isolation
}
