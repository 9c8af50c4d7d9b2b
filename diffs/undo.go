package diffs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
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
	Over    bool         `json:"over,omitempty"` // Replace has made it
}

// A lost is a body as it is stored: a link's target need not be UTF-8.
type lost struct {
	Data []byte `json:"data"`
	Link bool   `json:"link,omitempty"`
}

func (r *Review) lost(s weave.Side) lost {
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

// A decidedAtom is a line as it was before the decision. With both edits, Ins was accepted, and Del has removed the line since.
type decidedAtom struct {
	ID      uint64 `json:"id"`
	Ins     int32  `json:"ins,omitempty"`
	Del     int32  `json:"del,omitempty"`
	User    bool   `json:"user,omitempty"`
	Both    bool   `json:"both,omitempty"`
	Decided bool   `json:"decided,omitempty"`
	Gone    bool   `json:"gone,omitempty"` // the decision removed it
	Text    string `json:"text,omitempty"` // if gone, or with both edits

	// Of a line that an accept removed: the pending line, and its edit, that were the same line again when the accept was undone.
	Back    uint64 `json:"back,omitempty"`
	BackIns int32  `json:"backIns,omitempty"`
}

func (a *decidedAtom) atom() weave.Atom {
	return weave.Atom{Text: a.Text, ID: a.ID, Ins: a.Ins, Del: a.Del, User: a.User, Both: a.Both}
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
			of[r.weave.Atoms[i].ID] = true
		}
	}
	for _, run := range d.Runs {
		if slices.ContainsFunc(run.Atoms, func(a decidedAtom) bool { return of[a.ID] }) {
			ids = append(ids, run.hunk())
		}
	}
	return ids
}

// atoms returns the ids of some of the lines that d is about.
func (d *Decision) atoms(of func(*decidedAtom) bool) map[uint64]bool {
	ids := map[uint64]bool{}
	for _, run := range d.Runs {
		for k := range run.Atoms {
			if of(&run.Atoms[k]) {
				ids[run.Atoms[k].ID] = true
			}
		}
	}
	return ids
}

// hunk returns the id of the hunk that the run was.
func (d *decidedRun) hunk() uint64 {
	pending := slices.DeleteFunc(slices.Clone(d.Atoms), func(a decidedAtom) bool { return a.settled() })
	return slices.MinFunc(pending, func(a, b decidedAtom) int { return cmp.Compare(a.ID, b.ID) }).ID
}

// log notes a piece whose selected atoms are about to be decided.
func (r *Review) log(p piece, sel selection, accept bool) decidedRun {
	d := decidedRun{start: p.start, end: p.end, Atoms: make([]decidedAtom, 0, p.end-p.start)}
	for i := p.start; i < p.end; i++ {
		a := r.weave.Atoms[i]
		l := decidedAtom{ID: a.ID, Ins: a.Ins, Del: a.Del, User: a.User, Both: a.Both, Decided: sel.atoms[i]}
		if l.Gone = sel.goes(i, &a, accept); l.Gone || a.Ins != 0 && a.Del != 0 {
			l.Text = strings.Clone(a.Text) // a copy, because the text that the line came from may be freed
		}
		d.Atoms = append(d.Atoms, l)
	}
	for i := p.start - 1; i >= 0 && len(d.Left) < neighbours; i-- {
		d.Left = append(d.Left, r.weave.Atoms[i].ID)
	}
	for i := p.end; i < len(r.weave.Atoms) && len(d.Right) < neighbours; i++ {
		d.Right = append(d.Right, r.weave.Atoms[i].ID)
	}
	return d
}

