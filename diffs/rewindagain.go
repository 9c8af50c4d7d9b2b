package diffs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// Rewind takes back what edits have done, pending or accepted, where it is still as they left it: the lines that they wrote
// go, those that they removed come back, and so do the file, its path, its mode and an earlier content without lines. What
// somebody else has written, or changed since, stays, and so does what may be a person's (ViaUnknown). It returns ErrNotFound if there is nothing
// to take back; left says what stays in either case.
func (r *Review) Rewind(u Undone) (d Decision, left Left, err error) { return r.takeBack(u, false) }

// RewindAll is Rewind where nothing is a person's: in a copy that only the agent writes.
func (r *Review) RewindAll(u Undone) (d Decision, left Left, err error) { return r.takeBack(u, true) }

func (r *Review) takeBack(u Undone, all bool) (d Decision, left Left, err error) {
	trial := r.Copy()
	var forgets bool
	if d, left, forgets, err = trial.rewind(u, all); err == nil && trial.isPath == r.isPath && trial.Current().same(r.Current()) {
		d.Rewound.Changes = 0
		if d.Rewound.Forgets = trial.shape().sum() == r.shape().sum(); d.Rewound.Forgets && !forgets {
			d, err = Decision{}, fmt.Errorf("%w: nothing of these turns is as they left it", ErrNotFound)
		}
	}
	left.Told = slices.ContainsFunc(r.sources.by, func(s Source) bool { return s.Imported && u.Has(s) })
	if err != nil {
		left.Gone = !r.is && r.past.Taken(func(n int32) bool { return slices.ContainsFunc(r.sources.of([]int32{n}), u.Has) })
		trial = r
	}
	left.Maybe = !all && r.maybeIn(u, trial)
	*r = *trial
	return d, left, err
}

// maybeIn reports whether a rewind of what may be a person's, too, would leave something else than sure, which is the review after a rewind.
func (r *Review) maybeIn(u Undone, sure *Review) bool {
	if !slices.ContainsFunc(r.sources.by, func(s Source) bool { return s.Via == ViaUnknown && u.Has(s) }) {
		return false
	}
	all := r.Copy()
	if _, _, _, err := all.rewind(u, true); err != nil {
		return false
	}
	return all.isPath != sure.isPath || !all.Current().same(sure.Current()) || all.shape().sum() != sure.shape().sum()
}

// undecided returns what of the file nobody has decided about; nil if there is no file, either.
func (r *Review) undecided() *history.Pending {
	if !r.was && !r.is && !r.Pending() {
		return nil
	}
	p := &history.Pending{
		Body: slices.Clone(r.op.Edits), Mode: slices.Clone(r.chmod.Edits), Path: slices.Clone(r.renamed.Edits),
		Was: r.baselineSum(), WasMode: r.wasMode, WasPath: r.wasPath,
	}
	if r.op.ID == 0 || !r.is {
		p.Body = slices.Concat(p.Body, r.edits(piece{end: len(r.weave.Atoms)}, nil))
		slices.Sort(p.Body)
		p.Body = slices.DeleteFunc(slices.Compact(p.Body), func(n int32) bool { return n == 0 })
	}
	return p
}

