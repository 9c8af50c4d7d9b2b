package diffs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// A copy's review follows the baseline's file. What a person does there need not last: another session's accept is undone, or
// git goes to a branch and back. The review of a file itself follows what decisions about copies write to it. So a review must depend on the
// present content alone, and not on those before it: as long as nothing but that file changes the review, each new content is merged into the
// review from before the first one.

// A Former is a review from before a change of the baseline.
type Former struct {
	Review *Review // must not be changed
	After  string  // names the state of the review that came of the change
}

// formersMost bounds the formers that a review keeps. One is in use; others wait until decisions are undone.
const formersMost = 8

// Formers returns the reviews that r may go back to when the baseline changes. They are stored beside it.
func (r *Review) Formers() []Former { return r.formers }

// RestoreFormers takes back what Formers has returned, after both were stored.
func (r *Review) RestoreFormers(list []Former) { r.formers = list }

// Follows reports whether r may go back to a former, since nothing but the baseline's file has changed it.
func (r *Review) Follows() bool { return r.former() >= 0 }

// former returns the index of the former from which r has come; -1 if there is none.
func (r *Review) former() int {
	if len(r.formers) == 0 {
		return -1
	}
	like := r.like()
	return slices.IndexFunc(r.formers, func(f Former) bool { return f.After == like })
}

// isPart reports whether the present text is only a part of what the agent has made of a file: the baseline's file has gone since, and its
// lines with it.
func (r *Review) isPart() bool {
	if r.was || !r.is || r.whole != nil {
		return false
	}
	i := r.former()
	if i < 0 {
		return false
	}
	f := r.formers[i].Review
	return f.was && f.is && !f.holds(weave.Current, r.body(weave.Current))
}

// goBack makes r the former from which it has come, because the baseline becomes now. Without one, it notes that what will come
// comes from r. It returns the index of that former; -1 if there is nothing to note.
func (r *Review) goBack(now Content) int {
	i := r.former()
	if i < 0 && !r.Pending() {
		return -1
	}
	if i < 0 {
		was := r.Copy()
		was.formers, was.past = nil, nil
		r.noteFormer(Former{Review: was})
		return len(r.formers) - 1
	}
	if now.Exists && r.is && r.holds(weave.Current, now.body()) {
		return i // whatever the former has, the person has all of r
	}
	old := r.formers[i].Review.Copy()
	old.weave.Next, old.rev = max(old.weave.Next, r.weave.Next), r.rev
	old.sources, old.past, old.formers = r.sources, r.past, r.formers
	*r = *old
	r.forget()
	return i
}

// comeFrom notes what r has become since goBack returned i.
func (r *Review) comeFrom(i int) {
	if i < 0 {
		return
	}
	r.formers = slices.Clone(r.formers)
	if f, like := &r.formers[i], r.like(); like == f.Review.like() {
		r.formers = slices.Delete(r.formers, i, i+1)
	} else {
		f.After = like
	}
}

// noteFormer adds a former, in the place of another one of the same state.
func (r *Review) noteFormer(f Former) {
	list := slices.DeleteFunc(slices.Clone(r.formers), func(other Former) bool { return other.After == f.After })
	if len(list) == formersMost {
		list = list[1:]
	}
	r.formers = append(list, f)
}

// observeFrom is ObserveFrom, for another review whose edits l knows.
func (r *Review) observeFrom(now Content, l *lender) (changed bool) {
	r.forget()
	before, was, from := r.shape().sum(), r.present(), -1
	remoded := now.Mode != 0 && now.Mode != r.isMode && r.file(weave.Current)
	if now.Exists != r.is || now.Exists && (remoded || !r.holds(weave.Current, now.body())) {
		from = r.goBack(now)
	}
	r.observe(now.Exists, now.body(), 0)
	r.observeAttrs(now.Mode, 0)
	r.comeFrom(from)
	if r.shape().sum() == before {
		return false
	}
	r.followLent(was, history.Person, 0, l)
	r.rev++
	return true
}

// beforeFollowing returns a copy of r for carry; nil if r has come from no former.
func (r *Review) beforeFollowing() *Review {
	if !r.Follows() {
		return nil
	}
	return r.Copy()
}

// carry lets the former from which was had come take the change that has made r of was, and notes that r comes from it then. It does
// nothing if was had none, or if that does not lead to r.
func (r *Review) carry(was *Review, change func(former *Review) bool) {
	i := was.former()
	if i < 0 || r.whole != nil {
		return
	}
	f := was.formers[i].Review.Copy()
	f.weave.Next, f.sources = max(f.weave.Next, r.weave.Next), sources{slices.Clone(r.sources.by), slices.Clone(r.sources.numbers)}
	if !change(f) {
		return
	}
	f.past, f.formers = nil, nil
	now := f.Copy()
	if r.copied {
		now.ObserveBaseline(r.Baseline())
	} else {
		now.observeFrom(r.Current(), nil)
	}
	after := r.like()
	if now.like() != after {
		return
	}
	ids := make(map[uint64]uint64, len(r.weave.Atoms)) // by those in now
	for k := range r.weave.Atoms {
		ids[now.weave.Atoms[k].ID] = r.weave.Atoms[k].ID
	}
	for k := range f.weave.Atoms {
		if id := ids[f.weave.Atoms[k].ID]; id != 0 {
			f.weave.Atoms[k].ID = id
		}
	}
	f.adopt(r)
	r.noteFormer(Former{Review: f, After: after})
}

// like names the state of a review, whatever the ids in it are.
func (r *Review) like() string {
	h, num := sha256.New(), make([]byte, 0, 80)
	put := func(text string, values ...uint64) {
		num = num[:0]
		for _, v := range append(values, uint64(len(text))) {
			num = binary.AppendUvarint(num, v)
		}
		h.Write(num)
		io.WriteString(h, text)
	}
	put(r.wasPath, weave.Bit(r.was), weave.Bit(r.is), uint64(r.wasMode), uint64(r.isMode))
	put(r.isPath, weave.Bit(r.op.ID != 0), weave.Bit(r.unknown.ID != 0), weave.Bit(r.chmod.ID != 0), weave.Bit(r.renamed.ID != 0))
	if w := r.whole; w != nil {
		put(w.base.text, 1, weave.Bit(w.base.link), weave.Bit(w.touched), weave.Bit(w.forked))
		put(w.now.text, weave.Bit(w.now.link))
	}
	for i := range r.weave.Atoms {
		a := &r.weave.Atoms[i]
		put(a.Text, uint64(a.Ins), uint64(a.Del))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// adopt gives the hunks of kind file the ids that they have in other.
func (r *Review) adopt(other *Review) {
	for _, of := range []struct{ mine, theirs *fileOp }{
		{&r.op, &other.op}, {&r.unknown, &other.unknown}, {&r.chmod, &other.chmod}, {&r.renamed, &other.renamed},
	} {
		if of.mine.ID != 0 && of.theirs.ID != 0 {
			of.mine.ID = of.theirs.ID
		}
	}
}

// adoptLines gives the lines with ids above fresh the ids that they have in other, where these are above last.
func (r *Review) adoptLines(fresh uint64, other *Review, last uint64) {
	above := func(atoms []weave.Atom, last uint64) (at []int, text []string) {
		for i, a := range atoms {
			if a.ID > last {
				at, text = append(at, i), append(text, a.Text)
			}
		}
		return at, text
	}
	mine, old := above(r.weave.Atoms, fresh)
	theirs, now := above(other.weave.Atoms, last)
	linetext.Common(old, now, func(i, j int) { r.weave.Atoms[mine[i]].ID = other.weave.Atoms[theirs[j]].ID })
}
