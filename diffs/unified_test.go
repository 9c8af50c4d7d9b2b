package diffs

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Bits that choose the form of FuzzUnified's two contents.
const (
	oldAbsent = 1 << iota
	newAbsent
	oldLink
	newLink
	oldRuns
	newRuns
	littleIsLarge
)

// FuzzUnified takes any change of a file at any path. Its patch, between those of two other files, turns one side into the
// other in both directions. So does a patch of some of its hunks.
func FuzzUnified(f *testing.F) {
	f.Add("f", "", []byte("a\nb\n"), []byte("a\nc\n"), uint8(0), uint64(1))
	f.Fuzz(func(t *testing.T, name, was string, old, now []byte, shape uint8, pick uint64) {
		const first, last = " first", "last"
		for _, p := range []string{name, was} {
			// A workspace can hold only such paths, and two names are taken.
			if p != "" && (path.Clean("/"+p) != "/"+p || strings.ContainsRune(p, 0) || p == first || p == last) {
				return
			}
		}
		before, ok := shaped(old, shape&oldAbsent != 0, shape&oldLink != 0, shape&oldRuns != 0)
		after, fits := shaped(now, shape&newAbsent != 0, shape&newLink != 0, shape&newRuns != 0)
		if name == "" || name == "/" || was == "/" || !ok || !fits {
			return
		}
		limits := Limits{}
		if shape&littleIsLarge != 0 {
			limits.MaxLines = 3
		}
		r := limits.New(before)
		oldName := name
		if was != "" && was != name && before.Exists && after.Exists {
			r.Rename(was, name, agents["agent"])
			oldName = was
		}
		r.Observe(after, agents["agent"])

		created, gone := New(Content{}), New(content("no\nend"))
		created.Observe(content("\n"), agents["agent"])
		gone.Observe(Content{}, agents["agent"])
		others := [2]map[string]node{{last: {"100644", "no\nend"}}, {first: {"100644", "\n"}}}
		patch := func(p FilePatch) string {
			return string(Unified([]FilePatch{created.Patch(first, nil), p, gone.Patch(last, nil)}))
		}

		whole := patch(r.Patch(name, nil))
		tree := treeOf(oldName, before, others[0])
		require.NoError(t, gitApply(tree, whole, false), "%s", whole)
		require.Equal(t, treeOf(name, after, others[1]), tree, "%s", whole)
		require.NoError(t, gitApply(tree, whole, true), "%s", whole)
		require.Equal(t, treeOf(oldName, before, others[0]), tree, "%s", whole)

		// A patch of some hunks makes the baseline after their accept.
		var ids []uint64
		for i, h := range r.Hunks() {
			if h.Kind != TextHunk {
				return
			}
			if pick>>(i%64)&1 != 0 {
				ids = append(ids, h.ID)
			}
		}
		if len(ids) == 0 {
			return
		}
		part := patch(r.Patch(name, func(h Hunk) bool {
			for _, id := range ids {
				if h.ID == id {
					return true
				}
			}
			return false
		}))
		accepted := r.Copy()
		_, err := accepted.Decide(ids, true, nil)
		require.NoError(t, err)
		require.NoError(t, gitApply(tree, part, false), "%s", part)
		require.Equal(t, treeOf(name, accepted.Baseline(), others[1]), tree, "%s", part)
		require.NoError(t, gitApply(tree, part, true), "%s", part)
		require.Equal(t, treeOf(name, before, others[0]), tree, "%s", part)
	})
}

// shaped makes a content from data; it returns false if there is none of that form.
func shaped(data []byte, absent, link, runs bool) (Content, bool) {
	switch {
	case absent:
		return Content{}, true
	case link:
		return Content{Exists: true, Target: string(data)}, len(data) > 0 && !strings.Contains(string(data), "\x00")
	case runs:
		return Content{Exists: true, Data: data, Mode: 0o755}, true
	}
	return Content{Exists: true, Data: data, Mode: 0o644}, true
}
