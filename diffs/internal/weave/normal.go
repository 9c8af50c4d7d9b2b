package weave

import (
	"strings"

	"cursord/diffs/internal/linetext"
)

// cancel takes neighbouring atoms: tombstones (dead) and live ones (alive), each in order. It returns them without the pairs
// of a tombstone and a live line of the same text; each pair becomes the tombstone, alive again. The other tombstones stay
// beside those pairs. A settled line counts as either. cancel returns nil if there is no such pair.
func cancel(dead, alive []Atom, texts func([]Atom) []string) (out []Atom, exact bool) {
	if len(dead) == 0 || len(alive) == 0 {
		return nil, true
	}
	i, j := 0, 0
	exact = linetext.Common(texts(dead), texts(alive), func(di, aj int) {
		if out == nil {
			out = append(append(out, alive[:aj]...), dead[:di]...)
		} else {
			out = append(append(out, dead[i:di]...), alive[j:aj]...)
		}
		d := dead[di]
		d.Del, d.Both = 0, false
		out = append(out, d)
		i, j = di+1, aj+1
	})
	if out == nil {
		return nil, exact
	}
	out = append(out, dead[i:]...)
	return append(out, alive[j:]...), exact
}

// Texts returns the texts of atoms.
func Texts(atoms []Atom) []string {
	t := make([]string, len(atoms))
	for i := range atoms {
		t[i] = atoms[i].Text
	}
	return t
}

// BareTexts is texts without the line ends, since a last line may have none.
func BareTexts(atoms []Atom) []string {
	t := Texts(atoms)
	for i := range t {
		t[i] = strings.TrimSuffix(t[i], "\n")
	}
	return t
}

// part divides atoms by whether in holds.
func part(atoms []Atom, in func(*Atom) bool) (those, others []Atom) {
	for _, a := range atoms {
		if in(&a) {
			those = append(those, a)
		} else {
			others = append(others, a)
		}
	}
	return those, others
}

// Normalise removes what a run of pending atoms both deletes and inserts.
func (w *Weave) Normalise() {
	const rounds = 3 // passes over runs that are too long to be done exactly at once
	for range rounds {
		exact := true
		w.rewrite(func(from int) (int, int) { return w.Run(from) }, func(atoms []Atom) []Atom {
			dead, alive := part(atoms, func(a *Atom) bool { return a.Del != 0 })
			out, ok := cancel(dead, alive, Texts)
			if out != nil && !ok {
				exact = false
			}
			return out
		})
		if exact {
			return
		}
	}
}

// Meet removes agent's changes that the user has undone, or made by hand, by typing. kept tells the lines of which one
// stays, settled, if there is another with the same text. fresh is the last id before the user's edit.
func (w *Weave) Meet(fresh uint64, kept func(*Atom) bool, texts func([]Atom) []string) {
	touched := func(a *Atom) bool { return a.Pending() || a.User || a.ID > fresh }
	w.rewrite(func(from int) (start, end int) {
		for start = from; start < len(w.Atoms) && !touched(&w.Atoms[start]); start++ {
		}
		for end = start; end < len(w.Atoms) && touched(&w.Atoms[end]); end++ {
		}
		return start, end
	}, func(atoms []Atom) []Atom {
		typed := false
		for i := range atoms {
			typed = typed || (!atoms[i].Pending() || atoms[i].Both) && atoms[i].ID > fresh
		}
		if !typed {
			return nil
		}
		those, others := part(atoms, kept)
		out, _ := cancel(those, others, texts)
		return out
	})
}

// rewrite replaces each stretch of atoms that next finds by what change makes of it; nil leaves it.
func (w *Weave) rewrite(next func(from int) (start, end int), change func([]Atom) []Atom) {
	var out []Atom
	done := 0 // atoms already copied to out or dropped
	for start, end := next(0); start < len(w.Atoms); start, end = next(end) {
		if changed := change(w.Atoms[start:end]); changed != nil {
			if out == nil {
				out = make([]Atom, 0, len(w.Atoms))
			}
			out = append(append(out, w.Atoms[done:start]...), changed...)
			done = end
		}
	}
	if out != nil {
		w.Atoms = append(out, w.Atoms[done:]...)
	}
}
