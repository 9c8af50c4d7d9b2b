package acp

import (
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// A replaying gives an editor the whole history of a session, page by page, at the speed at which the editor reads. Turns that
// may still change become news of the session.
type replaying struct {
	s    *Server
	r    *request
	at   *session
	last *sessions.Turn // of those that do not change any more
}

func (h *replaying) page(cursor string) {
	call(h.s, "session/export", rpc.SessionExportParams{SessionID: h.at.info.ID, Cursor: cursor}, func(part api.SessionExport, err error) {
		switch {
		case err != nil:
			h.s.failedToOpen(h.r, h.at, err)
			return
		case !h.s.opens(h.r, h.at):
			return
		}
		for _, p := range part.Parts {
			switch {
			case p.Turn != nil:
				h.turn(p.Turn)
			case p.Item != nil && h.last != nil && p.Item.TurnID == h.last.ID:
				h.at.tell.Item(p.Item, true)
			case p.Item != nil:
				h.at.news.item(p.Item, true)
			}
		}
		if part.NextCursor == "" {
			h.end()
			h.s.complete(h.r, h.at, false)
			return
		}
		go func() {
			h.s.out.Wait(maxWaiting)
			h.s.post(func() { h.page(part.NextCursor) })
		}()
	})
}

func (h *replaying) turn(t *sessions.Turn) {
	h.end()
	if !t.Status.Final() || t.Seq > h.at.since {
		h.at.news.turn(t)
		return
	}
	h.last = t
	h.at.tell.Turn(begun(t))
}

// end gives the editor the end of the last turn that was begun.
func (h *replaying) end() {
	if h.last == nil {
		return
	}
	h.at.tell.Turn(h.last)
	h.last = nil
}

// begun returns a turn as it was when it began.
func begun(t *sessions.Turn) *sessions.Turn {
	if !t.Status.Final() {
		return t
	}
	out := *t
	out.Status = sessions.TurnRunning
	return &out
}
