package diffs

import "cursord/diffs/internal/weave"

// typedLines finds the lines that have come since an id was the last, in the place of a decided run: a person has typed them, or, where a reject is
// undone, an agent has made its change again. An undo does not put such a line there again: it is there, or an agent has removed it since.
type typedLines struct {
	atoms []weave.Atom
	last  uint64
	run   *decidedRun
	made  bool // also lines that an agent has inserted, and that nobody has decided

	ids      map[uint64]bool  // of the run
	from, to int              // a stretch of atoms without its ends, all of which are newer than the decision, or of the run
	typed    map[string][]int // the lines of each text in it that are newer; those that after has returned are out
}

// after returns the line with a text in the stretch around what follows atom i; -1 if there is none.
func (t *typedLines) after(i int, text string) int {
	if t.last == 0 {
		return -1
	}
	if t.typed == nil || i < t.from || i >= t.to {
		t.look(i)
	}
	if lines := t.typed[text]; len(lines) > 0 {
		t.typed[text] = lines[1:]
		return lines[0]
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
		return a.ID > t.last || a.Del != 0 || t.ids[a.ID]
	}
	t.from, t.to, t.typed = i, i+1, map[string][]int{}
	for newer(t.from) {
		t.from--
	}
	for newer(t.to) {
		t.to++
	}
	for j := t.from + 1; j < t.to; j++ {
		if a := &t.atoms[j]; a.ID > t.last && (t.made || a.Ins == 0) {
			t.typed[a.Text] = append(t.typed[a.Text], j)
		}
	}
}
