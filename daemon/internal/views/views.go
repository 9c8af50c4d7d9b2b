// Package views keeps how clients see the diffs of files that they hold unsaved.
package views

import (
	"fmt"
	"maps"

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

// A Set has the views that clients have been sent. The zero Set has none.
type Set struct {
	of map[string]map[api.ClientID]*View // by path
}

// At returns the views of a path by their clients; it must not be changed.
func (b *Set) At(path string) map[api.ClientID]*View { return b.of[path] }

// Put returns a client's view of a path, and keeps it; nil if the client has been sent that view already. published is the diff for all
// others, and diff the client's, made from the revisions made, or nil.
func (b *Set) Put(client api.ClientID, path string, published, diff *sessions.Diff, made string) *View {
	old := b.of[path][client]
	if diff == nil && old != nil && published.Rev != 0 && published.Rev < old.Diff.Rev {
		// The client sees the same as the others again. For the client that is a new state.
		d := *published
		diff, made = &d, fmt.Sprint("told ", published.Rev)
	}
	v := &View{Client: client, Path: path, Diff: diff, Published: published, made: made}
	switch {
	case diff == nil && old == nil:
		return nil
	case diff == nil:
		delete(b.of[path], client)
		return v
	case old != nil && old.made == made && diffshape.SameDiff(old.Diff, diff):
		return nil
	}
	if b.of == nil {
		b.of = map[string]map[api.ClientID]*View{}
	}
	if b.of[path] == nil {
		b.of[path] = map[api.ClientID]*View{}
	}
	b.of[path][client] = v
	return v
}

// Forget drops a client's views.
func (b *Set) Forget(client api.ClientID) {
	for _, views := range b.of {
		delete(views, client)
	}
	maps.DeleteFunc(b.of, func(_ string, views map[api.ClientID]*View) bool { return len(views) == 0 })
}
