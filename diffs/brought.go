package diffs

// Brought takes note of a commit that was there before, and that a command has brought into the work tree: text is what the file holds in it.
// The lines of the present text which are in text too, and were not in an earlier text (was), are of that commit, as far as they are known as
// those of edits that of accepts. They stay under review as those of the edits, and a rewind takes them back with these. It reports whether
// there are any.
func (r *Review) Brought(commit, text, was string, of func(Source) bool) (any bool) {
	lines := r.present().lines
	if r.past == nil || len(lines) == 0 {
		return false
	}
	here, there, earlier, old := texts(lines), splitLines(text), splitLines(was), map[int]bool{}
	for _, list := range [][]string{here, there, earlier} {
		for i, l := range list {
			list[i] = trimEnd(l)
		}
	}
	by, given := make([]int32, len(lines)), map[int32]int32{}
	commonLines(earlier, there, func(_, j int) { old[j] = true })
	commonLines(here, there, func(i, j int) {
		n, moved := r.past.Of(i)
		if n == 0 || moved || old[j] {
			return
		}
		if _, known := given[n]; !known {
			given[n] = 0
			if src := r.sources.of([]int32{n}); len(src) > 0 && src[0].Commit == "" && of(src[0]) {
				src[0].Commit = commit
				given[n] = r.sources.edit(src[0])
			}
		}
		by[i] = given[n]
		any = any || by[i] != 0
	})
	if any {
		r.past = r.past.Give(by)
	}
	return any
}
