package acp

import (
	"fmt"
	"path/filepath"
	"slices"

	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// openSession loads a session, with all that was said, or resumes it, without.
func (s *Server) openSession(r *request, replay bool) {
	var p protocol.SessionParams
	r.decode(&p)
	err := openable(&p)
	if p.SessionID == "" {
		err = invalid("sessionId", "must be the id of a session")
	}
	if err != nil {
		r.answer(nil, err)
		return
	}
	held := s.sessions[p.SessionID]
	switch {
	case held != nil && held.news != nil: // one after the other
		held.then = append(held.then, func() { s.openSession(r, replay) })
		return
	case held != nil && replay:
		held.news = newNews() // what comes from now on comes behind the history
	}
	refuse := func(err error) {
		r.answer(nil, err)
		if replay && held != nil && s.sessions[p.SessionID] == held && held.news != nil {
			s.goesOn(held)
		}
	}
	s.subscribeTo(p.CWD, func(in *folder, err error) {
		if err != nil {
			refuse(inCWD(err))
			return
		}
		call(s, "session/read", rpc.SessionReadParams{SessionID: p.SessionID, Limit: 1}, func(read api.Transcript, err error) {
			open := s.sessions[p.SessionID]
			switch {
			case r.answered: // cancelled
				refuse(nil)
			case err != nil:
				refuse(err)
			case read.Session.Workspace != in.path:
				refuse(invalid("cwd", fmt.Sprintf("the session belongs to %s: open it with that cwd", read.Session.Workspace)))
			case open != nil && open.news != nil && open != held: // one after the other
				open.then = append(open.then, func() { s.openSession(r, replay) })
			case open != nil && !replay: // the editor has been told all of it
				open.cwd, open.dirs = filepath.Clean(p.CWD), p.AdditionalDirectories.Paths
				open.tell.Moves(open.cwd)
				s.opened(r, open, "")
			default:
				at := s.owns(in, &p, read.Session)
				at.news = newNews()
				r.onCancel = func() {
					r.answer(nil, &rpc.Error{Code: rpc.CodeCancelled, Message: "cancelled"})
					s.giveUp(at)
				}
				if replay {
					(&replaying{s: s, r: r, at: at}).page("")
				} else {
					s.pass(r, at)
				}
			}
		})
	})
}

// pass opens a session without its history. Of a turn that runs the editor gets the calls that run, and what comes from now on.
func (s *Server) pass(r *request, at *session) {
	call(s, "session/read", rpc.SessionReadParams{SessionID: at.info.ID, Limit: resumed}, func(read api.Transcript, err error) {
		switch {
		case err != nil:
			s.failedToOpen(r, at, err)
			return
		case !s.opens(r, at):
			return
		}
		for _, t := range read.Turns {
			at.tell.Shows(t)
			if t.Status == sessions.TurnRunning {
				at.tell.Asked(t.ID)
				at.news.turn(t)
			}
		}
		for _, i := range read.Items {
			switch {
			case at.news.turns[i.TurnID] == nil:
			case i.Status == sessions.ItemRunning:
				at.news.item(i, true)
				at.news.said[i.ID] = i.Tool == nil
			default:
				at.tell.Pass(i)
			}
		}
		s.complete(r, at, true)
	})
}

func (at *session) runs(t *sessions.Turn) {
	if t.Status == sessions.TurnRunning {
		at.turn = t.ID
	}
}

// opens reports whether a request still opens a session. If the session was closed, the request ends as cancelled.
func (s *Server) opens(r *request, at *session) bool {
	if r.answered || s.sessions[at.info.ID] != at {
		r.answer(nil, &rpc.Error{Code: rpc.CodeCancelled, Message: "cancelled"})
		return false
	}
	return true
}

// giveUp leaves a session as it was before the editor began to open it: not open, or open, with what has changed.
func (s *Server) giveUp(at *session) {
	switch {
	case s.sessions[at.info.ID] != at || at.news == nil:
	case at.was != nil:
		at.tell = at.was
		at.news.follows(at.missed)
		s.goesOn(at)
	default:
		for _, p := range slices.Backward(slices.Clone(at.prompts)) {
			s.cancelPrompt(p)
		}
		s.drop(at, nil)
	}
}

// goesOn tells the editor what has waited for a session that is not loaded after all, or for what it had missed, and asks what has been asked
// meanwhile.
func (s *Server) goesOn(at *session) {
	s.withTurns(at, func() {
		if s.sessions[at.info.ID] != at || at.news == nil {
			return
		}
		s.tellNews(at)
		s.goOnOpening(at)
		call(s, "approval/list", rpc.ApprovalListParams{Workspace: at.folder.path}, func(list rpc.ApprovalList, err error) {
			if err == nil && s.sessions[at.info.ID] == at && at.news == nil {
				s.askPending(at, list.Approvals, false)
			}
		})
	})
}

// goOnOpening begins the requests that waited until a session was loaded or resumed.
func (s *Server) goOnOpening(at *session) {
	waiting := at.then
	at.then = nil
	for _, f := range waiting {
		f()
	}
}

func (s *Server) failedToOpen(r *request, at *session, err error) {
	r.answer(nil, err)
	s.giveUp(at)
}
