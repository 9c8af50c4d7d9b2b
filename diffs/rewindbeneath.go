package diffs

import (
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
)

// A beneath says what others' edits would have replaced if there had never been the edits that a rewind takes back. Its keys are the ids of
// lines that are pending as removed.
type beneath struct {
	by      map[uint64]int32          // the edit that has removed the line then, in place of one to take back
	instead map[uint64][]history.Dead // what others have removed in place of the line, which an edit to take back wrote
}

// beneathOthers finds the lines that the edits to take back had replaced, and whose place has others' pending lines now. Without the edits to
// take back, the others replace these lines, so a reject of the others' must bring them back.
func (r *Review) beneathOthers(of map[int32]bool, back *history.Back) beneath {
	b := beneath{by: map[uint64]int32{}, instead: map[uint64][]history.Dead{}}
	if len(back.Over) == 0 {
		return b
	}
	type removed struct {
		text string
		del  int32
		at   int
	}
	nearest, known := r.nearest(), map[removed]uint64{}
	find := func(g history.Gone) uint64 {
		k := removed{g.Text, g.Del, g.At}
		if known[k] == 0 {
			known[k] = nearest(g.Text, g.At, func(a *weave.Atom) bool { return a.Del == g.Del })
		}
		return known[k]
	}
	firsts := map[*history.Gone]*history.Gone{}
	firstPending := func(lines []history.Gone) *history.Gone {
		o, known := firsts[&lines[0]]
		if !known {
			if i := slices.IndexFunc(lines, func(o history.Gone) bool { return find(o) != 0 }); i >= 0 {
				o = &lines[i]
			}
			firsts[&lines[0]] = o
		}
		return o
	}
	for _, o := range back.Over {
		if id := find(o); id != 0 {
			b.instead[id] = nil
		}
	}
	for _, u := range back.Under {
		if !slices.Contains(r.sources.numbers, u.Del) {
			continue
		}
		if id := nearest(u.Text, u.At, func(a *weave.Atom) bool { return of[a.Del] }); id != 0 {
			b.by[id] = u.Del
			continue
		}
		for _, lines := range u.Over {
			if o := firstPending(lines); o != nil {
				if !of[o.Del] {
					u.Del = o.Del
				}
				b.instead[find(*o)] = append(b.instead[find(*o)], u.Dead)
				break
			}
		}
	}
	return b
}

// nearest returns a function that finds, each once, the lines pending as removed that are nearest to a present line. It returns their ids; 0
// for none.
func (r *Review) nearest() func(text string, at int, can func(*weave.Atom) bool) (id uint64) {
	type place struct{ atom, line int }
	line, removed := 0, map[string][]place{}
	for i, a := range r.weave.Atoms {
		if a.Del == 0 {
			line++
		} else {
			removed[weave.TrimEnd(a.Text)] = append(removed[weave.TrimEnd(a.Text)], place{i, line})
		}
	}
	taken := map[uint64]bool{}
	return func(text string, at int, can func(*weave.Atom) bool) (id uint64) {
		far := len(r.weave.Atoms) + 1
		for _, p := range removed[weave.TrimEnd(text)] {
			if a, away := &r.weave.Atoms[p.atom], max(p.line-at, at-p.line); away < far && !taken[a.ID] && can(a) {
				id, far = a.ID, away
			}
		}
		taken[id] = id != 0
		return id
	}
}

// align moves the removed lines that come back to the lines of others that replace them. It changes neither the baseline nor the content.
func (r *Review) align(of map[int32]bool, back *history.Back, under beneath) {
	nearest, place := r.nearest(), map[uint64]int{}
	for _, g := range r.past.Graves() {
		for _, d := range g.Lines {
			place[nearest(d.Text, g.At, func(a *weave.Atom) bool { return a.Del == d.Del })] = g.At
		}
	}
	delete(place, 0)
	line := 0
	for i := range r.weave.Atoms {
		to, moves := place[r.weave.Atoms[i].ID]
		if !moves && r.weave.Atoms[i].Del == 0 {
			line++
		}
		for at, j := line, i; moves && at > to; at-- {
			j, moves = r.pass(j, -1)
		}
	}
	for i := range slices.Backward(r.weave.Atoms) {
		to, moves := place[r.weave.Atoms[i].ID]
		if !moves && r.weave.Atoms[i].Del == 0 {
			line--
		}
		for at, j := line, i; moves && at < to; at++ {
			j, moves = r.pass(j, 1)
		}
	}
}

// pass moves a removed line past the pending line before it (step -1) or behind it, with the removed ones between these. It returns where the
// line is then, and whether it has moved.
func (r *Review) pass(i, step int) (to int, moved bool) {
	k := i + step
	for ; 0 <= k && k < len(r.weave.Atoms) && r.weave.Atoms[k].Del != 0; k += step {
	}
	if k < 0 || k == len(r.weave.Atoms) || r.weave.Atoms[k].Ins == 0 {
		return i, false
	}
	written := r.weave.Atoms[k]
	for ; k != i; k -= step {
		r.weave.Atoms[k] = r.weave.Atoms[k-step]
	}
	r.weave.Atoms[i] = written
	return i + step, true
}

// order puts the settled lines with ids above last, which have come back, between the removed ones that they were between.
func (r *Review) order(back *history.Back, last uint64) {
	place := map[uint64][]history.Dead{} // what goes before each
	i := 0
	for _, p := range back.Lines {
		fresh := func(a weave.Atom) bool { return a.ID > last && !a.Pending() && a.Text == p.Text }
		if k := slices.IndexFunc(r.weave.Atoms[i:], fresh); p.From == p.To && k >= 0 {
			i += k + 1
			place[r.weave.Atoms[i-1].ID] = p.Behind
		}
	}
	before := func(dead []history.Dead, a weave.Atom) bool {
		return slices.ContainsFunc(dead, func(d history.Dead) bool { return d.Del == a.Del && weave.TrimEnd(d.Text) == weave.TrimEnd(a.Text) })
	}
	for i := range r.weave.Atoms {
		dead, moves := place[r.weave.Atoms[i].ID]
		for ; moves && i > 0 && r.weave.Atoms[i-1].Del != 0 && !before(dead, r.weave.Atoms[i-1]); i-- {
			r.weave.Atoms[i-1], r.weave.Atoms[i] = r.weave.Atoms[i], r.weave.Atoms[i-1]
		}
	}
	for i := range slices.Backward(r.weave.Atoms) {
		dead, moves := place[r.weave.Atoms[i].ID]
		for ; moves && i+1 < len(r.weave.Atoms) && before(dead, r.weave.Atoms[i+1]); i++ {
			r.weave.Atoms[i], r.weave.Atoms[i+1] = r.weave.Atoms[i+1], r.weave.Atoms[i]
		}
	}
}
