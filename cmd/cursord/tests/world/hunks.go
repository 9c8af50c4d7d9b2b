//go:build unix

package world

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// Vias lists the via of each source of a diff's hunks.
func Vias(d *sessions.Diff) (all []string) {
	if d == nil {
		return []string{"not listed"}
	}
	for _, h := range d.Hunks {
		for _, s := range h.Sources {
			all = append(all, string(s.Via))
		}
	}
	return all
}

// HunkIDs lists the ids of a diff's hunks, in their order.
func HunkIDs(d *sessions.Diff) (ids []string) {
	for _, h := range d.Hunks {
		ids = append(ids, h.ID)
	}
	return ids
}

// Reviewing starts a daemon whose agent changes the file at path from before to after. It returns a client that has received
// the diff.
func Reviewing(t *testing.T, path, before, after string) (*World, *Editor) {
	t.Helper()
	w := New(t)
	w.Put(path, before)
	w.Plays(Lines(Edits("c", path, before, after))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Contains(t, e.Diffs(), path)
	return w, e
}

// Settled reports whether a diff has no pending hunk.
func Settled(d *sessions.Diff) bool { return d.State == "clean" }

// Summary describes a diff without its lines.
func Summary(d *sessions.Diff) string {
	var hunks []string
	for _, h := range d.Hunks {
		hunks = append(hunks, fmt.Sprint(h.Kind, len(h.Lines)))
	}
	s := string(d.Kind)
	for _, part := range []string{d.OldPath, d.OldMode, d.NewMode, d.OldTarget, d.NewTarget} {
		if part != "" {
			s += " " + part
		}
	}
	return s + ": " + strings.Join(hunks, ",")
}
