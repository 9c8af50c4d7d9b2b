package acp

import (
	"fmt"
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
	s.subscribeTo(p.CWD, func(in *folder, err error) {
		if err != nil {
			r.answer(nil, inCWD(err))
			return
		}
		call(s, "session/read", rpc.SessionReadParams{SessionID: p.SessionID, Limit: 1}, func(read api.Transcript, err error) {
			open := s.sessions[p.SessionID]
			switch {
			case r.answered: // cancelled
			case err != nil:
				r.answer(nil, err)
			case read.Session.Workspace != in.path:
				r.answer(nil, invalid("cwd", fmt.Sprintf("the session belongs to %s: open it with that cwd", read.Session.Workspace)))
			case open != nil && open.news != nil: // one after the other
				open.then = append(open.then, func() { s.openSession(r, replay) })
			default:
				at := s.owns(in, &p, read.Session)
				at.news = newNews()
				r.onCancel = func() {
					r.answer(nil, &rpc.Error{Code: rpc.CodeCancelled, Message: "cancelled"})
					s.giveUp(at)
				}
				if replay {
					(&replaying{s: s, r: r, at: at}).start()
				} else {
					s.pass(r, at)
				}
			}
		})
	})
}

// pass opens a session without its history. Of a turn that runs the editor gets the items that run, and what comes from now on.
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
	case at.reopened:
		for _, p := range at.prompts {
			at.tell.Asked(p.params.TurnID)
		}
		at.linkApprovals()
		s.tellNews(at, nil)
		s.goOnOpening(at)
		call(s, "approval/list", rpc.ApprovalListParams{Workspace: at.folder.path}, func(list rpc.ApprovalList, err error) {
			if err == nil && s.sessions[at.info.ID] == at && at.news == nil {
				s.askPending(at, list.Approvals, false)
			}
		})
	default:
		for _, p := range slices.Backward(slices.Clone(at.prompts)) {
			s.cancelPrompt(p)
		}
		s.drop(at, nil)
	}
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
	if s.sessions[at.info.ID] == at {
		s.drop(at, nil)
	}
	r.answer(nil, err)
}
