package daemon

import (
	"cmp"
	"context"
	"errors"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/forked"
	"cursord/daemon/internal/origins"
	"cursord/daemon/internal/prompt"
	"cursord/daemon/internal/review"
	"cursord/sessions"
)

// errRewinding is the answer to who would change a session that is being rewound.
var errRewinding = &api.Error{Kind: api.KindBusy, Message: "this session is being rewound", Hint: "try again in a moment"}

// Rewind takes a session back to before one of its turns: that turn and the later ones leave the transcript, and with p.Files
// what they did to files is taken back, in one transaction. The next turn begins a fresh chat. It returns KindBusy while the
// session has unfinished turns, and waits as Decide does. With p.DryRun it changes nothing, and answers with the patch.
func (d *Daemon) Rewind(ctx context.Context, p api.RewindParams, reply func(api.Rewound, error)) {
	d.rewind(ctx, p, nil, reply)
}

// rewind is Rewind. In the transaction of the rewind, resend puts a turn that takes the place of the removed ones; it may be nil.
func (d *Daemon) rewind(ctx context.Context, p api.RewindParams, resend func(*commit, *liveSession), reply func(api.Rewound, error)) {
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
	stopped := w.call(func() { err = w.beginRewind(&p, resend) })
	if err = cmp.Or(stopped, err); err != nil {
		done(api.Rewound{}, err)
		return
	}
	end := func(out api.Rewound, err error) {
		_ = w.call(func() { w.endRewind(p.SessionID) }) // an error means that the loop has ended
		done(out, err)
	}
	turns, since, err := forked.From(d.store.Turns, p.SessionID, p.TurnID, p.LastTurnID)
	if err != nil {
		end(api.Rewound{}, err)
		return
	}
	cut := review.Cut{Session: p.SessionID, Turns: turns, Since: since.UnixMilli()}
	rw := review.Rewind{Client: p.Client, Cut: cut, Files: p.Files, Dry: p.DryRun}
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
func (w *workspace) beginRewind(p *api.RewindParams, resend func(*commit, *liveSession)) error {
	ls, err := w.liveSession(p.SessionID)
	switch {
	case err != nil:
		return err
	case ls.filling:
		return errFilling
	case ls.rewinds:
		return errRewinding
	case ls.turns > 0:
		return &api.Error{Kind: api.KindBusy, Message: "a turn of this session is running or queued", Hint: "cancel it first: cursord cancel"}
	}
	ls.rewinds, ls.resend = true, resend
	t, err := w.turn(p.TurnID)
	if err == nil && t.SessionID == p.SessionID {
		return nil
	}
	rewound := ls.session.Rewound
	w.endRewind(p.SessionID)
	switch {
	case resend != nil && rewound && errors.Is(err, sessions.ErrNotFound):
		return &api.Error{
			Kind: api.KindNotFound, Message: "no turn " + p.TurnID + ": turns of this session were taken back, and none has begun since",
			Hint: "start the turn without rewind",
		}
	case err != nil:
		return api.StoreError(err)
	}
	return api.Invalid("turnId", "turn %s is of session %s, not of %s", t.ID, t.SessionID, p.SessionID)
}

func (w *workspace) endRewind(session string) {
	if ls := w.sessions[session]; ls != nil {
		ls.rewinds, ls.resend = false, nil
		if ls.unstored == 0 && ls.turns == 0 {
			delete(w.sessions, session)
		}
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
		if t, err := w.turn(id); err == nil {
			s.Spend(t)
			s.Title = prompt.Retitle(s.Title, t.Prompt, ls.resend != nil && s.Turns == len(cut.Turns))
		}
		w.seq++
		c.ops = append(c.ops, sessions.RemoveTurn{ID: id, Seq: w.seq})
		c.notes = append(c.notes, &Notification{Workspace: w.root, Kind: sessions.KindTurn, ID: id, Seq: w.seq, Removed: true})
		s.Turns = max(s.Turns-1, 0)
	}
	s.AgentSessionID, s.Rewound = nil, true
	w.remarks.DropFor(&c.ops, s.ID) // they may be about the turns that go
	for _, told := range cut.Told {
		w.remarks.Keep(&c.ops, told.Group, decisionlog.Rejection{Session: s.ID, Text: told.Text, Comment: told.Comment})
	}
	w.putSession(c, ls, &s)
	if ls.resend != nil && !w.stopping {
		ls.resend(c, ls)
	}
}

// resend takes turns of a session back and starts the turn of p in their place, in one transaction: both happen, or neither.
func (w *workspace) resend(p api.TurnParams, begin func(*commit, *liveSession, turnReply), reply turnReply) {
	var session *sessions.Session
	var turn *sessions.Turn
	put := func(c *commit, ls *liveSession) {
		begin(c, ls, func(s *sessions.Session, t *sessions.Turn, _ error) { // the rewind has the error
			session, turn = s, t
			w.schedule()
		})
	}
	rw := api.RewindParams{Client: p.Client, SessionID: p.SessionID, TurnID: p.Rewind, Files: true}
	w.d.rewind(context.Background(), rw, put, func(out api.Rewound, err error) {
		answer := func() { reply(session, turn, err) }
		switch {
		case err == nil && turn == nil:
			err = &api.Error{Kind: api.KindUnavailable, Message: "the turns were taken back, but the daemon ended before the new one began", Hint: "start it without rewind"}
		case err == nil:
			p.TookBack(out)
		}
		if w.call(answer) != nil {
			answer()
		}
	})
}

// Why returns where the lines of a file come from: those from from to to (exclusive), counted from 0, or all for to < 0. The
// runs follow each other without a gap. A content without lines has none. forgotten says that a history of the file was dropped.
func (d *Daemon) Why(ctx context.Context, root, path string, from, to int) (lines []api.WhyLine, forgotten bool, err error) {
	err = d.tell(root, func(t *origins.Teller) (err error) { lines, forgotten, err = t.File(ctx, path, from, to); return err })
	return lines, forgotten, err
}

// CommitWhy returns the origins of the lines that a commit adds to files of a workspace; commits.Read says which these are.
func (d *Daemon) CommitWhy(ctx context.Context, root, rev string, amend bool) (out api.CommitWhy, err error) {
	err = d.tell(root, func(t *origins.Teller) (err error) { out, err = t.Commit(ctx, rev, amend); return err })
	return out, err
}

func (d *Daemon) tell(root string, f func(*origins.Teller) error) error {
	w, err := d.workspace(root)
	if err != nil {
		return err
	}
	defer w.release()
	return f(&origins.Teller{Store: d.store, Root: w.root, Own: w.review, Open: func(root string) (origins.Workspace, func(), error) {
		other, err := d.workspaceAt(root)
		if err != nil {
			return nil, nil, err
		}
		return other.review, other.release, nil
	}})
}
