package daemon

import (
	"bytes"
	"slices"

	"cursord/sessions"
)

// A view is a diff as one client sees it.
type view struct {
	client ClientID
	path   string
	diff   *sessions.Diff // nil: as all others do
}

// takeViews returns what clients are to be told of the files they hold unsaved.
func (r *reviewer) takeViews() (views []view) {
	for path := range r.viewed {
		if r.told[path] == nil {
			continue
		}
		clients := map[ClientID]bool{}
		for _, f := range r.at(path) {
			for client := range f.buffers {
				clients[client] = true
			}
		}
		for client := range r.views[path] {
			clients[client] = true
		}
		for client := range clients {
			v := view{client, path, r.viewOf(client, path)}
			old := r.views[path][client]
			if v.diff == nil && old == nil || v.diff != nil && old != nil && bytes.Equal(encode(v.diff), encode(old)) {
				continue
			}
			if v.diff == nil {
				delete(r.views[path], client)
			} else {
				if r.views[path] == nil {
					r.views[path] = map[ClientID]*sessions.Diff{}
				}
				r.views[path][client] = v.diff
			}
			views = append(views, v)
		}
	}
	clear(r.viewed)
	return views
}

// putViews has clients told how they see the files that they hold unsaved. Others are told nothing: for them nothing
// has happened. What is told in c anyway is told with it. The reviewer waits meanwhile.
func (w *workspace) putViews(c *commit, views []view, told []*sessions.Diff) {
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
	return &Notification{Workspace: n.Workspace, Kind: n.Kind, ID: n.ID, Seq: n.Seq, JSON: encode(&diff)}
}
