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
// several trees is in the patch once, as in the tree where most lines change; of equals, the first. So what is pending in a copy is there.
func Patch(limits diffs.Limits, changes []Change) string {
	var trees []string
	in := map[string][]Change{}
	for _, c := range changes {
		if in[c.Tree] == nil {
			trees = append(trees, c.Tree)
		}
		in[c.Tree] = append(in[c.Tree], c)
	}
	of, left := map[string]diffs.FilePatch{}, map[string]bool{} // by path; left are paths from where files move
	for _, tree := range trees {
		patches := patchesOf(limits, in[tree])
		for _, p := range patches {
			if known, has := of[p.Path]; !left[p.Path] && (!has || lines(p) > lines(known)) {
				of[p.Path] = p
			}
		}
		for _, p := range patches {
			left[p.OldPath] = true
		}
	}
	var patches []diffs.FilePatch
	for _, path := range slices.Sorted(maps.Keys(of)) {
		patches = append(patches, of[path])
	}
	return string(diffs.Unified(patches))
}

// lines counts the lines that a patch removes and adds.
func lines(p diffs.FilePatch) (n int) {
	for _, h := range p.Hunks {
		for _, l := range h.Lines {
			if l != "" && l[0] != ' ' {
				n++
			}
		}
	}
	return n
}

// patchesOf returns the changes of one tree, by path.
func patchesOf(limits diffs.Limits, changes []Change) (patches []diffs.FilePatch) {
	paths, source, before, after := map[string]bool{}, map[string]string{}, map[string]diffs.Content{}, map[string]diffs.Content{}
	for _, c := range changes {
		paths[c.From], paths[c.To] = true, true
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
	for _, path := range slices.Sorted(maps.Keys(paths)) {
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
	return patches
}
