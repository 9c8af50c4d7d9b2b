package daemon

import (
	"context"
	"slices"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/review"
	"cursord/sessions"
)

// errRewinding is the answer to who would change a session that is being rewound.
var errRewinding = &api.Error{Kind: api.KindBusy, Message: "this session is being rewound", Hint: "try again in a moment"}

// Rewind takes a session back to before one of its turns: that turn and the later ones leave the transcript, and with p.Files
// what they did to files is taken back, in one transaction. The next turn begins a fresh chat. It returns KindBusy while the
// session has unfinished turns, and waits as Decide does. With p.DryRun it changes nothing, and answers with the patch.
func (d *Daemon) Rewind(ctx context.Context, p api.RewindParams, reply func(api.Rewound, error)) {
	w, err := d.workspaceOfSession(p.SessionID)
	if err != nil {
		reply(api.Rewound{}, err)
		return
	}
	done := func(out api.Rewound, err error) {
		w.release()
		reply(out, err)
	}
	_ = d.tryDisk() // the reviewer reports an error that remains
	w.awaitStored(ctx)
	if stopped := w.call(func() { err = w.beginRewind(&p) }); stopped != nil {
		err = stopped
	}
	if err != nil {
		done(api.Rewound{}, err)
		return
	}
	end := func(out api.Rewound, err error) {
		_ = w.call(func() { w.endRewind(p.SessionID) }) // an error means that the loop has ended
		done(out, err)
	}
	turns, err := w.turnsFrom(p.SessionID, p.TurnID)
	if err != nil {
		end(api.Rewound{}, err)
		return
	}
	rw := review.Rewind{Client: p.Client, Cut: review.Cut{Session: p.SessionID, Turns: turns}, Files: p.Files, Dry: p.DryRun}
	w.review.Rewind(ctx, rw, func(dec api.Decided, err error) {
		go func() { // the loop, which calls this, must be free
			var s *sessions.Session
			if err == nil {
				s, err = d.store.Session(p.SessionID)
				err = api.StoreError(err)
			}
			end(api.Rewound{
				Session: s, Turns: turns, Diffs: dec.Diffs, Applied: dec.Applied, Skipped: dec.Skipped, Decision: dec.Decision, Patch: dec.Patch,
			}, err)
		}()
	})
}

// beginRewind checks a request, and keeps turns from starting in the session.
func (w *workspace) beginRewind(p *api.RewindParams) error {
	ls, err := w.liveSession(p.SessionID)
	switch {
	case err != nil:
		return err
	case ls.filling:
		return errFilling
	case ls.rewinds:
		return errRewinding
	case ls.turns > 0:
		return &api.Error{Kind: api.KindBusy, Message: "a turn of this session is running or queued", Hint: "cancel it first: cursord cancel (turn/cancel)"}
	}
	ls.rewinds = true
	t, err := w.turn(p.TurnID)
	if err == nil && t.SessionID == p.SessionID {
		return nil
	}
	w.endRewind(p.SessionID)
	if err != nil {
		return api.StoreError(err)
	}
	return api.Invalid("turnId", "turn %s is of session %s, not of %s", t.ID, t.SessionID, p.SessionID)
}

func (w *workspace) endRewind(session string) {
	if ls := w.sessions[session]; ls != nil {
		ls.rewinds = false
		if ls.unstored == 0 && ls.turns == 0 {
			delete(w.sessions, session)
		}
	}
}

// turnsFrom lists a turn and the later ones of its session, in their order.
func (w *workspace) turnsFrom(session, turn string) (ids []string, err error) {
	for before := ""; ; {
		page, more, err := w.d.store.Turns(session, before, 0)
		if err != nil {
			return nil, api.StoreError(err)
		}
		for _, t := range page {
			if ids = append(ids, t.ID); t.ID == turn {
				slices.Reverse(ids)
				return ids, nil
			}
		}
		if !more || len(page) == 0 {
			return nil, api.Errorf(api.KindNotFound, "no turn %s", turn)
		}
		before = page[len(page)-1].ID
	}
}

// cutTurns removes turns from a session's transcript, in the commit of what is taken back of them.
func (w *workspace) cutTurns(c *commit, cut *review.Cut) {
	ls, err := w.liveSession(cut.Session)
	if err != nil {
		w.log.Warn("a session is gone that was to be rewound", "session", cut.Session, "err", err)
		return
	}
	s := *ls.session
	for _, id := range cut.Turns {
		if w.turns[id] != nil {
			continue
		}
		w.seq++
		c.ops = append(c.ops, sessions.RemoveTurn{ID: id, Seq: w.seq})
		c.notes = append(c.notes, &Notification{Workspace: w.root, Kind: sessions.KindTurn, ID: id, Seq: w.seq, Removed: true})
		s.Turns = max(s.Turns-1, 0)
	}
	s.AgentSessionID, s.Rewound = nil, true
	w.dropNotes(c, func(n note) bool { return n.SessionID == s.ID })
	w.putSession(c, ls, &s)
}

// Why returns where the lines of a file come from: those from from to to (exclusive), counted from 0, or all for to < 0. The
// runs follow each other without a gap. A content without lines has none.
func (d *Daemon) Why(root, path string, from, to int) ([]api.WhyLine, error) {
	w, err := d.workspace(root)
	if err != nil {
		return nil, err
	}
	defer w.release()
	origins, err := w.review.Why(path, from, to)
	if err != nil {
		return nil, err
	}
	lines, prompts := make([]api.WhyLine, len(origins)), map[string]string{}
	for i, o := range origins {
		lines[i] = api.WhyLine{From: o.From, To: o.To}
		if o.Source == nil {
			continue
		}
		prompt, known := prompts[o.Source.TurnID]
		if !known {
			if t, err := d.store.Turn(o.Source.TurnID); err == nil { // else its session was deleted
				prompt = t.Asked()
			}
			prompts[o.Source.TurnID] = prompt
		}
		src := &api.WhySource{
			SessionID: o.Source.SessionID, TurnID: o.Source.TurnID, ItemID: o.Source.ItemID, Prompt: prompt, State: api.WhyAccepted,
		}
		if o.Pending {
			src.State = api.WhyPending
		}
		if o.At != 0 {
			src.At = &sessions.Time{Time: time.UnixMilli(o.At).UTC()}
		}
		lines[i].Source = src
	}
	return lines, nil
}
