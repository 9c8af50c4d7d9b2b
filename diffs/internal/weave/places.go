package weave

// Places returns where each line is, by its id.
func (w *Weave) Places() map[uint64]int {
	place := make(map[uint64]int, len(w.Atoms))
	for i := range w.Atoms {
		place[w.Atoms[i].ID] = i
	}
	return place
}

// Gap returns where lines before start and from end on, of n lines with ids in another list, leave a place for those between: from behind the
// nearest that has a place up to, but without, the next one. place is what Places has returned.
func (w *Weave) Gap(place map[uint64]int, n int, id func(i int) uint64, start, end int) (from, to int) {
	to = len(w.Atoms)
	for i := start - 1; i >= 0; i-- {
		if at, here := place[id(i)]; here {
			from = at + 1
			break
		}
	}
	for i := end; i < n; i++ {
		if at, here := place[id(i)]; here {
			return from, at
		}
	}
	return from, to
}
