package diffs

// cancel replaces the atoms of w from start to end (exclusive), of which those in dead are tombstones and those in
// alive live, by themselves in order, less the pairs of a tombstone and a live line with the same text: there the
// tombstone comes back to life in the place of both. It returns nil if there is no such pair.
func cancel(dead, alive []atom) (out []atom, exact bool) {
	if len(dead) == 0 || len(alive) == 0 {
		return nil, true
	}
	i, j := 0, 0
	exact = commonLines(texts(dead), texts(alive), func(di, aj int) {
		out = append(out, dead[i:di]...)
		out = append(out, alive[j:aj]...)
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

// part divides atoms into tombstones and live ones.
func part(atoms []atom) (dead, alive []atom) {
	for _, a := range atoms {
		if a.del != 0 {
			dead = append(dead, a)
		} else {
			alive = append(alive, a)
		}
	}
	return dead, alive
}

// normalise takes out what a run of pending atoms both deletes and inserts.
func (w *weave) normalise() {
	const rounds = 3 // for runs too long to be done exactly at once
	for range rounds {
		exact := true
		w.rewrite(func(from int) (int, int) { return w.run(from) }, func(atoms []atom) []atom {
			out, ok := cancel(part(atoms))
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

// revive undoes the agent's deletion of a line where the user has typed it back: fresh is the last id before the
// user's edit.
func (w *weave) revive(fresh uint64) {
	touched := func(a *atom) bool { return a.pending() || a.id > fresh }
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
		out, _ := cancel(part(atoms))
		return out
	})
}

// rewrite replaces each stretch of atoms that next finds by what change makes of it, unless that is nil.
func (w *weave) rewrite(next func(from int) (start, end int), change func([]atom) []atom) {
	var out []atom
	done := 0 // atoms copied to out or dropped
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