// Undo takes a decision back: exactly, with the ids, if nothing happened to the review since; otherwise as far as its lines
// still have a place. Lines that the user has deleted since stay deleted. If it cannot, it returns ErrOvertaken and changes
// nothing; it returns ErrGone if an accept's lines are all gone. Undoing an accept leaves Current as it is. In d, Undo notes the edits that
// have removed accepted lines since, for Redo.
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
		if len(d.Past) > 0 && (!d.Accept || d.ChangesBoth()) && r.RestoreHistory(d.Past) == nil {
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
		old := make([]weave.Atom, 0, len(run.Atoms))
		survivor := at
		for i := range run.Atoms {
			l := &run.Atoms[i]
			a := l.atom()
			if !l.Gone {
				a.Text = r.weave.Atoms[survivor].Text
				l.note(r.weave.Atoms[survivor])
				survivor++
			}
			if l.Ins == 0 || l.Del == 0 {
				old = append(old, a)
			}
		}
		r.weave.Atoms = slices.Replace(r.weave.Atoms, at, end, old...)
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
	kept := r.keptThrough(d)
	if d.Op && !kept && (d.Accept && !d.Before.Is || !d.Accept && !d.Before.Was) {
		return ErrOvertaken // the file was gone since, and is now another one
	}
	place := r.weave.Places()
	behind := make(map[int][]weave.Atom) // what goes after atom i; -1 is the start
	drop := make(map[int]bool)
	change := make(map[int]weave.Atom)
	notes := make(map[*decidedAtom]weave.Atom)
	goes := d.atoms(func(a *decidedAtom) bool { return a.Gone })
	met := !d.Accept || d.Unknown || d.Mode || d.Move || kept
	for _, run := range d.Runs {
		places, cursor := run.places(place, r.weave.Atoms, goes), -1
		typed := typedLines{atoms: r.weave.Atoms, last: d.Last, run: &run, made: !d.Accept}
		for k := range run.Atoms {
			old := &run.Atoms[k]
			i, present := place[old.ID]
			switch {
			case present:
				notes[old] = r.weave.Atoms[i]
				if a, keep := old.restored(r.weave.Atoms[i], d.Accept); keep {
					change[i], met = a, met || old.Decided
				} else {
					drop[i] = true
				}
				cursor = i
			case old.Gone:
				at, ok := places.behind(k)
				if !ok {
					return ErrOvertaken
				}
				met, cursor = true, max(cursor, at)
				if line := typed.after(cursor, old.Text); line >= 0 {
					cursor = max(cursor, line)
				} else {
					behind[cursor] = append(behind[cursor], old.atom())
				}
			}
		}
		if at, beside := places.last(); beside && r.copied && !d.Accept {
			r.contestAgain(&run, d.Last, at, place, change)
		}
	}
	atoms := slices.Clone(r.weave.Atoms)
	for i, a := range change {
		atoms[i] = a
	}
	atoms = woven(atoms, behind, drop)
	if !met && !(d.Op && !slices.ContainsFunc(atoms, func(a weave.Atom) bool { return a.On(weave.Baseline) })) {
		return ErrGone
	}
	for old, a := range notes {
		old.note(a)
	}
	before := r.weave.Atoms
	r.weave.Atoms = atoms
	if d.Unknown && r.unknown.ID == 0 {
		r.unknown = d.Before.Unknown
	}
	if r.reopen(d); kept {
		r.deleteAgain(d)
	}
	if r.weave.Repair(); d.Last != 0 {
		r.weave.Meet(d.Last, func(a *weave.Atom) bool { return a.Del != 0 }, weave.Texts) // deleted lines that a person has typed again since
	}
	r.weave.Normalise()
	if r.was && r.is && r.weave.Pending() && r.weave.Same() {
		r.weave.SettleBack()
	}
	noteMet(d, before, r.weave.Atoms)
	r.attrs.restore(d)
	r.settleAttrs()
	return nil
}

// noteMet notes which pending lines were the same as lines that come back by an undo, so that neither is pending.
func noteMet(d Decision, before, after []weave.Atom) {
	left, gone := make(map[uint64]*weave.Atom, len(after)), map[string][]weave.Atom{}
	for i := range after {
		left[after[i].ID] = &after[i]
	}
	for _, a := range before {
		if a.Ins != 0 && left[a.ID] == nil {
			gone[a.Text] = append(gone[a.Text], a)
		}
	}
	for _, run := range d.Runs {
		for k := range run.Atoms {
			l := &run.Atoms[k]
			l.Back, l.BackIns = 0, 0
			if a, met := left[l.ID], gone[l.Text]; l.Gone && d.Accept && l.Del != 0 && a != nil && !a.Pending() && len(met) > 0 {
				l.Back, l.BackIns, gone[l.Text] = met[0].ID, met[0].Ins, met[1:]
			}
		}
	}
}

// woven returns atoms without those to drop and with others behind them; -1 is the start.
func woven(atoms []weave.Atom, behind map[int][]weave.Atom, drop map[int]bool) []weave.Atom {
	all := slices.Clone(behind[-1])
	for i, a := range atoms {
		if !drop[i] {
			all = append(all, a)
		}
		all = append(all, behind[i]...)
	}
	return all
}

// note notes which edit has removed an accepted line, which is a now.
func (old *decidedAtom) note(a weave.Atom) {
	if old.Decided && old.Ins != 0 {
		if old.Del = a.Del; a.Del != 0 {
			old.Text = strings.Clone(a.Text)
		}
	}
}

// restored returns what becomes of a, which was old before the decision, and whether it stays in the weave.
func (old *decidedAtom) restored(a weave.Atom, accept bool) (restored weave.Atom, keep bool) {
	switch {
	case !old.Decided:
	case old.Ins != 0 && a.Del != 0:
		return a, false // the agent has removed its own line since
	case old.Ins != 0:
		a.Ins, a.User = old.Ins, old.User
	case a.Ins != 0 && a.Del == 0 && !accept:
		return a, false // the line of an edit, which is pending again; a later edit has removed it
	case a.Del == 0 && (!accept || !old.Gone && old.Both): // a line that an accept removed is here only if the accept was made in another copy
		a.Del, a.Both = old.Del, old.Both
	}
	return a, true
}

// reopen makes the creation that d accepted, or the deletion that d rejected, pending again, if the lines allow it.
func (r *Review) reopen(d Decision) {
	before := d.Before
	switch {
	case len(d.Runs) == 0 && !d.Op:
	case d.Accept && !before.Was && before.Is && r.was && r.weave.Last(weave.Baseline) < 0:
		r.was, r.op = false, before.Op
	case !d.Accept && before.Was && !before.Is && r.weave.Last(weave.Current) < 0:
		r.is, r.op = false, before.Op
		if r.isPath == before.WasPath {
			r.isPath = before.IsPath
		}
	}
}
