package review

import (
	"fmt"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/diffshape"
	"cursord/sessions"
)

// This file merges the pending hunks of a path, from the work tree and from sessions' copies, into one diff.

// compose makes the diff of a path, for publishing, from the diffs of its files; nil if it has none. It keeps the published
// revision if nothing has changed. Otherwise the revision is 0, and the workspace gives it one (put).
func (r *Reviewer) compose(path string) *sessions.Diff {
	old := r.published[path]
	var parts []*sessions.Diff
	made := strings.Builder{}
	made.WriteByte(';') // so that a first diff without hunks counts as new too
	for _, f := range r.at(path) {
		if f.diff != nil {
			parts = append(parts, f.diff)
			fmt.Fprintf(&made, "%d.%d ", f.n, f.diff.Rev)
		}
	}
	d := diffshape.Merged(parts)
	switch {
	case d == nil && old == nil:
		return nil
	case d == nil:
		d = diffshape.Cleared(old)
	}
	if d.Rev = 0; old != nil && r.composed[path] == made.String() && diffshape.SameDiff(d, old) {
		d.Rev = old.Rev
	}
	r.published[path], r.composed[path] = d, made.String()
	if len(r.views.At(path)) > 0 {
		r.viewed[path] = true
	}
	return d
}

// shown returns the diff of a path as it was last sent to a client.
func (r *Reviewer) shown(client api.ClientID, path string) *sessions.Diff {
	published := r.published[path]
	v := r.views.At(path)[client]
	if v == nil {
		return published
	}
	d := *v.Diff
	d.Seq = published.Seq
	return &d
}

// viewOf returns the diff of a path for a client that holds the file unsaved, and the revisions that make it up. It returns
// nil for other clients.
func (r *Reviewer) viewOf(client api.ClientID, path string) (*sessions.Diff, string) {
	var parts []*sessions.Diff
	made, differs := strings.Builder{}, false
	for _, f := range r.at(path) {
		if b := f.Buffers[client]; b != nil && b.Diff != nil {
			parts = append(parts, b.Diff)
			fmt.Fprintf(&made, "%d/%d ", f.n, b.Changes)
			differs = true
		} else if f.diff != nil {
			parts = append(parts, f.diff)
			fmt.Fprintf(&made, "%d.%d ", f.n, f.diff.Rev)
		}
	}
	if !differs {
		return nil, ""
	}
	return diffshape.Merged(parts), made.String()
}
