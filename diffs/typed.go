package diffs

// typedLines finds the lines that a person has typed since an id was the last, in the place of a decided run. An undo does not put such a
// line there again: it is there, or an agent has removed it since.
type typedLines struct {
	atoms []atom
	last  uint64
	run   *decidedRun

	ids      map[uint64]bool // of the run
	from, to int             // a stretch of atoms without its ends, all of which are newer than the decision, or of the run
	typed    map[string]int  // the first line of each text in it that a person has typed
}

// after returns the line with a text in the stretch around what follows atom i; -1 if there is none.
func (t *typedLines) after(i int, text string) int {
	if t.last == 0 {
		return -1
	}
	if t.typed == nil || i < t.from || i >= t.to {
		t.look(i)
	}
	if line, ok := t.typed[text]; ok {
		return line
	}
	return -1
}

// look finds the stretch around what follows atom i.
func (t *typedLines) look(i int) {
	if t.ids == nil {
		t.ids = make(map[uint64]bool, len(t.run.Atoms))
		for k := range t.run.Atoms {
			t.ids[t.run.Atoms[k].ID] = true
		}
	}
	newer := func(j int) bool {
		if j < 0 || j >= len(t.atoms) {
			return false
		}
		a := &t.atoms[j]
		return a.id > t.last || a.del != 0 || t.ids[a.id]
	}
	t.from, t.to, t.typed = i, i+1, map[string]int{}
	for newer(t.from) {
		t.from--
	}
	for newer(t.to) {
		t.to++
	}
	for j := t.from + 1; j < t.to; j++ {
		if a := &t.atoms[j]; a.ins == 0 && a.id > t.last {
			if _, seen := t.typed[a.text]; !seen {
				t.typed[a.text] = j
			}
		}
	}
}
