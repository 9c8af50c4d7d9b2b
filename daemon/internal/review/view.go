package review

import (
	"cursord/daemon/api"
	"cursord/daemon/internal/views"
)

// takeViews returns new views for clients that hold the viewed files unsaved.
func (r *Reviewer) takeViews() (list []*views.View) {
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
		for client := range r.views.At(path) {
			clients[client] = true
		}
		for client := range clients {
			diff, made := r.viewOf(client, path)
			if v := r.views.Put(client, path, r.published[path], diff, made); v != nil {
				list = append(list, v)
			}
		}
	}
	clear(r.viewed)
	return list
}

// DocumentsClosed has the reviewer drop a client's views, because the client is gone.
func (r *Reviewer) DocumentsClosed(client api.ClientID) {
	r.later.Put(func() {
		r.views.Forget(client)
		r.setup.Loop.ForgetClient(client)
	})
}
