package diffs

import "strings"

// cancel takes neighbouring atoms: tombstones (dead) and live ones (alive), each in order. It returns them without the pairs
// of a tombstone and a live line of the same text; each pair becomes the tombstone, alive again. The other tombstones stay
// beside those pairs. A settled line counts as either. cancel returns nil if there is no such pair.
func cancel(dead, alive []atom, texts func([]atom) []string) (out []atom, exact bool) {
	if len(dead) == 0 || len(alive) == 0 {
		return nil, true
	}
	i, j := 0, 0
	exact = commonLines(texts(dead), texts(alive), func(di, aj int) {
		if out == nil {
			out = append(append(out, alive[:aj]...), dead[:di]...)
		} else {
			out = append(append(out, dead[i:di]...), alive[j:aj]...)
		}
		d := dead[di]
		d.del = 0
		out = append(out, d)
		i, j = di+1, aj+1
	})
	if out == nil {
		return nil, exact
	}
	out = append(out, dead[i:]...)
	return append(out, alive[j:]...), exact
}

func texts(atoms []atom) []string {
	t := make([]string, len(atoms))
	for i := range atoms {
		t[i] = atoms[i].text
	}
	return t
}

// bareTexts is texts without the line ends, since a last line may have none.
func bareTexts(atoms []atom) []string {
	t := texts(atoms)
	for i := range t {
		t[i] = strings.TrimSuffix(t[i], "\n")
	}
	return t
}

// part divides atoms by whether in holds.
func part(atoms []atom, in func(*atom) bool) (those, others []atom) {
	for _, a := range atoms {
		if in(&a) {
			those = append(those, a)
		} else {
			others = append(others, a)
		}
	}
	return those, others
}

// normalise removes what a run of pending atoms both deletes and inserts.
func (w *weave) normalise() {
	const rounds = 3 // passes over runs that are too long to be done exactly at once
	for range rounds {
		exact := true
		w.rewrite(func(from int) (int, int) { return w.run(from) }, func(atoms []atom) []atom {
			dead, alive := part(atoms, func(a *atom) bool { return a.del != 0 })
			out, ok := cancel(dead, alive, texts)
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

// meet removes agent's changes that the user has undone, or made by hand, by typing. kept tells the lines of which one
// stays, settled, if there is another with the same text. fresh is the last id before the user's edit.
func (w *weave) meet(fresh uint64, kept func(*atom) bool, texts func([]atom) []string) {
	touched := func(a *atom) bool { return a.pending() || a.user || a.id > fresh }
	w.rewrite(func(from int) (start, end int) {
		for start = from; start < len(w.atoms) && !touched(&w.atoms[start]); start++ {
		}
		for end = start; end < len(w.atoms) && touched(&w.atoms[end]); end++ {
		}
		return start, end
	}, func(atoms []atom) []atom {
		typed := false
		for i := range atoms {
			typed = typed || !atoms[i].pending() && atoms[i].id > fresh
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
func (w *weave) rewrite(next func(from int) (start, end int), change func([]atom) []atom) {
	var out []atom
	done := 0 // atoms already copied to out or dropped
	for start, end := next(0); start < len(w.atoms); start, end = next(end) {
		if changed := change(w.atoms[start:end]); changed != nil {
			if out == nil {
				out = make([]atom, 0, len(w.atoms))
			}
			out = append(append(out, w.atoms[done:start]...), changed...)
			done = end
		}
	}
	if out != nil {
		w.atoms = append(out, w.atoms[done:]...)
	}
}
