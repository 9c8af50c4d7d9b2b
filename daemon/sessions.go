package daemon

import (
	"cmp"
	"encoding/json"
	"errors"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/daemon/internal/drivers"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

const (
	listDefault = 50
	listMax     = 1000
)

// newSession makes a session; it is not stored yet.
func (w *workspace) newSession(p api.SessionParams) (*sessions.Session, error) {
	now := sessions.Now()
	s := &sessions.Session{
		ID: newID(), Workspace: w.root, Mode: sessions.ModeAgent, Isolation: p.Isolation, State: sessions.SessionIdle,
		Driver: drivers.Chosen(p.Driver, p.AgentSessionID, w.d.settings()), CreatedAt: now, UpdatedAt: now,
	}
	if s.Isolation == "" {
		s.Isolation = config.IsolationNone
		if p.AgentSessionID == "" { // a chat of the workspace cannot go on in a copy
			s.Isolation = w.d.settings().IsolationFor(w.root)
		}
	}
	if err := w.copies(s.Isolation); err != nil {
		return nil, err
	}
	if p.AgentSessionID != "" {
		s.AgentSessionID = &p.AgentSessionID
	}
	applyParams(&p, s)
	if len(w.sessions) == 0 && w.d.socket != "" {
		if err := endpoint.MarkNewFolder(w.d.socket); err != nil {
			w.d.log.Warn("open editors do not notice the folder's first session by themselves", "workspace", w.root, "err", err)
		}
	}
	return s, nil
}

func applyParams(p *api.SessionParams, s *sessions.Session) {
	if p.Title != nil {
		s.Title = *p.Title
	}
	if p.Model != nil {
		s.Model = p.Model
	}
	if p.Mode != nil {
		s.Mode = *p.Mode
	}
	params.ApplyPermits(&p.Permits, s)
}

// copies refuses to isolate sessions of a folder that is too wide for a copy.
func (w *workspace) copies(isolation string) error {
	why := snapshot.TooWide(w.root)
	if why == "" || isolation != config.IsolationCopy {
		return nil
	}
	e := api.Invalid("isolation", "%s is not copied: %s", w.root, why)
	e.Hint = `open a folder further down, or work without a copy (isolation "none")`
	return e
}

// isolate changes the isolation of a session that has no turn and continues no chat: its agent has worked nowhere yet.
func (w *workspace) isolate(s *sessions.Session, asked string) error {
	if s.Turns > 0 || s.AgentSessionID != nil || asked == "" {
		return drivers.Keep(s, asked, "")
	}
	if err := w.copies(asked); err != nil {
		return err
	}
	s.Isolation = asked
	return nil
}

// session returns the newest form of a session, live or stored.
func (w *workspace) session(id string) (*sessions.Session, error) {
	if ls := w.sessions[id]; ls != nil {
		return ls.session, nil
	}
	s, err := w.d.store.Session(id)
	if err != nil {
		return nil, api.StoreError(err)
	}
	return s, nil
}

// liveSession returns the loop's record of a session of this workspace, and makes it from the stored one if necessary; nil
// for "".
func (w *workspace) liveSession(id string) (*liveSession, error) {
	if id == "" {
		return nil, nil
	}
	if ls := w.sessions[id]; ls != nil {
		return ls, nil
	}
	s, err := w.d.store.Session(id)
	if err != nil {
		return nil, api.StoreError(err)
	}
	if s.Workspace != w.root {
		e := api.Invalid("sessionId", "the session belongs to the workspace %s", s.Workspace)
		e.Hint = "start a new session here with its transcript as context: recap (cursord run --recap)"
		return nil, e
	}
	ls := &liveSession{session: s, build: w.buildBefore(id)}
	w.sessions[id] = ls
	return ls, nil
}

// CreateSession stores a session without turns.
func (d *Daemon) CreateSession(root string, p api.SessionParams) (*sessions.Session, error) {
	w, err := d.workspace(root)
	if err != nil {
		return nil, err
	}
	defer w.release()
	if err := params.CheckSession(&p); err != nil {
		return nil, err
	}
	if err := params.ResolvePermits(&p.Permits, w.root); err != nil {
		return nil, err
	}
	return stored(w, func(c *commit) (*sessions.Session, error) {
		s, err := w.newSession(p)
		if err != nil {
			return nil, err
		}
		ls := &liveSession{session: s}
		w.sessions[s.ID] = ls
		w.putSession(c, ls, s)
		return s, nil
	})
}

// UpdateSession changes a session's title, model or mode; queued turns keep theirs.
func (d *Daemon) UpdateSession(id string, p api.SessionParams) (*sessions.Session, error) {
	w, err := d.workspaceOfSession(id)
	if err != nil {
		return nil, err
	}
	defer w.release()
	if err := params.CheckSession(&p); err != nil {
		return nil, err
	}
	if err := params.ResolvePermits(&p.Permits, w.root); err != nil {
		return nil, err
	}
	return stored(w, func(c *commit) (*sessions.Session, error) {
		ls, err := w.liveSession(id)
		if err != nil {
			return nil, err
		}
		s := *ls.session
		if err := cmp.Or(drivers.Keep(&s, "", p.Driver), w.isolate(&s, p.Isolation)); err != nil {
			return nil, err
		}
		applyParams(&p, &s)
		w.putSession(c, ls, &s)
		return &s, nil
	})
}

// stored runs change in w's loop, stores what it put, and returns change's value once that is durable.
func stored[T any](w *workspace, change func(*commit) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	ch := make(chan answer, 1)
	w.d.tryDisk()
	ok := w.do(func() {
		var none T
		if err := w.d.store.Trouble(); err != nil {
			ch <- answer{none, api.StoreError(err)}
			return
		}
		var c commit
		v, err := change(&c)
		if err != nil || len(c.ops) == 0 {
			ch <- answer{v, err}
			return
		}
		c.replies = append(c.replies, func(err error) { ch <- answer{v, err} })
		w.submit(&c)
	})
	var none T
	if !ok {
		return none, api.ErrStopped
	}
	select {
	case a := <-ch:
		return a.v, a.err
	case <-w.done:
		return none, api.ErrStopped
	}
}

// DeleteSession deletes a session with its turns, and its copy of the workspace with everything to review there. It returns
// KindBusy while the session has unfinished turns.
func (d *Daemon) DeleteSession(id string) error { return d.deleteSession(id, 0) }

// deleteSession is DeleteSession. With a seq, it keeps a session that has changed since, and returns KindConflict.
func (d *Daemon) deleteSession(id string, seq uint64) error {
	w, err := d.workspaceOfSession(id)
	if err != nil {
		return err
	}
	defer w.release()
	_, err = stored(w, func(c *commit) (struct{}, error) {
		var none struct{}
		if ls := w.sessions[id]; ls != nil && ls.filling {
			return none, errFilling
		} else if ls != nil && ls.rewinds {
			return none, errRewinding
		} else if ls != nil && ls.turns > 0 {
			return none, &api.Error{Kind: api.KindBusy, Message: "a turn of this session is running or queued", Hint: "cancel it first: cursord cancel"}
		}
		switch s, err := w.session(id); {
		case err != nil:
			return none, err
		case seq != 0 && s.Seq != seq:
			return none, api.Errorf(api.KindConflict, "session %s has changed", id)
		}
		delete(w.sessions, id)
		w.remarks.DropFor(&c.ops, id)
		w.seq++
		c.ops = append(c.ops, sessions.RemoveSession{ID: id, Seq: w.seq})
		c.notes = append(c.notes, &Notification{
			Workspace: w.root, Kind: sessions.KindSession, ID: id, Seq: w.seq, Removed: true,
		})
		return none, nil
	})
	if err == nil {
		err = w.review.SessionDeleted(id)
		d.copies.Look()
		go d.drivers.EndSession(id)
		if gone := d.pictures.Drop(id); gone != nil {
			d.log.Warn("the images of a deleted session could not be removed", "err", gone)
		}
	}
	return err
}

// ListSessions lists sessions in JSON, the most recently updated first; root "" stands for all workspaces.
func (d *Daemon) ListSessions(root string, limit int, cursor string) ([]json.RawMessage, string, error) {
	if root != "" {
		r, err := d.knownRoot(root)
		if err != nil {
			return nil, "", err
		}
		root = r
	}
	list, next, err := d.store.SessionsJSON(root, cursor, pageSize(limit))
	if errors.Is(err, sessions.ErrBadCursor) {
		return nil, "", api.Invalid("cursor", "is not from session/list")
	}
	return list, next, api.StoreError(err)
}

// ReadSession returns a page of a session's transcript: the newest, or the one before the item named.
func (d *Daemon) ReadSession(id, before string, limit int) (api.Transcript, error) {
	s, err := d.store.Session(id)
	if err != nil {
		return api.Transcript{}, api.StoreError(err)
	}
	turns, items, more, err := d.store.Transcript(id, before, pageSize(limit))
	if errors.Is(err, sessions.ErrNotFound) {
		return api.Transcript{}, api.Invalid("before", "no such item in this session")
	}
	return api.Transcript{Session: s, Turns: turns, Items: items, More: more}, api.StoreError(err)
}

// ReadItem returns an item with nothing cut; of one that runs, the text so far.
func (d *Daemon) ReadItem(id string) (*sessions.Item, error) {
	item, err := d.store.Item(id)
	if err == nil && item.Tool == nil && item.Status == sessions.ItemRunning {
		if growing := d.growing(item); growing != nil {
			return growing, nil
		}
		item, err = d.store.Item(id) // it may have ended
	}
	if err != nil {
		return nil, api.StoreError(err)
	}
	detail, err := d.store.ItemDetail(id)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
	case err != nil:
		return nil, api.StoreError(err)
	default:
		tool, err := wire.DecodeTool(detail)
		if err != nil {
			return nil, api.Errorf(api.KindStorage, "item %s: %v", id, err)
		}
		item.Tool = tool
	}
	return item, nil
}

// growing returns a text item with what subscribers have got of it; nil if it does not grow any more.
func (d *Daemon) growing(item *sessions.Item) (now *sessions.Item) {
	for _, w := range d.loops() {
		if w.root == item.Workspace {
			_ = w.call(func() { now = w.texts[item.ID].sent() }) // a loop that has ended has none
		}
	}
	return now
}

func pageSize(limit int) int {
	if limit <= 0 {
		return listDefault
	}
	return min(limit, listMax)
}
