package daemon

import (
	"slices"

	"cursord/sessions"
)

// A view is a diff as one client sees it.
type view struct {
	client ClientID
	file   *file
	diff   *sessions.Diff // nil: as all others do
}

// takeViews returns what clients are to be told of the files they hold unsaved.
func (r *reviewer) takeViews() (views []view) {
	for f := range r.viewed {
		if f.diff == nil {
			continue
		}
		clients := map[ClientID]bool{}
		for client := range f.buffers {
			clients[client] = true
		}
		for client := range f.views {
			clients[client] = true
		}
		for client := range clients {
			v := view{client: client, file: f}
			if b := f.buffers[client]; b != nil {
				v.diff = b.diff
			}
			if v.diff == f.views[client] {
				continue
			}
			if v.diff == nil {
				delete(f.views, client)
			} else {
				if f.views == nil {
					f.views = map[ClientID]*sessions.Diff{}
				}
				f.views[client] = v.diff
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
			delete(mine, v.file.path)
			if len(mine) == 0 {
				delete(w.views, v.client)
			}
		} else {
			if mine == nil {
				mine = map[string]*sessions.Diff{}
				w.views[v.client] = mine
			}
			mine[v.file.path] = v.diff
		}
		if slices.ContainsFunc(told, func(d *sessions.Diff) bool { return d.Path == v.file.path }) {
			continue
		}
		diff := *v.file.diff
		w.put(c, &diff, nil)
		v.file.diff = &diff
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
