package diffs

import "slices"

// When the agent moves a line that the user typed, the copy is the agent's and the original a tombstone. Rejecting the one
// and accepting the other would lose the line, so both are decided together.

// owners returns, for each atom, the index of its piece, or -1.
func (r *Review) owners(pieces []piece) []int {
	owner := make([]int, len(r.weave.Atoms))
	for i := range owner {
		owner[i] = -1
	}
	for k, p := range pieces {
		for i := p.start; i < p.end; i++ {
			owner[i] = k
		}
	}
	return owner
}

// links returns, for each piece, the ids of the pieces that are decided with it.
func (r *Review) links(pieces []piece) [][]uint64 {
	links := make([][]uint64, len(pieces))
	if len(r.weave.Copies()) == 0 {
		return links
	}
	owner := r.owners(pieces)
	u := r.weave.Join(len(pieces), func(i int) int { return owner[i] })
	sets := make(map[int][]uint64)
	for i, p := range pieces {
		sets[u.Root(i)] = append(sets[u.Root(i)], p.id)
	}
	for i, p := range pieces {
		if set := sets[u.Root(i)]; len(set) > 1 {
			links[i] = slices.DeleteFunc(slices.Clone(set), func(id uint64) bool { return id == p.id })
		}
	}
	return links
}

// close adds to a selection of atoms what must be decided with it: single lines of a piece that is partly selected, all
// lines of another piece.
func (r *Review) close(sel []bool, pieces []piece) {
	if len(r.weave.Copies()) == 0 {
		return
	}
	owner := r.owners(pieces)
	partly := make([]bool, len(pieces))
	for k, p := range pieces {
		n := 0
		for i := p.start; i < p.end; i++ {
			if sel[i] {
				n++
			}
		}
		partly[k] = n > 0 && n < p.end-p.start
	}
	unit := func(i int) int {
		if k := owner[i]; !partly[k] {
			return len(r.weave.Atoms) + k
		}
		return i
	}
	u := r.weave.Join(len(r.weave.Atoms)+len(pieces), unit)
	chosen := make(map[int]bool)
	for i := range sel {
		if sel[i] {
			chosen[u.Root(unit(i))] = true
		}
	}
	for i := range sel {
		if owner[i] >= 0 && chosen[u.Root(unit(i))] {
			sel[i] = true
		}
	}
}
