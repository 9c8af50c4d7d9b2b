package diffs

import (
	"slices"

	"cursord/diffs/internal/linetext"
)

// Copied turns a move into a copy: an edit has moved the file, and now the old name has a file again, with the content now. r becomes the
// review of the old name, and the caller observes its content. Copied returns a review of the new name, which the edit has created. If the
// file was not moved, or now has less than half of its lines, Copied changes nothing and returns nil.
func (r *Review) Copied(now Content) *Review {
	src, was, is := r.sources.of(r.renamed.Edits), r.Baseline(), r.Current()
	if r.renamed.ID == 0 || len(src) == 0 || !was.Exists || !is.Exists || !r.nearly(was, now) {
		return nil
	}
	made := r.limits.New(Content{})
	made.Observe(is, &src[len(src)-1])
	r.Rename(r.isPath, r.wasPath, nil)
	return made
}

// nearly reports whether a content is another one, but for less than half of its lines.
func (r *Review) nearly(was, now Content) bool {
	if !isLines(r.limits, was) || !isLines(r.limits, now) {
		return was.Exists == now.Exists && was.body() == now.body()
	}
	both := 0
	old, lines := linetext.Split(string(was.Data)), linetext.Split(string(now.Data))
	linetext.Common(old, lines, func(_, _ int) { both++ })
	return 2*both >= max(len(old), len(lines))
}

// Another reports whether a content is another text than the present one: without a line of it that tells anything.
func (r *Review) Another(now Content) bool {
	is := r.Current()
	if !is.Exists || !now.Exists || !isLines(r.limits, is) || !isLines(r.limits, now) {
		return false
	}
	has := map[string]bool{}
	for _, l := range linetext.Split(string(is.Data)) {
		has[linetext.Key(l)] = true
	}
	return !slices.ContainsFunc(linetext.Split(string(now.Data)), func(l string) bool { return linetext.Key(l) != "" && has[linetext.Key(l)] })
}
