package review

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/sessions"
)

// This file makes one diff of what is pending at a path in the work tree and in sessions' copies of it.

// kindsByStrength are the kinds of diffs, the strongest first.
var kindsByStrength = []sessions.DiffKind{
	sessions.DiffBinary, sessions.DiffLarge, sessions.DiffSymlink, sessions.DiffCreated, sessions.DiffDeleted, sessions.DiffRenamed,
	sessions.DiffMode, sessions.DiffModified,
}

// compose makes the diff of a path, as it is to be told, from those of its files; nil if there is nothing to tell. Its
// revision is that of the state told last if it is the same, and else 0: the workspace gives it one (put).
func (r *Reviewer) compose(path string) *sessions.Diff {
	old := r.told[path]
	var parts []*sessions.Diff
	made := strings.Builder{}
	made.WriteByte(';') // also of nothing it is made, once
	for _, f := range r.at(path) {
		if f.diff != nil {
			parts = append(parts, f.diff)
			fmt.Fprintf(&made, "%d.%d ", f.n, f.diff.Rev)
		}
	}
	d := merged(parts)
	switch {
	case d == nil && old == nil:
		return nil
	case d == nil:
		d = cleared(old)
	}
	if d.Rev = 0; old != nil && r.composed[path] == made.String() && sameDiff(d, old) {
		d.Rev = old.Rev
	}
	r.told[path], r.composed[path] = d, made.String()
	if len(r.views[path]) > 0 {
		r.viewed[path] = true
	}
	return d
}

// cleared returns a diff with nothing to review.
func cleared(old *sessions.Diff) *sessions.Diff {
	d := *old
	d.OldPath, d.OldMode, d.NewMode, d.OldTarget, d.NewTarget = "", "", "", "", ""
	d.Kind, d.State, d.Hunks, d.Turns = sessions.DiffModified, "clean", []sessions.Hunk{}, []string{}
	d.Added, d.Removed, d.Seq = 0, 0, 0
	return &d
}

// merged returns the diff that has the hunks of all; nil of none. Beside the hunks, what is said is said of the first
// that has any.
func merged(parts []*sessions.Diff) *sessions.Diff {
	pending := slices.DeleteFunc(slices.Clone(parts), func(d *sessions.Diff) bool { return d.State != "pending" })
	if len(pending) == 0 {
		pending = parts
	}
	if len(pending) == 0 {
		return nil
	}
	d := *pending[0]
	d.Seq, d.DiskOnly = 0, 0
	for _, p := range parts {
		d.DiskOnly += p.DiskOnly
	}
	if len(pending) == 1 {
		return &d
	}
	d.Hunks, d.Turns = slices.Clone(d.Hunks), slices.Clone(d.Turns)
	for _, p := range pending[1:] {
		d.Hunks = append(d.Hunks, p.Hunks...)
		d.Added, d.Removed = d.Added+p.Added, d.Removed+p.Removed
		for _, turn := range p.Turns {
			if !slices.Contains(d.Turns, turn) {
				d.Turns = append(d.Turns, turn)
			}
		}
		if p.Baseline == "unknown" {
			d.Baseline = p.Baseline
		}
		if slices.Index(kindsByStrength, p.Kind) < slices.Index(kindsByStrength, d.Kind) {
			d.Kind = p.Kind
		}
	}
	return &d
}

// sameDiff reports whether two diffs say the same, whatever their revisions.
func sameDiff(a, b *sessions.Diff) bool {
	x, y := *a, *b
	x.Rev, x.Seq, y.Rev, y.Seq = 0, 0, 0, 0
	return reflect.DeepEqual(x, y)
}

// shown returns the diff of a path as a client was told it last.
func (r *Reviewer) shown(client api.ClientID, path string) *sessions.Diff {
	told := r.told[path]
	v := r.views[path][client]
	if v == nil {
		return told
	}
	d := *v.Diff
	d.Seq = told.Seq
	return &d
}

// viewOf returns the diff of a path for a client that holds the file unsaved, and of what it is made; nil for others.
func (r *Reviewer) viewOf(client api.ClientID, path string) (*sessions.Diff, string) {
	var parts []*sessions.Diff
	made, differs := strings.Builder{}, false
	for _, f := range r.at(path) {
		if b := f.buffers[client]; b != nil && b.diff != nil {
			parts = append(parts, b.diff)
			fmt.Fprintf(&made, "%d/%d ", f.n, b.changes)
			differs = true
		} else if f.diff != nil {
			parts = append(parts, f.diff)
			fmt.Fprintf(&made, "%d.%d ", f.n, f.diff.Rev)
		}
	}
	if !differs {
		return nil, ""
	}
	return merged(parts), made.String()
}
