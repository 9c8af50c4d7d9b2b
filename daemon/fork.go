package daemon

import (
	"context"
	"encoding/json"

	"cursord/daemon/api"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/prompt"
	"cursord/sessions"
)

// ForkSession makes a session in the same workspace with the transcript of another, up to and with a turn that has ended; for
// the turn "", up to the first turn that has not. Turns and items are copied with ids of their own, because each object has
// one session, one id and one seq; their uncut details are shared. The chat is not copied: the fork's first turn begins one
// with the transcript as context. With isolation "", the fork works where the other does, in a copy of its own.
func (d *Daemon) ForkSession(ctx context.Context, p api.ForkParams) (*sessions.Session, error) {
	if err := params.CheckSession(&api.SessionParams{Title: p.Title, Isolation: p.Isolation}); err != nil {
		return nil, err
	}
	w, err := d.workspaceOfSession(p.SessionID)
	if err != nil {
		return nil, err
	}
	defer w.release()
	var s *sessions.Session
	var failed error
	err = w.call(func() { s, failed = w.forkOf(&p) })
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	w.awaitStored(ctx)
	f, err := w.fill(*s)
	if err != nil {
		return nil, err
	}
	cp := forking{f: f, last: p.TurnID, images: func(paths []string) []string { return d.pictures.Share(paths, p.SessionID, s.ID) }}
	if err = cp.copyFrom(ctx, d.store, p.SessionID); err == nil {
		s, err = f.end(func(s *sessions.Session) {
			s.Turns, s.UpdatedAt = cp.turns, sessions.Now()
			s.ForkedFrom = &sessions.Fork{SessionID: p.SessionID, TurnID: cp.from}
		})
	}
	if err != nil {
		f.undo()
		return nil, err
	}
	return s, nil
}

// forkOf checks what is to be forked, and returns the new session without turns.
func (w *workspace) forkOf(p *api.ForkParams) (*sessions.Session, error) {
	from, err := w.session(p.SessionID)
	if err != nil {
		return nil, err
	}
	if ls := w.sessions[p.SessionID]; ls != nil && ls.filling {
		return nil, errFilling
	}
	if p.TurnID != "" {
		switch t, err := w.turn(p.TurnID); {
		case err != nil:
			return nil, api.StoreError(err)
		case t.SessionID != from.ID:
			return nil, api.Invalid("turnId", "turn %s is of session %s, not of %s", t.ID, t.SessionID, from.ID)
		case !t.Status.Final():
			e := api.Errorf(api.KindBusy, "turn %s has not ended", t.ID)
			e.Hint = "fork without a turn, which takes those that have ended, or wait for it (turn/wait)"
			return nil, e
		}
	}
	title := prompt.ForkTitle(from.Title)
	if p.Title != nil {
		title = *p.Title
	}
	isolation := p.Isolation
	if isolation == "" {
		isolation = from.Isolation
	}
	s, err := w.newSession(api.SessionParams{Title: &title, Model: from.Model, Mode: &from.Mode, Isolation: isolation})
	if err != nil {
		return nil, err
	}
	s.Sandbox, s.AutoReview, s.AddDirs = from.Sandbox, from.AutoReview, from.AddDirs
	s.ForkedFrom = &sessions.Fork{SessionID: from.ID}
	return s, nil
}

// A forking copies turns and items into a fork.
type forking struct {
	f      *filling
	last   string // the last turn to copy; "": all that have ended
	images func(paths []string) []string

	turns int    // number of those copied
	from  string // the last of them, by its old id
	to    string // the same by its new id
}

func (cp *forking) copyFrom(ctx context.Context, store *sessions.Store, session string) error {
	for at := (sessions.Place{}); !at.End; {
		parts, next, err := store.Parts(session, at)
		if err != nil {
			return api.StoreError(err)
		}
		for _, p := range parts {
			if err := ctx.Err(); err != nil {
				return &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
			}
			over, err := cp.part(p)
			if err != nil || over {
				return err
			}
		}
		at = next
	}
	return nil
}

// part copies a turn or an item; over reports that it is behind what is to be copied.
func (cp *forking) part(p sessions.Part) (over bool, err error) {
	if p.Kind == sessions.KindTurn {
		t := new(sessions.Turn)
		if err := json.Unmarshal(p.JSON, t); err != nil {
			return false, api.Errorf(api.KindStorage, "a turn of a session that is forked: %v", err)
		}
		if cp.from != "" && cp.from == cp.last || !t.Status.Final() {
			return true, nil
		}
		cp.from, cp.to = t.ID, newID()
		cp.turns++
		t.ID, t.SessionID, t.Images = cp.to, cp.f.id, cp.images(t.Images)
		return false, cp.f.add(t, nil, len(p.JSON))
	}
	it := new(sessions.Item)
	if err := json.Unmarshal(p.JSON, it); err != nil {
		return false, api.Errorf(api.KindStorage, "an item of a session that is forked: %v", err)
	}
	it.TurnID, it.SessionID = cp.to, cp.f.id
	it.ID = sessions.ItemID(it.TurnID, it.Index)
	return false, cp.f.add(it, p.Detail, len(p.JSON)+len(p.Detail))
}
