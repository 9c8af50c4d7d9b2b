package daemon

import (
	"context"

	"cursord/daemon/api"
	"cursord/daemon/internal/drivers"
	"cursord/daemon/internal/forked"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/prompt"
	"cursord/sessions"
)

// ForkSession makes a session in the same workspace with the transcript of another, up to and with a turn that has ended; for
// the turn "", up to the first turn that has not. Turns and items are copied; their uncut details are shared. The chat is not copied: the fork's first turn begins one
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
	cp := forked.Copy{
		Session: s.ID, Last: p.TurnID, NewID: newID, Add: f.add,
		Images: func(paths []string) []string { return d.pictures.Share(paths, p.SessionID, f.id) },
	}
	if err = cp.All(ctx, d.store.Parts, p.SessionID); err == nil {
		s, err = f.end(func(s *sessions.Session) {
			s.Turns, s.UpdatedAt = cp.Turns, sessions.Now()
			s.ForkedFrom = &sessions.Fork{SessionID: p.SessionID, TurnID: cp.From}
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
			e.Hint = "fork without a turn, which takes those that have ended, or wait for it: cursord wait " + t.ID
			return nil, e
		}
	}
	title := prompt.ForkTitle(from.Title, w.root, w.d.store.Sessions)
	if p.Title != nil {
		title = *p.Title
	}
	isolation := p.Isolation
	if isolation == "" {
		isolation = from.Isolation
	}
	s, err := w.newSession(api.SessionParams{Title: &title, Model: from.Model, Mode: &from.Mode, Isolation: isolation, Driver: drivers.Of(from)})
	if err != nil {
		return nil, err
	}
	s.Sandbox, s.AutoReview, s.AddDirs = from.Sandbox, from.AutoReview, from.AddDirs
	s.ForkedFrom = &sessions.Fork{SessionID: from.ID}
	return s, nil
}
