package diffs

// Brought takes note that a command has brought an older commit into the work tree, in which the file holds text. Lines of the present text
// that are in text, and not in the earlier text was, are the commit's, if the history has them as written by an edit that of accepts. They
// stay under review as that edit's, and a rewind takes them back with it. Brought reports whether there are such lines.
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
