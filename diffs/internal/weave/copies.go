package weave

import "cursord/diffs/internal/linetext"

// A Union is a forest of disjoint sets.
type Union []int

func newUnion(n int) Union {
	u := make(Union, n)
	for i := range u {
		u[i] = i
	}
	return u
}

// Root returns the member that stands for the set of i.
func (u Union) Root(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u Union) join(i, j int) { u[u.Root(i)] = u.Root(j) }

// Copies returns, for each text that a tombstone of the user has, the pending atoms with that text: such tombstones, and
// inserted lines. It leaves out a text without a tombstone or without an insertion.
func (w *Weave) Copies() map[string][]int {
	var moved map[string][]int
	for i := range w.Atoms {
		if a := &w.Atoms[i]; a.Del != 0 && a.User {
			if key := linetext.Key(a.Text); key != "" {
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
	for i := range w.Atoms {
		if a := &w.Atoms[i]; a.Ins != 0 {
			if key := linetext.Key(a.Text); len(moved[key]) > 0 {
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

// Join returns the sets of units that must be decided together; unit(atom) is the unit of an atom, of n units.
func (w *Weave) Join(n int, unit func(atom int) int) Union {
	u := newUnion(n)
	for _, atoms := range w.Copies() {
		for _, i := range atoms[1:] {
			u.join(unit(i), unit(atoms[0]))
		}
	}
	return u
}