// baselineSum returns a sum of the baseline, without its mode and its path.
func (r *Review) baselineSum() string {
	b := r.body(weave.Baseline)
	h := sha256.New()
	h.Write([]byte{byte(weave.Bit(r.was)), byte(weave.Bit(b.link))})
	h.Write([]byte(b.text))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// An again says of which edits the body, the mode and the path of a file are pending after a rewind.
type again struct {
	body, mode, path []int32
	whole            bool // the lines have to be compared anew
	was              bool // the baseline, with base and so on
	base             body
	wasMode          uint32
	wasPath          string
	removed          map[uint64]int32 // lines of the baseline; see removedAgain
}

// pendingAfter returns what is pending after a rewind of the edits that of has: what is pending of others now, and what was pending when
// these edits changed it, if nobody has decided since. That is so if the baseline is the same.
func (r *Review) pendingAfter(back *history.Back, of map[int32]bool, target Content) again {
	others := func(edits []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(edits), func(n int32) bool { return of[n] || !slices.Contains(r.sources.numbers, n) })
	}
	a := again{mode: others(r.chmod.Edits), path: others(r.renamed.Edits), whole: r.whole != nil || back.Whole, was: r.was, wasMode: r.wasMode, wasPath: r.wasPath}
	for _, p := range back.Pending {
		if len(a.body) == 0 && back.Whole && p.Was == r.baselineSum() && r.madeByOthers(back.File, target, of) {
			if a.body = others(p.Body); len(a.body) == 0 {
				a.body = others(slices.Sorted(maps.Keys(back.File.Edits())))
			} else {
				a.body = slices.Concat(a.body, others(pendingBack(back)))
				slices.Sort(a.body)
				a.body = slices.Compact(a.body)
			}
		}
		if len(a.mode) == 0 && p.WasMode == r.wasMode {
			a.mode = others(p.Mode)
		}
		if len(a.path) == 0 && p.WasPath == r.wasPath {
			a.path = others(p.Path)
		}
	}
	if len(a.body) > 0 {
		a.base = r.body(weave.Baseline)
	}
	return a
}

// pendingBack returns the edits of which a rewind brings pending lines back, or takes lines away that were pending as removed.
func pendingBack(back *history.Back) (edits []int32) {
	for _, p := range back.Lines {
		if p.From == p.To && p.Pending && p.Ins > 0 {
			edits = append(edits, p.Ins)
		}
	}
	for _, d := range back.Again {
		if d.Del != 0 {
			edits = append(edits, d.Del)
		}
	}
	return edits
}

// madeByOthers reports whether the edits of a history have made a content of the baseline. of has the edits that are taken back.
func (r *Review) madeByOthers(made *history.File, c Content, of map[int32]bool) bool {
	b := r.body(weave.Baseline)
	if made == nil || c.Exists == r.was && c.body() == b || r.was && r.limits.kind(b) != Modified && !made.Had(r.baselineBody()) {
		return false
	}
	var old, now []string
	if r.was && r.limits.kind(b) == Modified {
		old = linetext.Split(b.text)
	}
	if c.Exists && r.limits.kind(c.body()) == Modified {
		now = linetext.Split(string(c.Data))
	}
	stays, stayed := map[int]bool{}, map[int]bool{}
	linetext.Common(old, now, func(i, j int) { stayed[i], stays[j] = true, true })
	removed, mine := map[string]int{}, map[string]bool{}
	for _, d := range made.Near(0, len(now)) {
		removed[weave.TrimEnd(d.Text)]++
	}
	for _, g := range r.past.Graves() {
		for _, d := range g.Lines {
			mine[weave.TrimEnd(d.Text)] = mine[weave.TrimEnd(d.Text)] || of[d.Ins]
		}
	}
	over := slices.ContainsFunc(made.Touched, func(n int32) bool { return !of[n] }) // a person has written over lines that it does not know
	for i, l := range old {
		if stayed[i] {
			continue
		}
		if removed[weave.TrimEnd(l)]--; removed[weave.TrimEnd(l)] < 0 && (!over || mine[weave.TrimEnd(l)]) {
			return false // it has replaced others, and was accepted
		}
	}
	for j := range now {
		if by, _ := made.Of(j); !stays[j] && by == 0 {
			return false // that it was removed was accepted
		}
	}
	return true
}

// rebuild makes a review of the baseline and the content that a rewind leaves, which edits have made of it. lines is the history of the
// content's lines.
func (r *Review) rebuild(target Content, lines *history.File, a again) {
	unknown, edits := r.unknown, a.body
	r.settle(a.was, a.base, false)
	r.unknown = unknown
	last := len(edits) - 1
	if r.whole == nil && (!target.Exists || r.limits.kind(target.body()) == Modified) {
		text := linetext.Split(string(target.Data))
		for k, n := range edits[:last] {
			r.observe(true, body{text: r.withoutLater(text, lines, edits[k+1:])}, n)
		}
	}
	r.observe(target.Exists, target.body(), edits[last])
	if r.whole != nil && r.op.ID != 0 {
		r.op.Edits = edits
	}
}

