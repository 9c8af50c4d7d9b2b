// Package diffshape gives diffs the form in which clients see them. It makes one diff per path out of several files' diffs,
// names hunks, and describes changes of path, mode and link target. It knows no files and no clients.
package diffshape

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/diffs"
	"cursord/sessions"
)

// kindsByStrength are the kinds of diffs, the strongest first.
var kindsByStrength = []sessions.DiffKind{
	sessions.DiffBinary, sessions.DiffLarge, sessions.DiffSymlink, sessions.DiffCreated, sessions.DiffDeleted, sessions.DiffRenamed,
	sessions.DiffMode, sessions.DiffModified,
}

// Cleared returns a diff with nothing to review.
func Cleared(old *sessions.Diff) *sessions.Diff {
	d := *old
	d.OldPath, d.OldMode, d.NewMode, d.OldTarget, d.NewTarget = "", "", "", "", ""
	d.Kind, d.State, d.Hunks, d.Turns = sessions.DiffModified, "clean", []sessions.Hunk{}, []string{}
	d.Added, d.Removed, d.Seq = 0, 0, 0
	return &d
}

// Merged returns one diff with the hunks of all parts, or nil if there are none. Sums and turns are of all parts, the kind
// is the strongest, and the baseline is unknown if any part's is. All else is that of the first part that has hunks.
func Merged(parts []*sessions.Diff) *sessions.Diff {
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

// SameDiff reports whether two diffs differ at most in their revisions.
func SameDiff(a, b *sessions.Diff) bool {
	x, y := *a, *b
	x.Rev, x.Seq, y.Rev, y.Seq = 0, 0, 0, 0
	return reflect.DeepEqual(x, y)
}

// Describe fills in changes of path, mode and link target.
func Describe(d *sessions.Diff, review *diffs.Review) {
	d.OldPath = review.OldPath()
	old, now := review.Baseline(), review.Current()
	if !review.Pending() {
		return
	}
	if old.Target != now.Target {
		d.OldTarget, d.NewTarget = strings.ToValidUTF8(old.Target, "\uFFFD"), strings.ToValidUTF8(now.Target, "\uFFFD")
	}
	switch was, is := gitMode(old), gitMode(now); {
	case old.Exists && now.Exists && was != is:
		d.OldMode, d.NewMode = was, is
	case !old.Exists && now.Target == "" && now.Mode&0o111 != 0:
		d.NewMode = is // what may be run is worth a look
	}
}

// gitMode returns the mode of a content as git writes it, with all of its permission bits.
func gitMode(c diffs.Content) string {
	if c.Target != "" {
		return "120000"
	}
	if c.Mode == 0 {
		return "100644" // not known
	}
	return fmt.Sprintf("100%03o", c.Mode)
}

// HunkID names hunk id of review n: short enough to type, unique in the workspace.
func HunkID(n, id uint64) string { return fmt.Sprintf("%d.%d", n, id) }

// Remark returns what a person says about a hunk of a path, for the agent's next prompt in the session, the latest that has changed it; "" if
// none is known.
func Remark(path string, h sessions.Hunk, said string) (session, text string) {
	if n := len(h.Sources); n > 0 {
		session = h.Sources[n-1].SessionID
	}
	return session, fmt.Sprintf("on your change of %s, line %d: %s", path, FirstChanged(h), said)
}

// FirstChanged returns the first line that a hunk changes in the file, counted from 1. If the hunk only removes lines, it is
// the line that now stands in their place.
func FirstChanged(h sessions.Hunk) int { return firstChanged(h.Lines, h.NewStart, h.NewLines) }

func firstChanged(lines []string, newStart, newLines int) int {
	context := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, " ") })
	line := newStart + max(context, 0)
	if newLines == 0 {
		line++ // the hunk names the line before
	}
	return max(line, 1)
}

// Range returns a range of lines in the terms of package diffs; nil is all lines.
func Range(l *api.LineRange) *diffs.Range {
	if l == nil {
		return nil
	}
	return &diffs.Range{From: l.From, To: l.To}
}
