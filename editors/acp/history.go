package acp

import (
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// A replaying gives an editor the whole history of a session, page by page, at the speed at which the editor reads.
type replaying struct {
	s    *Server
	r    *request
	at   *session
	last *sessions.Turn
}

func (h *replaying) page(cursor string) {
	call(h.s, "session/export", rpc.SessionExportParams{SessionID: h.at.info.ID, Cursor: cursor}, func(part api.SessionExport, err error) {
		if err != nil {
			h.s.failedToOpen(h.r, h.at, err)
			return
		}
		if h.r.answered || h.s.sessions[h.at.info.ID] != h.at {
			h.r.answer(nil, &rpc.Error{Code: rpc.CodeCancelled, Message: "cancelled"}) // it was closed, or is opened again
			return
		}
		for _, p := range part.Parts {
			switch {
			case p.Turn != nil:
				h.begin(p.Turn)
			case p.Item != nil:
				h.at.tell.Item(p.Item, true)
			}
		}
		if part.NextCursor == "" {
			h.end()
			return
		}
		go func() {
			h.s.out.Wait(maxWaiting)
			h.s.post(func() { h.page(part.NextCursor) })
		}()
	})
}

func (h *replaying) begin(t *sessions.Turn) {
	if h.last != nil && h.settled(h.last) {
		h.at.tell.Forget(h.last.ID)
	}
	h.last = t
	begins := *t
	if t.Status.Final() {
		begins.Status = sessions.TurnRunning
	}
	h.at.tell.Turn(&begins)
	h.at.runs(t)
}

// settled reports whether nothing more will come about a turn.
func (h *replaying) settled(t *sessions.Turn) bool { return t.Status.Final() && t.Seq <= h.at.since }

func (h *replaying) end() {
	if h.last != nil && h.settled(h.last) {
		h.at.tell.Turn(h.last)
	}
	h.s.opened(h.r, h.at, "")
}
