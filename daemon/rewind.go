package daemon

import (
	"context"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/origins"
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
// runs follow each other without a gap. A content without lines has none. forgotten says that a history of the file was dropped.
func (d *Daemon) Why(root, path string, from, to int) (lines []api.WhyLine, forgotten bool, err error) {
	w, err := d.workspace(root)
	if err != nil {
		return nil, false, err
	}
	defer w.release()
	found, forgotten, err := w.review.Why(path, from, to)
	teller := origins.Teller{Turn: d.store.Turn}
	return teller.Lines(found), forgotten, err
}

// CommitWhy returns where the lines come from that a commit adds to files of a workspace; with rev "", those of the next commit.
func (d *Daemon) CommitWhy(ctx context.Context, root, rev string) (out api.CommitWhy, err error) {
	w, err := d.workspace(root)
	if err != nil {
		return out, err
	}
	defer w.release()
	c, err := w.review.Commit(ctx, rev)
	if err != nil {
		return out, err
	}
	teller := origins.Teller{Turn: d.store.Turn}
	return teller.Commit(ctx, c, w.review.WhyText)
}
