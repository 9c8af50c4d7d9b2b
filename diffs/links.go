package diffs

import "slices"

// When the agent moves a line that the user typed, the copy is the agent's and the original a tombstone. Rejecting the one
// and accepting the other would lose the line, so both are decided together.

// A union is a forest of disjoint sets.
type union []int

func newUnion(n int) union {
	u := make(union, n)
	for i := range u {
		u[i] = i
	}
	return u
}

func (u union) root(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u union) join(i, j int) { u[u.root(i)] = u.root(j) }

// copies returns, for each text that a tombstone of the user has, the pending atoms with that text: such tombstones, and
// inserted lines. It leaves out a text without a tombstone or without an insertion.
func (w *weave) copies() map[string][]int {
	var moved map[string][]int
	for i := range w.atoms {
		if a := &w.atoms[i]; a.del != 0 && a.user {
			if key := linkKey(a.text); key != "" {
				if moved == nil {
					moved = make(map[string][]int)
				}
				moved[key] = append(moved[key], i)
			}
		}
	}
	if moved == nil {
		return nil
	}
	copied := make(map[string]bool)
	for i := range w.atoms {
		if a := &w.atoms[i]; a.ins != 0 {
			if key := linkKey(a.text); len(moved[key]) > 0 {
				moved[key] = append(moved[key], i)
				copied[key] = true
			}
		}
	}
	for key := range moved {
		if !copied[key] {
			delete(moved, key)
		}
	}
	return moved
}

// join returns the sets of units that must be decided together; unit(atom) is the unit of an atom, of n units.
func (w *weave) join(n int, unit func(atom int) int) union {
	u := newUnion(n)
	for _, atoms := range w.copies() {
		for _, i := range atoms[1:] {
			u.join(unit(i), unit(atoms[0]))
		}
	}
	return u
}

// owners returns, for each atom, the index of its piece, or -1.
func (r *Review) owners(pieces []piece) []int {
	owner := make([]int, len(r.atoms))
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
	if len(r.copies()) == 0 {
		return links
	}
	owner := r.owners(pieces)
	u := r.join(len(pieces), func(i int) int { return owner[i] })
	sets := make(map[int][]uint64)
	for i, p := range pieces {
		sets[u.root(i)] = append(sets[u.root(i)], p.id)
	}
	for i, p := range pieces {
		if set := sets[u.root(i)]; len(set) > 1 {
			links[i] = slices.DeleteFunc(slices.Clone(set), func(id uint64) bool { return id == p.id })
		}
	}
	return links
}

// close adds to a selection of atoms what must be decided with it: single lines of a piece that is partly selected, all
// lines of another piece.
func (r *Review) close(sel []bool, pieces []piece) {
	if len(r.copies()) == 0 {
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
			return len(r.atoms) + k
		}
		return i
	}
	u := r.join(len(r.atoms)+len(pieces), unit)
	chosen := make(map[int]bool)
	for i := range sel {
		if sel[i] {
			chosen[u.root(unit(i))] = true
		}
	}
	for i := range sel {
		if owner[i] >= 0 && chosen[u.root(unit(i))] {
			sel[i] = true
		}
	}
}
