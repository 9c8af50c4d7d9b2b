package diffs

import (
	"slices"

	"cursord/diffs/internal/weave"
)

// Redo decides again what d decided, as far as it is pending, with some more pending lines, and returns the new decision. Accepted lines
// that Undo has found removed since are pending as removed again. It returns ErrOvertaken if nothing of d is pending, or an error of
// Decide's, and then nothing has changed.
func (r *Review) Redo(d Decision, more ...uint64) (Decision, error) {
	if d.Rewound != nil {
		return r.redoRewind(d)
	}
	was := r.weave.Atoms
	r.weave.Atoms = r.withRemoved(d)
	again, err := r.redo(d, more)
	if err != nil {
		r.weave.Atoms = was
	}
	return again, err
}

func (r *Review) redo(d Decision, more []uint64) (Decision, error) {
	sel := selection{atoms: make([]bool, len(r.weave.Atoms)), over: d.Over}
	sel.parts[theOp] = d.Op && r.op.ID != 0 && r.op.ID == d.Before.Op.ID
	sel.parts[theUnknown] = d.Unknown && r.unknown.ID != 0 && r.unknown.ID == d.Before.Unknown.ID
	sel.parts[theMode] = d.Mode && r.chmod.ID != 0 && r.chmod.ID == d.Before.Mode.ID
	sel.parts[theMove] = d.Move && r.renamed.ID != 0 && r.renamed.ID == d.Before.Move.ID
	dels, decided := map[int32]bool{}, make(map[uint64][2]int32) // by which edits they were pending; an edit since then is another change
	for _, run := range d.Runs {
		for k := range run.Atoms {
			if a := &run.Atoms[k]; a.Decided {
				decided[a.ID], dels[a.Del] = [2]int32{a.Ins, a.Del}, true
			}
		}
	}
	rest := false // something pending is not selected
	for i := range r.weave.Atoms {
		a := &r.weave.Atoms[i]
		sel.atoms[i] = a.Pending() && (sel.parts[theOp] && !r.is || decided[a.ID] == [2]int32{a.Ins, a.Del} || a.Both && a.ID > d.Last && dels[a.Del])
		rest = rest || a.Pending() && !sel.atoms[i]
	}
	sel.parts[theOp] = sel.parts[theOp] && (d.Accept || !rest)
	if d.Accept {
		r.leaveReplaced(&sel, d)
		r.takeForgone(&sel, d)
	}
	if !slices.Contains(sel.parts[:], true) && !slices.Contains(sel.atoms, true) {
		return Decision{}, ErrOvertaken
	}
	r.add(&sel, more)
	pieces := r.list()
	if d.Over {
		r.widen(pieces, sel, func(a *weave.Atom) bool {
			was, is := decided[a.ID]
			return is && was == [2]int32{}
		})
	}
	return r.decide(pieces, sel, d.Accept)
}

// withRemoved returns the atoms with the accepted lines of d that other edits have removed since, if these edits still stand. They are on
// neither side: d has inserted them, and the other edit has deleted them. A line that was the same as a pending one when d was undone is two
// lines again.
func (r *Review) withRemoved(d Decision) []weave.Atom {
	place := r.weave.Places()
	behind, stand, atoms := make(map[int][]weave.Atom), r.past.Edits(), slices.Clone(r.weave.Atoms)
	goes := d.atoms(func(a *decidedAtom) bool { return a.Ins != 0 && a.Del != 0 })
	for _, run := range d.Runs {
		places, cursor := run.places(place, r.weave.Atoms, goes), -1
		typed := typedLines{atoms: r.weave.Atoms, last: d.Last, run: &run}
		for k := range run.Atoms {
			l := &run.Atoms[k]
			if i, present := place[l.ID]; present {
				if cursor = i; l.Back != 0 && !atoms[i].Pending() && stand[l.BackIns] {
					atoms[i].Del = l.Del
					behind[i] = append(behind[i], weave.Atom{Text: atoms[i].Text, ID: l.Back, Ins: l.BackIns})
				}
			} else if at, ok := places.behind(k); ok && l.Ins != 0 && stand[l.Del] {
				a := l.atom()
				cursor = max(cursor, at)
				if line := typed.after(cursor, a.Text); line >= 0 {
					cursor = max(cursor, line)
				} else {
					behind[cursor] = append(behind[cursor], a)
				}
			}
		}
	}
	return woven(atoms, behind, nil)
}

// leaveReplaced takes the removed lines that other pending lines replace now out of a selection of what an accept had accepted: a reject of
// the other lines must bring them back.
func (r *Review) leaveReplaced(sel *selection, d Decision) {
	for _, run := range d.Runs {
		of, gone := map[uint64]bool{}, 0
		for _, a := range run.Atoms {
			if of[a.ID] = true; a.Decided && a.Ins != 0 {
				gone++
			}
		}
		for i, a := range r.weave.Atoms {
			if sel.atoms[i] && a.Ins != 0 && of[a.ID] {
				gone--
			}
		}
		others := func(a weave.Atom) bool { return a.Ins != 0 && !of[a.ID] }
		for start, end := r.weave.Run(0); gone > 0 && start < len(r.weave.Atoms); start, end = r.weave.Run(end) {
			for i := start; slices.ContainsFunc(r.weave.Atoms[start:end], others) && i < end; i++ {
				sel.atoms[i] = sel.atoms[i] && (r.weave.Atoms[i].Del == 0 || !of[r.weave.Atoms[i].ID])
			}
		}
	}
}

// takeForgone adds the removed lines in the place of an accepted run that the copy in which it was accepted lacked, because a person had
// replaced them there, too.
func (r *Review) takeForgone(sel *selection, d Decision) {
	for _, run := range d.Runs {
		if len(run.Left) == 0 || run.Left[0] <= d.Last || slices.ContainsFunc(run.Atoms, func(a decidedAtom) bool { return !a.Decided }) {
			continue
		}
		ids := slices.Concat(run.Left, run.Right)
		slices.Reverse(ids[:len(run.Left)])
		from, to := r.weave.Gap(r.weave.Places(), len(ids), func(i int) uint64 { return ids[i] }, len(run.Left), len(run.Left))
		for i := from; i < to && slices.Contains(sel.atoms[from:to], true); i++ {
			sel.atoms[i] = sel.atoms[i] || r.weave.Atoms[i].Ins == 0 && r.weave.Atoms[i].Del != 0 && r.weave.Atoms[i].ID <= d.Last
		}
	}
}

// add adds pending lines to a selection.
func (r *Review) add(sel *selection, ids []uint64) {
	chosen := idSet(ids)
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Pending() && chosen[a.ID] {
			sel.atoms[i] = true
		}
	}
}
