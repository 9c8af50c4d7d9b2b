package diffs

import (
	"fmt"
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
)

// An Undone selects the edits that a rewind takes back: those of some turns of a session.
type Undone struct {
	Session string   `json:"session"`
	Turns   []string `json:"turns"`
}

// Has reports whether a source is that of an edit to take back.
func (u *Undone) Has(s Source) bool {
	return s.SessionID == u.Session && slices.Contains(u.Turns, s.TurnID)
}

// A Left is what a rewind has left of the edits that it takes back.
type Left struct {
	Changed bool // lines or files that somebody has changed since
	Lost    bool // what they replaced is not known any more
	Gone    bool // a person has removed the file, or moved it to where nobody has followed it
	Told    bool // lines of which only an import has told
	Maybe   bool // what may be a person's
}

// A rewound is what takes a rewind back.
type rewound struct {
	Undone
	All     bool   `json:"all,omitempty"` // by RewindAll
	Changes int    `json:"changes"`
	State   []byte `json:"state"` // as Marshal made it, before
	Past    []byte `json:"past,omitempty"`
	Base    []byte `json:"base"`
	Now     []byte `json:"now"`
	Then    []byte `json:"then"` // the present content after
	Forgets bool   `json:"forgets,omitempty"`
}

// Size counts what a decision has decided.
func (d *Decision) Size() int {
	if d.Rewound != nil {
		return d.Rewound.Changes
	}
	return len(d.Hunks)
}

// Rewinds reports whether the decision is one of Rewind's.
func (d *Decision) Rewinds() bool { return d.Rewound != nil }

// Forgets reports whether the decision is a rewind that changes nothing but what later rewinds may bring back.
func (d *Decision) Forgets() bool { return d.Rewound != nil && d.Rewound.Forgets }

// rewind is takeBack without its trial: after an error r may have changed, and the decision counts the changed places also if the content stays.
// forgets is as in history.Back.
func (r *Review) rewind(u Undone, all bool) (d Decision, left Left, forgets bool, err error) {
	of := map[int32]bool{}
	for i, n := range r.sources.numbers {
		src := r.sources.by[i]
		of[n] = u.Has(src) && !src.Imported && (all || src.Via != ViaUnknown)
	}
	saved := &rewound{Undone: u, All: all, State: r.Marshal(), Past: r.past.Marshal()}
	saved.Base, saved.Now = history.Pack(r.Baseline().Data), history.Pack(r.Current().Data)
	before := r.mark()
	if saved.Changes, left, forgets, err = r.without(of); err != nil {
		return Decision{}, left, false, err
	}
	saved.Then = history.Pack(r.Current().Data)
	return Decision{Before: before, Rewound: saved, After: r.shape().sum(), Last: r.weave.Next}, left, forgets, nil
}

// without takes edits back, and returns how many places change. The rest is as in rewind.
func (r *Review) without(of map[int32]bool) (changes int, left Left, forgets bool, err error) {
	if under := r.beneathWhole(of); under != nil {
		if changes, left, _, err = under.without(of); err == nil {
			r.putOver(under)
		} else if others := r.op.without(of); len(others.Edits) < len(r.op.Edits) {
			r.forget()
			r.op, changes, err = others, 1, nil // nothing of them is known, but that they were pending
			r.rev++
		}
		return changes, left, true, err
	}
	before := r.present()
	back := r.past.Rewind(func(n int32) bool { return of[n] }, before.body, before.path, weave.Texts(before.lines), r.beneath(of))
	pending, alone := r.pendingOf(of)
	if back == nil && pending {
		back = history.Keep(r.past, before.body, before.path, len(before.lines))
		back.Changed = alone
	}
	if back == nil {
		return 0, left, false, fmt.Errorf("%w: nothing of these turns", ErrNotFound)
	}
	under := r.beneathOthers(of, back)
	left = Left{Changed: back.Changed || back.Beneath, Lost: back.Lost}
	if pending = pending || len(under.instead) > 0; back.Changes == 0 && pending {
		back.Changes = 1 // what somebody has changed since is not pending any more
	} else if back.Changes == 0 && !back.Forgets {
		return 0, left, false, fmt.Errorf("%w: nothing of these turns is as they left it", ErrNotFound)
	}
	if (back.Body.Kind == history.Absent) == r.is {
		back.Changes = 1 // the file goes, or is there again, with all its lines
	}
	r.forget()
	target := r.target(back, before.lines)
	after := r.pendingAfter(back, of, target)
	if r.copied && target.Exists && target.Target == "" && !r.is && r.file(weave.Baseline) && len(after.mode) == 0 {
		target.Mode = r.wasMode // a person may have changed it since
	}
	atoms := r.revived(of, back)
	if atoms != nil {
		r.weave.Atoms, r.is, r.op = atoms, true, fileOp{}
		r.weave.Repair()
	} else {
		after.removed = r.removedAgain(back, before.lines)
		r.withdraw(of, back, target, under)
		r.bring(back, target, before.lines, after)
	}
	r.observeAttrs(target.Mode, 0)
	r.reopenParts(after, of, back.Path)
	if base := r.baselineBody(); r.op.ID != 0 && base.Kind == history.Opaque && r.past.Made(func(n int32) bool { return of[n] }, base) {
		left.Changed = true // a reject of the others' brings back what was accepted
	}
	if r.past = back.File; atoms == nil {
		r.past = r.past.Place(r.tombstones())
	}
	r.rev++
	r.forget()
	return back.Changes, left, back.Forgets, nil
}

