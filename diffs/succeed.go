package diffs

import (
	"slices"
	"strings"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// Succeed takes in that a person has moved the file to where another one was that edits have deleted, pending. What is pending of the file
// stays pending, and so does the removal of the other one's lines. But lines that edits have written here, and that the other one had, are
// back: they are of who wrote them there. A content without lines counts as replaced by the person.
func (r *Review) Succeed(deleted *Review) {
	if r.whole != nil || deleted.whole != nil || deleted.is {
		return
	}
	r.forget()
	gone := deleted.buried()
	if len(gone) == 0 {
		return
	}
	r.formers = nil
	lines := r.present().lines
	back, behind := map[int]int{}, -1 // by the number of a present line: one of gone
	writers := r.writers(lines)
	texts := make([]string, len(gone))
	for k := range gone {
		texts[k] = weave.TrimEnd(gone[k].Text)
	}
	linetext.Common(texts, trimmed(weave.Texts(lines)), func(k, i int) {
		if writers[i].by != 0 {
			back[i] = k
		}
	})
	edit := func(n int32) int32 {
		src := deleted.sources.of([]int32{n})
		if len(src) == 0 {
			return 0
		}
		return r.sources.edit(src[0])
	}
	var atoms []weave.Atom
	var edits []int32
	graves, whose := &history.File{}, map[int]int32{}
	bury := func(line, to int) { // those before gone[to]
		for k := behind + 1; k < to; k++ {
			d := gone[k]
			d.Del, d.Ins = edit(d.Del), edit(d.Ins)
			atoms = append(atoms, weave.Atom{Text: d.Text, ID: r.weave.ID(), Del: d.Del})
			graves.Bury(line, history.Dead{Text: strings.Clone(d.Text), Ins: d.Ins, Del: d.Del})
		}
		behind = max(behind, to-1)
	}
	next := func(from int) int { // the one of gone that is back first from a present line on
		for i := from; i < len(lines); i++ {
			if k, is := back[i]; is {
				return k
			}
		}
		return len(gone)
	}
	bury(0, next(0))
	line := 0
	for _, a := range r.weave.Atoms {
		k, is := back[line]
		if is = is && a.On(weave.Current); is {
			a.Ins, whose[line], edits = 0, edit(gone[k].Ins), append(edits, edit(gone[k].Del))
			behind = k
		}
		if atoms = append(atoms, a); a.On(weave.Current) {
			line++
		}
		if is {
			bury(line, next(line))
		}
	}
	r.weave.Atoms = atoms
	r.weave.Repair()
	r.settleExistence()
	if r.was && r.weave.Pending() && r.weave.Same() {
		r.weave.SettleBack()
	}
	r.past = r.past.Over(len(lines), whose, graves.Dead)
	if len(edits) > 0 {
		r.past = r.past.Touch(edits...)
	}
	r.rev++
}

// buried returns the lines of a deleted file that a reject of all brings back, with the edits that wrote and removed them.
func (r *Review) buried() (gone []history.Dead) {
	var known []history.Dead
	for _, g := range r.past.Graves() {
		known = append(known, g.Lines...)
	}
	for _, a := range r.weave.Atoms {
		if a.Del == 0 {
			continue
		}
		d := history.Dead{Text: a.Text, Del: a.Del}
		if i := slices.IndexFunc(known, func(d history.Dead) bool { return d.Del == a.Del && d.Text == a.Text }); i >= 0 {
			d.Ins, known = max(known[i].Ins, 0), known[i+1:]
		}
		gone = append(gone, d)
	}
	return gone
}

// Deleted reports whether edits have deleted the file, pending.
func (r *Review) Deleted() bool { return !r.is && r.Pending() }
