package diffs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"cursord/diffs/history"
)

// A Decision is what Decide did, kept so that it can be undone. It belongs to the review that made it. As JSON it outlives a
// restart.
type Decision struct {
	Accept  bool         `json:"accept"`
	Hunks   []uint64     `json:"hunks"` // all that were decided, with linked ones
	Runs    []decidedRun `json:"runs,omitempty"`
	Op      bool         `json:"op,omitempty"`      // the creation, deletion or whole change was decided
	Unknown bool         `json:"unknown,omitempty"` // the unknown change was decided
	Mode    bool         `json:"mode,omitempty"`    // the change of the mode was decided
	Move    bool         `json:"move,omitempty"`    // the move was decided
	Before  mark         `json:"before"`
	Lost    *lost        `json:"lost,omitempty"` // the content that a decision on the whole file removed
	After   string       `json:"after"`          // the sum of the review's shape right after the decision
	Last    uint64       `json:"last,omitempty"` // the last id right after the decision
	Past    []byte       `json:"past,omitempty"` // of a reject: the history from before it, as Marshal made it
	Rewound *rewound     `json:"rewound,omitempty"`
}

// A lost is a body as it is stored: a link's target need not be UTF-8.
type lost struct {
	Data []byte `json:"data"`
	Link bool   `json:"link,omitempty"`
}

func (r *Review) lost(s side) lost {
	b := r.body(s)
	return lost{Data: []byte(b.text), Link: b.link}
}

// A decidedRun is a run as it was, and where its remaining lines were right after the decision.
type decidedRun struct {
	At    int           `json:"at"`
	Len   int           `json:"len"`
	Atoms []decidedAtom `json:"atoms"`
	Left  []uint64      `json:"left,omitempty"`  // the nearest neighbours, nearest first
	Right []uint64      `json:"right,omitempty"` // the same

	start, end int // where the run was
}

// A decidedAtom is a line as it was before the decision.
type decidedAtom struct {
	ID      uint64 `json:"id"`
	Ins     int32  `json:"ins,omitempty"`
	Del     int32  `json:"del,omitempty"`
	User    bool   `json:"user,omitempty"`
	Decided bool   `json:"decided,omitempty"`
	Gone    bool   `json:"gone,omitempty"` // the decision removed it
	Text    string `json:"text,omitempty"` // if gone
}

func (a *decidedAtom) atom() atom {
	return atom{text: a.Text, id: a.ID, ins: a.Ins, del: a.Del, user: a.User}
}

// Without returns a decision without the lines of some hunks, and whether it still has lines.
func (d Decision) Without(hunks []uint64) (Decision, bool) {
	d.Runs = slices.DeleteFunc(slices.Clone(d.Runs), func(run decidedRun) bool {
		return slices.Contains(hunks, run.hunk())
	})
	return d, len(d.Runs) > 0
}

// Parts returns by which ids Without finds what the decision has of some hunks of r, a copy with other lines of a person's.
func (d Decision) Parts(r *Review, hunks []uint64) (ids []uint64) {
	of := map[uint64]bool{}
	for _, p := range r.list() {
		for i := p.start; p.what == aRun && slices.Contains(hunks, p.id) && i < p.end; i++ {
			of[r.atoms[i].id] = true
		}
	}
	for _, run := range d.Runs {
		if slices.ContainsFunc(run.Atoms, func(a decidedAtom) bool { return of[a.ID] }) {
			ids = append(ids, run.hunk())
		}
	}
	return ids
}

// hunk returns the id of the hunk that the run was.
func (d *decidedRun) hunk() uint64 {
	pending := slices.DeleteFunc(slices.Clone(d.Atoms), func(a decidedAtom) bool { return a.settled() })
	return slices.MinFunc(pending, func(a, b decidedAtom) int { return cmp.Compare(a.ID, b.ID) }).ID
}

// neighbours is how many lines on each side of a run are kept to find its place again.
const neighbours = 16

// log notes a piece whose selected atoms are about to be decided.
func (r *Review) log(p piece, sel []bool, accept bool) decidedRun {
	d := decidedRun{start: p.start, end: p.end, Atoms: make([]decidedAtom, 0, p.end-p.start)}
	for i := p.start; i < p.end; i++ {
		a := r.atoms[i]
		l := decidedAtom{ID: a.id, Ins: a.ins, Del: a.del, User: a.user, Decided: sel[i]}
		if l.Decided && ((a.del != 0) == accept || !a.pending()) {
			l.Gone, l.Text = true, strings.Clone(a.text) // a copy, because the text that the line came from may be freed
		}
		d.Atoms = append(d.Atoms, l)
	}
	for i := p.start - 1; i >= 0 && len(d.Left) < neighbours; i-- {
		d.Left = append(d.Left, r.atoms[i].id)
	}
	for i := p.end; i < len(r.atoms) && len(d.Right) < neighbours; i++ {
		d.Right = append(d.Right, r.atoms[i].id)
	}
	return d
}

