// Package preview shows changes of files, which nobody has made yet, as a patch.
package preview

import (
	"cmp"
	"maps"
	"slices"

	"cursord/diffs"
)

// A Change is what is to happen to a file: what is at From becomes what is at To. Either may be nothing.
type Change struct {
	Tree          string // where the paths are
	From, To      string
	Before, After diffs.Content
}

// Patch returns changes as one patch in git's format, by path: one file may go from a path and another come to it. A path that changes in
// several trees is in the patch as the first change has it.
func Patch(limits diffs.Limits, changes []Change) string {
	tree, source, before, after := map[string]string{}, map[string]string{}, map[string]diffs.Content{}, map[string]diffs.Content{}
	for _, c := range changes {
		if other, known := tree[c.To]; known && other != c.Tree {
			continue
		}
		tree[c.From], tree[c.To] = c.Tree, c.Tree
		if c.Before.Exists {
			before[c.From] = c.Before
		}
		if c.After.Exists {
			if c.After.Target == "" && c.After.Mode == 0 {
				c.After.Mode = c.Before.Mode
			}
			after[c.To], source[c.To] = c.After, c.From
		}
	}
	olds := map[string]string{} // of files that only move
	for to, from := range source {
		if from != to && before[from].Exists && !after[from].Exists && !before[to].Exists {
			olds[to] = from
		}
	}
	moved := slices.Collect(maps.Values(olds))
	src := &diffs.Source{Via: diffs.ViaEdit}
	var patches []diffs.FilePatch
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		if slices.Contains(moved, path) {
			continue
		}
		old := cmp.Or(olds[path], path)
		review := limits.New(before[old])
		if old != path {
			review.Rename(old, path, src)
		}
		review.Observe(after[path], src)
		if review.Pending() {
			patches = append(patches, review.Patch(path, nil))
		}
	}
	return string(diffs.Unified(patches))
}