// pendingOf reports whether anything of some edits is pending, and whether anything is of these alone.
func (r *Review) pendingOf(of map[int32]bool) (any, alone bool) {
	has := func(n int32) bool { return of[n] }
	for _, what := range []what{theUnknown, theMove, theMode, theOp} {
		if op := r.fileOp(what); op.ID != 0 && slices.ContainsFunc(op.Edits, has) {
			any = true
			alone = alone || !slices.ContainsFunc(op.Edits, func(n int32) bool { return !of[n] })
		}
	}
	lines := slices.ContainsFunc(r.weave.Atoms, func(a weave.Atom) bool { return of[a.Ins] || of[a.Del] })
	return any || lines, alone || lines
}

// target returns the content that a rewind leaves.
func (r *Review) target(back *history.Back, lines []weave.Atom) Content {
	c := Content{Exists: back.Body.Kind != history.Absent, Mode: back.Body.Mode}
	switch {
	case back.Body.Kind == history.Opaque && back.Body.Link:
		c.Target, c.Mode = string(back.Body.Data), 0
	case back.Body.Kind == history.Opaque:
		c.Data = back.Body.Data
	case c.Exists:
		c.Data = []byte(r.joined(back, lines, nil))
	default:
		c.Mode = 0
	}
	return c
}

// joined returns the text of what stays, and of the lines that come back in the wanted pieces; nil wants all.
func (r *Review) joined(back *history.Back, lines []weave.Atom, wanted func(piece int) bool) string {
	var b []byte
	for k, p := range back.Lines {
		if p.From == p.To && (wanted == nil || wanted(k)) {
			b = r.appendLine(b, p.Text)
		}
		for i := p.From; i < p.To; i++ {
			b = r.appendLine(b, lines[i].Text)
		}
	}
	return string(b)
}

// appendLine appends a line to a text, whose last line may have no end.
func (r *Review) appendLine(text []byte, line string) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, r.weave.LineEnd()...)
	}
	return append(text, line...)
}

// bring takes in the content that a rewind leaves. Lines that were pending when the edits removed them are pending again, and so is
// the file as a whole if after says so.
func (r *Review) bring(back *history.Back, target Content, lines []weave.Atom, after again) {
	switch {
	case len(after.body) == 0:
	case !target.Exists && r.whole == nil && r.was:
		r.is, r.op = true, fileOp{}
		r.observe(false, body{}, after.body[len(after.body)-1])
		return
	case after.whole:
		r.rebuild(target, back.File, after)
		return
	}
	by, replaced := r.pendingAgain(back, lines, after.removed)
	edits := slices.Compact(slices.Sorted(slices.Values(by)))
	edits = slices.DeleteFunc(edits, func(n int32) bool { return n == 0 })
	if r.whole != nil || back.Body.Kind != history.Text {
		r.observe(target.Exists, target.body(), 0)
		return
	}
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Del == 0 && a.Ins == 0 {
			a.Del = replaced[a.ID]
		}
	}
	r.weave.Repair()
	if r.was || r.is {
		edits = slices.Insert(edits, 0, 0)
	} else { // the edits have made the file
		edits = append(edits, 0)
	}
	for k, n := range edits {
		text := r.joined(back, lines, func(piece int) bool { return slices.Contains(edits[:k+1], by[piece]) })
		last := r.weave.Next
		if r.observe(true, body{text: text}, n); n == 0 && r.whole == nil {
			r.order(back, last)
		}
	}
}