// Undo takes a decision back: exactly, with the ids, if nothing happened to the review since; otherwise as far as its lines
// still have a place. Lines that the user has deleted since stay deleted. If it cannot, it returns ErrOvertaken and changes
// nothing. Undoing an accept leaves Current as it is.
func (r *Review) Undo(d Decision) error {
	r.forget()
	was := r.present()
	if d.Rewound != nil {
		if err := r.undoRewind(d); err != nil {
			return err
		}
		r.rev++
		return nil
	}
	if r.shape().sum() == d.After {
		r.restoreExactly(d)
		if len(d.Past) > 0 && (!d.Accept || d.Replaces()) && r.RestoreHistory(d.Past) == nil {
			r.rev++
			return nil
		}
	} else if err := r.restoreAround(d); err != nil {
		return err
	}
	r.follow(was, history.Decision, 0)
	if old, err := history.Unmarshal(d.Past, math.MaxInt); d.Accept && err == nil {
		r.past = r.past.PendingAs(old)
	}
	r.rev++
	return nil
}

func (r *Review) restoreExactly(d Decision) {
	for _, run := range slices.Backward(d.Runs) {
		at, end := run.At, run.At+run.Len
		old := make([]atom, len(run.Atoms))
		survivor := at
		for i := range run.Atoms {
			old[i] = run.Atoms[i].atom()
			if !run.Atoms[i].Gone {
				old[i].text = r.atoms[survivor].text
				survivor++
			}
		}
		r.atoms = slices.Replace(r.atoms, at, end, old...)
	}
	if b := d.Before.Whole; b != nil && d.Lost != nil {
		w, lost := r.whole, body{text: string(d.Lost.Data), link: d.Lost.Link}
		if d.Accept {
			w.base = lost
		} else {
			w.now = lost
		}
		w.baseID, w.nowID, w.touched, w.forked = b.Base, b.Now, b.Touched, b.Forked
		w.classify(r.limits)
	}
	r.was, r.is, r.op, r.unknown = d.Before.Was, d.Before.Is, d.Before.Op, d.Before.Unknown
	r.attrs = d.Before.attrs()
}

// restoreAround puts the lines of d back into a weave that has changed since.
func (r *Review) restoreAround(d Decision) error {
	if d.Before.Whole != nil || r.whole != nil || !r.is || !r.was && d.Before.Was || !r.restorable(d) {
		return ErrOvertaken
	}
	if d.Op && (d.Accept && !d.Before.Is || !d.Accept && !d.Before.Was) {
		return ErrOvertaken // the file was gone since, and is now another one
	}
	place := make(map[uint64]int, len(r.atoms))
	for i := range r.atoms {
		place[r.atoms[i].id] = i
	}
	behind := make(map[int][]atom) // what goes after atom i; -1 is the start
	drop := make(map[int]bool)
	change := make(map[int]atom)
	for _, run := range d.Runs {
		cursor, ok := run.cursor(place, len(r.atoms))
		if !ok {
			return ErrOvertaken
		}
		typed := typedLines{atoms: r.atoms, last: d.Last, run: &run}
		for k := range run.Atoms {
			old := &run.Atoms[k]
			i, present := place[old.ID]
			switch {
			case present:
				if a, keep := old.restored(r.atoms[i], d.Accept); keep {
					change[i] = a
				} else {
					drop[i] = true
				}
				cursor = i
			case old.Gone:
				if line := typed.after(cursor, old.Text); line >= 0 {
					cursor = max(cursor, line)
				} else {
					behind[cursor] = append(behind[cursor], old.atom())
				}
			}
		}
	}
	atoms := make([]atom, 0, len(r.atoms)+len(behind))
	atoms = append(atoms, behind[-1]...)
	for i, a := range r.atoms {
		if c, ok := change[i]; ok {
			a = c
		}
		if !drop[i] {
			atoms = append(atoms, a)
		}
		atoms = append(atoms, behind[i]...)
	}
	r.atoms = atoms
	if d.Unknown && r.unknown.ID == 0 {
		r.unknown = d.Before.Unknown
	}
	r.reopen(d)
	if r.repair(); d.Last != 0 {
		r.meet(d.Last, func(a *atom) bool { return a.del != 0 }, texts) // deleted lines that a person has typed again since
	}
	r.normalise()
	if r.was && r.is && r.weave.pending() && r.same() {
		r.settleBack()
	}
	r.attrs.restore(d)
	r.settleAttrs()
	return nil
}

