package daemon

import (
	"fmt"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// A view is a diff as one client sees it.
type view struct {
	client api.ClientID
	path   string
	diff   *sessions.Diff // nil: as all others do
	made   string         // of what
}

// takeViews returns what clients are to be told of the files they hold unsaved.
func (r *reviewer) takeViews() (views []*view) {
	for path := range r.viewed {
		if r.told[path] == nil {
			continue
		}
		clients := map[api.ClientID]bool{}
		for _, f := range r.at(path) {
			for client := range f.buffers {
				clients[client] = true
			}
		}
		for client := range r.views[path] {
			clients[client] = true
		}
		for client := range clients {
			if v := r.view(client, path); v != nil {
				views = append(views, v)
			}
		}
	}
	clear(r.viewed)
	return views
}

// view returns how a client sees a path, if it was told otherwise, and keeps that.
func (r *reviewer) view(client api.ClientID, path string) *view {
	told, old := r.told[path], r.views[path][client]
	v := &view{client: client, path: path}
	v.diff, v.made = r.viewOf(client, path)
	if v.diff == nil && old != nil && told.Rev != 0 && told.Rev < old.diff.Rev {
		// The client comes back to what the others see all along. For it that is a new state.
		d := *told
		v.diff, v.made = &d, fmt.Sprint("told ", told.Rev)
	}
	switch {
	case v.diff == nil && old == nil:
		return nil
	case v.diff == nil:
		delete(r.views[path], client)
		return v
	case old != nil && old.made == v.made && sameDiff(old.diff, v.diff):
		return nil
	}
	if r.views[path] == nil {
		r.views[path] = map[api.ClientID]*view{}
	}
	r.views[path][client] = v
	return v
}

// numberViews gives views their revisions. That comes before something is put, so that these numbers are on disk as
// given out when the views are told.
func (w *workspace) numberViews(views []*view) {
	for _, v := range views {
		if v.diff != nil {
			w.seq++
			v.diff.Rev = w.seq
		}
	}
}

// forgetViews drops how a client saw files; it is gone.
func (r *reviewer) forgetViews(client api.ClientID) {
	for path, views := range r.views {
		if delete(views, client); len(views) == 0 {
			delete(r.views, path)
		}
	}
	// An error says that the loop has ended, and its views with it.
	_ = r.w.call(func() { delete(r.w.views, client) })
}

// putViews has clients told how they see the files that they hold unsaved. Others are told nothing: for them nothing
// has happened. What is told in c anyway is told with it. The reviewer waits meanwhile.
func (w *workspace) putViews(c *commit, views []*view, told []*sessions.Diff) {
	for _, v := range views {
		mine := w.views[v.client]
		if v.diff == nil {
			delete(mine, v.path)
			if len(mine) == 0 {
				delete(w.views, v.client)
			}
		} else {
			if mine == nil {
				mine = map[string]*sessions.Diff{}
				w.views[v.client] = mine
			}
			mine[v.path] = v.diff
		}
		if slices.ContainsFunc(told, func(d *sessions.Diff) bool { return d.Path == v.path }) {
			continue
		}
		diff := *w.review.told[v.path]
		w.put(c, &diff, nil)
		w.review.told[v.path] = &diff
		c.notes[len(c.notes)-1].only = v.client
	}
}

// viewed returns n as the client of the subscription sees it.
func (s *Subscription) viewed(n *Notification) *Notification {
	v := s.w.views[s.client][n.ID]
	if v == nil {
		return n
	}
	diff := *v
	diff.Seq = n.Seq
	return &Notification{Workspace: n.Workspace, Kind: n.Kind, ID: n.ID, Seq: n.Seq, JSON: wire.Encode(&diff)}
}
