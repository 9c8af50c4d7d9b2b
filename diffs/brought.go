package diffs

import (
	"slices"

	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// A Version is what a file holds in a commit.
type Version struct {
	Commit, Text string
	Was          string // an earlier text, whose lines are not that commit's
	Perhaps      bool   // nothing but the lines tells that they come from the commit
}

// Brought takes note of a version of the file that was there before, and that a command may have brought into the work tree. The lines of
// the present text which are in the version too, and were not in the earlier text, are of its commit, as far as they are known as those of
// edits that of accepts. If nothing but the lines tells it, runs of such lines have to be telling. They stay under review as
// those of the edits, and a rewind takes them back with these. Brought reports whether there are any.
func (r *Review) Brought(v Version, of func(Source) bool) (any bool) {
	lines := r.present().lines
	if r.past == nil || len(lines) == 0 {
		return false
	}
	source := func(i int) (src Source, ok bool) {
		n, moved := r.past.Of(i)
		if by := r.sources.of([]int32{n}); len(by) > 0 && !moved && of(by[0]) {
			return by[0], true
		}
		return src, false
	}
	if !slices.ContainsFunc(r.sources.by, func(src Source) bool { return src.Commit == "" && of(src) }) {
		return false
	}
	here, there, earlier, old := weave.Texts(lines), linetext.Split(v.Text), linetext.Split(v.Was), map[int]bool{}
	for _, list := range [][]string{here, there, earlier} {
		for i, l := range list {
			list[i] = weave.TrimEnd(l)
		}
	}
	linetext.Common(earlier, there, func(_, j int) { old[j] = true })
	by, run, next := make([]int32, len(lines)), []int{}, 0
	give := func() {
		letters := 0
		for _, i := range run {
			letters += linetext.Tells(here[i])
		}
		for _, i := range run {
			if src, _ := source(i); src.Commit == "" && (!v.Perhaps || letters >= linetext.Telling) {
				src.Commit = v.Commit
				by[i], any = r.sources.edit(src), true
			}
		}
		run = run[:0]
	}
	linetext.Common(here, there, func(i, j int) {
		if _, ok := source(i); !ok || old[j] {
			return
		}
		if n := len(run); n > 0 && (i != run[n-1]+1 || j != next) {
			give()
		}
		run, next = append(run, i), j+1
	})
	give()
	if any {
		r.past = r.past.Give(by)
	}
	return any
}
