package daemon

import (
	"context"
	"slices"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/prompt"
	"cursord/daemon/internal/recap"
	"cursord/daemon/pictures"
	"cursord/sessions"
)

// This file is about what goes with a turn's prompt.

// contextOf returns what goes with a turn's prompt beside remarks; the agent works at a site.
func (w *workspace) contextOf(ctx context.Context, t *liveTurn, s *sessions.Session, at site, remarks []string, notice func(string)) []api.Context {
	context := w.withRecap(ctx, t, remarks, notice)
	if s.Isolation != config.IsolationCopy {
		return context
	}
	return w.d.pictures.Placed(context, s.ID, w.root, at.tree.Root(), notice)
}

// recapSource returns the session whose transcript a turn asks for, if that belongs to another workspace, such as this one
// before it was moved; otherwise "". The turn then gets a session of its own.
func (w *workspace) recapSource(p *api.TurnParams) (string, error) {
	if !p.Recap || p.SessionID == "" || w.sessions[p.SessionID] != nil {
		return "", nil
	}
	s, err := w.d.store.Session(p.SessionID)
	if err != nil {
		return "", api.StoreError(err)
	}
	if s.Workspace == w.root {
		return "", nil
	}
	p.SessionID = ""
	return s.ID, nil
}

// withRecap returns what goes with a turn's prompt, with the transcript first if it is asked for.
func (w *workspace) withRecap(ctx context.Context, t *liveTurn, remarks []string, notice func(string)) []api.Context {
	if t.recapOf == "" {
		return t.context
	}
	w.awaitStored(ctx)
	text, remark, err := recap.Stored(w.d.store, w.root, t.recapOf, remarks, w.d.settings().RecapSize)
	switch {
	case err != nil:
		w.log.Error("no recap", "session", t.recapOf, "err", err)
		notice("a fresh chat has begun without the transcript, which cannot be read: " + api.StoreError(err).Error())
	case text != "":
		notice(remark)
		return append([]api.Context{{Kind: prompt.KindTranscript, Text: text}}, t.context...)
	}
	return t.context
}

// awaitStored waits until everything said so far is stored, or the disk takes no changes.
func (w *workspace) awaitStored(ctx context.Context) {
	const patience = 5 * time.Second
	stored := make(chan struct{})
	w.d.store.Submit(w.root, nil, func(error) { close(stored) })
	select {
	case <-stored:
	case <-ctx.Done():
	case <-time.After(patience):
	}
}

// turnPictures are the images of a turn. They are taken before the loop gets the turn, because that takes the disk.
type turnPictures struct {
	pictures.Taken
	session string // the id of the session that the turn is to make; "": any
	err     error  // why the turn is refused
}

// pictures takes the images of a turn.
func (w *workspace) pictures(p *api.TurnParams) *turnPictures {
	pics := &turnPictures{}
	if !slices.ContainsFunc(p.Context, func(c api.Context) bool { return c.Kind == pictures.Kind }) {
		return pics
	}
	session := p.SessionID
	// With a recap, a turn for another workspace's session gets a session of its own.
	if s, err := w.d.store.Session(p.SessionID); p.SessionID == "" || err == nil && s.Workspace != w.root {
		session = newID()
		pics.session = session
	}
	pics.Taken, pics.err = w.d.pictures.Take(p.Context, w.root, session)
	return pics
}
