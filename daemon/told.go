package daemon

import (
	"fmt"
	"slices"
	"strings"

	"cursord/sessions"
)

// This file makes one diff of what is pending at a path in the work tree and in sessions' copies of it.

// kindsByStrength are the kinds of diffs, the strongest first.
var kindsByStrength = []sessions.DiffKind{
	sessions.DiffBinary, sessions.DiffLarge, sessions.DiffSymlink, sessions.DiffCreated, sessions.DiffDeleted, sessions.DiffRenamed,
	sessions.DiffMode, sessions.DiffModified,
}

// compose makes the diff of a path, as it is to be told, from those of its files; nil if there is nothing to tell.
func (r *reviewer) compose(path string) *sessions.Diff {
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
	if old != nil {
		d.Rev = max(d.Rev, old.Rev)
		if d.Rev == old.Rev && r.composed[path] != made.String() {
			d.Rev++
		}
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
	d.Seq = 0
	if len(pending) == 1 {
		return &d
	}
	d.Hunks, d.Turns = slices.Clone(d.Hunks), slices.Clone(d.Turns)
	for _, p := range pending[1:] {
		d.Hunks = append(d.Hunks, p.Hunks...)
		d.Added, d.Removed, d.Rev = d.Added+p.Added, d.Removed+p.Removed, d.Rev+p.Rev
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

// shown returns the diff of a path as a client sees it.
func (r *reviewer) shown(client ClientID, path string) *sessions.Diff {
	told := r.told[path]
	d := r.viewOf(client, path)
	if d == nil {
		return told
	}
	if told != nil {
		d.Seq = told.Seq
	}
	return d
}

// viewOf returns the diff of a path for a client that holds the file unsaved; nil for others.
func (r *reviewer) viewOf(client ClientID, path string) *sessions.Diff {
	var parts []*sessions.Diff
	changes := uint64(0)
	for _, f := range r.at(path) {
		if b := f.buffers[client]; b != nil && b.diff != nil {
			parts = append(parts, b.diff)
			changes += b.changes
		} else if f.diff != nil {
			parts = append(parts, f.diff)
		}
	}
	if changes == 0 {
		return nil
	}
	d := merged(parts)
	if told := r.told[path]; told != nil {
		d.Rev = max(d.Rev, told.Rev+changes)
	}
	return d
}