// pendingAgain returns of which edit each piece is pending again, 0 for none, and which lines of the baseline these pieces had replaced,
// by id.
func (r *Review) pendingAgain(back *history.Back, lines []weave.Atom, removed map[uint64]int32) (by []int32, replaced map[uint64]int32) {
	by, replaced = make([]int32, len(back.Lines)), removed
	for k, p := range back.Lines {
		if !p.Pending || p.Ins <= 0 || !slices.Contains(r.sources.numbers, p.Ins) {
			continue
		}
		by[k] = p.Ins
		for _, id := range r.replacedBy(p, lines, replaced) {
			replaced[id] = p.Ins
		}
	}
	return by, replaced
}

// replacedBy returns the ids of the present lines beside a piece that the piece had replaced.
func (r *Review) replacedBy(p history.Piece, lines []weave.Atom, again map[uint64]int32) (ids []uint64) {
	for i := max(0, p.From-1); i < min(len(lines), p.From+1); i++ {
		_, known := again[lines[i].ID]
		by, _ := r.past.Of(i)
		if by == p.Del && lines[i].Ins == 0 && !known && r.past.RemovedNear(p.From, p.Ins, lines[i].Text) {
			ids = append(ids, lines[i].ID)
		}
	}
	return ids
}

// withdraw takes back what is pending of edits, as far as a rewind takes it back.
func (r *Review) withdraw(of map[int32]bool, back *history.Back, target Content, under beneath) {
	all := func(op fileOp) bool {
		return op.ID != 0 && !slices.ContainsFunc(op.Edits, func(n int32) bool { return !of[n] })
	}
	if all(r.chmod) {
		r.isMode, r.chmod = r.wasMode, fileOp{} // see observeAttrs
	}
	if all(r.renamed) || back.Path != r.isPath {
		r.isPath, r.wasPath, r.renamed = back.Path, back.Path, fileOp{} // see reopenParts
	}
	for _, op := range []*fileOp{&r.op, &r.renamed, &r.chmod} {
		if op.ID != 0 && !all(*op) { // earlier turns have a part in it
			*op = op.without(of)
		}
	}
	if w := r.whole; w != nil {
		switch {
		case !all(r.op):
		case target.Exists == r.was && target.body() == w.base:
			r.op, w.now, w.nowID, r.is = fileOp{}, w.base, w.baseID, r.was
			w.touched = false
			w.classify(r.limits)
		default:
			r.settle(target.Exists, target.body(), false)
		}
		return
	}
	r.align(back)
	kept, before := make([]weave.Atom, 0, len(r.weave.Atoms)), r.removedBefore(back)
	for _, a := range r.weave.Atoms {
		if a.Ins != 0 && of[a.Ins] {
			continue
		}
		if others, over := under.instead[a.ID]; over {
			for _, d := range others {
				kept = append(kept, weave.Atom{Text: d.Text, ID: r.weave.ID(), Del: d.Del})
			}
			continue
		}
		if of[a.Del] {
			if a.Del = before(a.Text); a.Del == 0 {
				a.Del = under.by[a.ID]
			}
			if n := len(r.op.Edits); a.Del == 0 && !r.is && !target.Exists && !all(r.op) && n > 0 {
				a.Del = r.op.Edits[n-1] // it goes with the file
			}
		}
		kept = append(kept, a)
	}
	r.weave.Atoms = kept
	switch {
	case !all(r.op):
	case !r.was && !target.Exists:
		r.is, r.op = false, fileOp{}
	case !r.is && !target.Exists && len(r.weave.Atoms) == 0: // an empty file
		r.was, r.op = false, fileOp{}
	case r.was && !r.is && target.Exists:
		r.is, r.op = true, fileOp{}
	}
	r.weave.Repair()
	r.settleExistence()
}