// withoutLater returns the text that lines were before some edits; made is the history of the lines.
func (r *Review) withoutLater(lines []string, made *history.File, later []int32) string {
	var b []byte
	for i := range len(lines) + 1 {
		for _, d := range made.Near(i, i) {
			if slices.Contains(later, d.Del) && !slices.Contains(later, d.Ins) {
				b = r.appendLine(b, d.Text)
			}
		}
		if i < len(lines) {
			if by, _ := made.Of(i); !slices.Contains(later, by) {
				b = r.appendLine(b, lines[i])
			}
		}
	}
	return string(b)
}

// removed returns the edits that have removed lines, which are pending, by id.
func (r *Review) removed() map[uint64]int32 {
	removed := map[uint64]int32{}
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Del != 0 {
			removed[a.ID] = a.Del
		}
	}
	return removed
}

// removedAgain returns, by id, the present lines that a rewind removes, and that were pending as removed before: by
// which edit, or 0 for those to take back. It takes the lines out of those that back has.
func (r *Review) removedAgain(back *history.Back, lines []weave.Atom) (removed map[uint64]int32) {
	removed = map[uint64]int32{}
	if len(back.Again) == 0 {
		return removed
	}
	goes, next := map[string][]uint64{}, 0 // ids by text
	for _, p := range append(slices.Clip(back.Lines), history.Piece{From: len(lines), To: len(lines) + 1}) {
		if p.From == p.To {
			continue
		}
		for _, l := range lines[next:p.From] {
			if l.Ins == 0 {
				goes[weave.TrimEnd(l.Text)] = append(goes[weave.TrimEnd(l.Text)], l.ID)
			}
		}
		next = p.To
	}
	back.Again = slices.DeleteFunc(back.Again, func(d history.Dead) bool {
		ids := goes[weave.TrimEnd(d.Text)]
		if len(ids) == 0 {
			return false
		}
		removed[ids[0]], goes[weave.TrimEnd(d.Text)] = 0, ids[1:]
		if _, known := slices.BinarySearch(r.sources.numbers, d.Del); known {
			removed[ids[0]] = d.Del
		}
		return true
	})
	return removed
}

// removedBefore returns a function that returns, each once, the edits that had removed lines before those that a rewind takes back wrote them again
// and removed them; 0 for none.
func (r *Review) removedBefore(back *history.Back) func(text string) int32 {
	by := map[string][]int32{}
	for _, d := range back.Again {
		if _, known := slices.BinarySearch(r.sources.numbers, d.Del); known {
			by[weave.TrimEnd(d.Text)] = append(by[weave.TrimEnd(d.Text)], d.Del)
		}
	}
	return func(text string) (n int32) {
		if list := by[weave.TrimEnd(text)]; len(list) > 0 {
			n, by[weave.TrimEnd(text)] = list[0], list[1:]
		}
		return n
	}
}

// reopenParts makes what was pending of the file as a whole pending again. of has the edits that are taken back, and path is where the
// file is without them.
func (r *Review) reopenParts(a again, of map[int32]bool, path string) {
	if r.isPath != path {
		r.isPath, r.wasPath, r.renamed = path, path, fileOp{}
	}
	r.op = r.op.without(of)
	if r.op.ID != 0 && len(r.op.Edits) == 0 {
		if r.op.Edits = a.body; len(a.body) == 0 {
			r.op.Edits = r.edits(piece{end: len(r.weave.Atoms)}, nil)
		}
	}
	if len(a.body) > 0 && a.was && r.was && !r.is {
		r.wasPath = a.wasPath
	}
	both := r.file(weave.Baseline) && r.file(weave.Current)
	if len(a.mode) > 0 && both && a.wasMode != 0 && a.wasMode != r.isMode {
		r.wasMode, r.chmod = a.wasMode, fileOp{ID: r.weave.ID(), Edits: a.mode}
	}
	if len(a.path) > 0 && r.was && r.is && a.wasPath != r.isPath {
		r.wasPath, r.renamed = a.wasPath, fileOp{ID: r.weave.ID(), Edits: a.path}
	}
}