// restored returns what becomes of a, which was old before the decision, and whether it stays in the weave.
func (old *decidedAtom) restored(a atom, accept bool) (restored atom, keep bool) {
	switch {
	case !old.Decided:
	case old.Ins != 0 && a.del != 0:
		return a, false // the agent has removed its own line since
	case old.Ins != 0:
		a.ins, a.user = old.Ins, old.User
	case a.ins != 0 && a.del == 0 && !accept:
		return a, false // the line of an edit, which is pending again; a later edit has removed it
	case a.del == 0 && !accept: // a line that an accept removed is here only if the accept was made in another copy
		a.del = old.Del
	}
	return a, true
}

// cursor returns the atom after which the run's lines belong, found by their neighbours and remaining lines; -1 is the
// start.
func (d *decidedRun) cursor(place map[uint64]int, atoms int) (cursor int, ok bool) {
	if len(d.Left) > 0 {
		if i, ok := place[d.Left[0]]; ok {
			return i, true
		}
	}
	for k := range d.Atoms {
		if i, ok := place[d.Atoms[k].ID]; ok {
			return i - 1, true
		}
	}
	for k := range max(len(d.Left), len(d.Right)) { // the nearest
		if k < len(d.Left) {
			if i, ok := place[d.Left[k]]; ok {
				return i, true
			}
		}
		if k < len(d.Right) {
			if i, ok := place[d.Right[k]]; ok {
				return i - 1, true
			}
		}
	}
	switch {
	case len(d.Left) == 0:
		return -1, true
	case len(d.Right) == 0:
		return atoms - 1, true
	}
	return 0, false
}

// reopen makes the creation that d accepted, or the deletion that d rejected, pending again, if the lines allow it.
func (r *Review) reopen(d Decision) {
	before := d.Before
	switch {
	case len(d.Runs) == 0 && !d.Op:
	case d.Accept && !before.Was && before.Is && r.was && r.last(baseline) < 0:
		r.was, r.op = false, before.Op
	case !d.Accept && before.Was && !before.Is && r.last(current) < 0:
		r.is, r.op = false, before.Op
		if r.isPath == before.WasPath {
			r.isPath = before.IsPath
		}
	}
}

// Redo decides again what d decided, as far as it is pending, with some more pending lines, and returns the new decision. It returns
// ErrOvertaken if nothing of it is pending, or an error of Decide's.
func (r *Review) Redo(d Decision, more ...uint64) (Decision, error) {
	if d.Rewound != nil {
		return r.redoRewind(d)
	}
	sel := selection{atoms: make([]bool, len(r.atoms))}
	sel.parts[theOp] = d.Op && r.op.ID != 0 && r.op.ID == d.Before.Op.ID
	sel.parts[theUnknown] = d.Unknown && r.unknown.ID != 0 && r.unknown.ID == d.Before.Unknown.ID
	sel.parts[theMode] = d.Mode && r.chmod.ID != 0 && r.chmod.ID == d.Before.Mode.ID
	sel.parts[theMove] = d.Move && r.renamed.ID != 0 && r.renamed.ID == d.Before.Move.ID
	decided := make(map[uint64][2]int32) // by which edits they were pending; an edit since then is another change
	for _, run := range d.Runs {
		for k := range run.Atoms {
			if a := &run.Atoms[k]; a.Decided {
				decided[a.ID] = [2]int32{a.Ins, a.Del}
			}
		}
	}
	for i := range r.atoms {
		if a := &r.atoms[i]; a.pending() && (sel.parts[theOp] || decided[a.id] == [2]int32{a.ins, a.del}) {
			sel.atoms[i] = true
		}
	}
	if d.Accept {
		r.leaveReplaced(&sel, d)
	}
	if !slices.Contains(sel.parts[:], true) && !slices.Contains(sel.atoms, true) {
		return Decision{}, ErrOvertaken
	}
	r.add(&sel, more)
	pieces := r.list()
	if d.Replaces() {
		r.widen(pieces, sel, func(a *atom) bool {
			was, is := decided[a.id]
			return is && was == [2]int32{}
		})
	}
	return r.decide(pieces, sel, d.Accept)
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
		for i, a := range r.atoms {
			if sel.atoms[i] && a.ins != 0 && of[a.id] {
				gone--
			}
		}
		others := func(a atom) bool { return a.ins != 0 && !of[a.id] }
		for start, end := r.run(0); gone > 0 && start < len(r.atoms); start, end = r.run(end) {
			for i := start; slices.ContainsFunc(r.atoms[start:end], others) && i < end; i++ {
				sel.atoms[i] = sel.atoms[i] && (r.atoms[i].del == 0 || !of[r.atoms[i].id])
			}
		}
	}
}

// add adds pending lines to a selection.
func (r *Review) add(sel *selection, ids []uint64) {
	chosen := idSet(ids)
	for i := range r.atoms {
		if a := &r.atoms[i]; a.pending() && chosen[a.id] {
			sel.atoms[i] = true
		}
	}
}
