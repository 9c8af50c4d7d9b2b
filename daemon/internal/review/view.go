package review

import (
	"fmt"

	"cursord/daemon/api"
	"cursord/daemon/internal/diffshape"
	"cursord/sessions"
)

// A View is a diff for a client that holds the file unsaved.
type View struct {
	Client    api.ClientID
	Path      string
	Diff      *sessions.Diff // nil: the client sees the same as all others
	Published *sessions.Diff // the diff for all others; the loop replaces it when it gives the diff a new seq

	made string // the revisions that make up Diff
}

// takeViews returns new views for clients that hold the viewed files unsaved.
func (r *Reviewer) takeViews() (views []*View) {
	for path := range r.viewed {
		if r.published[path] == nil {
			continue
		}
		clients := map[api.ClientID]bool{}
		for _, f := range r.at(path) {
			for client := range f.Buffers {
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

// view returns and keeps the client's view of a path. It returns nil if the client has been sent that view already.
func (r *Reviewer) view(client api.ClientID, path string) *View {
	published, old := r.published[path], r.views[path][client]
	v := &View{Client: client, Path: path, Published: published}
	v.Diff, v.made = r.viewOf(client, path)
	if v.Diff == nil && old != nil && published.Rev != 0 && published.Rev < old.Diff.Rev {
		// The client sees the same as the others again. For the client that is a new state.
		d := *published
		v.Diff, v.made = &d, fmt.Sprint("told ", published.Rev)
	}
	switch {
	case v.Diff == nil && old == nil:
		return nil
	case v.Diff == nil:
		delete(r.views[path], client)
		return v
	case old != nil && old.made == v.made && diffshape.SameDiff(old.Diff, v.Diff):
		return nil
	}
	if r.views[path] == nil {
		r.views[path] = map[api.ClientID]*View{}
	}
	r.views[path][client] = v
	return v
}

// DocumentsClosed has the reviewer drop a client's views, because the client is gone.
func (r *Reviewer) DocumentsClosed(client api.ClientID) {
	r.later.Put(func() {
		for path, views := range r.views {
			if delete(views, client); len(views) == 0 {
				delete(r.views, path)
			}
		}
		r.setup.Loop.ForgetClient(client)
	})
}
