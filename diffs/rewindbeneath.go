package diffs

import (
	"slices"

	"cursord/diffs/history"
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
	b := beneath{map[uint64]int32{}, map[uint64][]history.Dead{}}
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
			known[k] = nearest(g.Text, g.At, func(a *atom) bool { return a.del == g.Del })
		}
		return known[k]
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
		if id := nearest(u.Text, u.At, func(a *atom) bool { return of[a.del] }); id != 0 {
			b.by[id] = u.Del
			continue
		}
		for _, o := range u.Over {
			if id := find(o); id != 0 {
				if !of[o.Del] {
					u.Del = o.Del
				}
				b.instead[id] = append(b.instead[id], u.Dead)
				break
			}
		}
	}
	return b
}

// nearest returns a function that finds, each once, the lines pending as removed that are nearest to a present line. It returns their ids; 0
// for none.
func (r *Review) nearest() func(text string, at int, can func(*atom) bool) (id uint64) {
	type place struct{ atom, line int }
	line, removed := 0, map[string][]place{}
	for i, a := range r.atoms {
		if a.del == 0 {
			line++
		} else {
			removed[trimEnd(a.text)] = append(removed[trimEnd(a.text)], place{i, line})
		}
	}
	taken := map[uint64]bool{}
	return func(text string, at int, can func(*atom) bool) (id uint64) {
		far := len(r.atoms) + 1
		for _, p := range removed[trimEnd(text)] {
			if a, away := &r.atoms[p.atom], max(p.line-at, at-p.line); away < far && !taken[a.id] && can(a) {
				id, far = a.id, away
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
			place[nearest(d.Text, g.At, func(a *atom) bool { return a.del == d.Del })] = g.At
		}
	}
	delete(place, 0)
	line := 0
	for i := range r.atoms {
		to, moves := place[r.atoms[i].id]
		if !moves && r.atoms[i].del == 0 {
			line++
		}
		for at, j := line, i; moves && at > to; at-- {
			j, moves = r.pass(j, -1)
		}
	}
	for i := range slices.Backward(r.atoms) {
		to, moves := place[r.atoms[i].id]
		if !moves && r.atoms[i].del == 0 {
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
	for ; 0 <= k && k < len(r.atoms) && r.atoms[k].del != 0; k += step {
	}
	if k < 0 || k == len(r.atoms) || r.atoms[k].ins == 0 {
		return i, false
	}
	written := r.atoms[k]
	for ; k != i; k -= step {
		r.atoms[k] = r.atoms[k-step]
	}
	r.atoms[i] = written
	return i + step, true
}

// order puts the settled lines with ids above last, which have come back, between the removed ones that they were between.
func (r *Review) order(back *history.Back, last uint64) {
	place := map[uint64][]history.Dead{} // what goes before each
	i := 0
	for _, p := range back.Lines {
		fresh := func(a atom) bool { return a.id > last && !a.pending() && a.text == p.Text }
		if k := slices.IndexFunc(r.atoms[i:], fresh); p.From == p.To && k >= 0 {
			i += k + 1
			place[r.atoms[i-1].id] = p.Behind
		}
	}
	before := func(dead []history.Dead, a atom) bool {
		return slices.ContainsFunc(dead, func(d history.Dead) bool { return d.Del == a.del && trimEnd(d.Text) == trimEnd(a.text) })
	}
	for i := range r.atoms {
		dead, moves := place[r.atoms[i].id]
		for ; moves && i > 0 && r.atoms[i-1].del != 0 && !before(dead, r.atoms[i-1]); i-- {
			r.atoms[i-1], r.atoms[i] = r.atoms[i], r.atoms[i-1]
		}
	}
	for i := range slices.Backward(r.atoms) {
		dead, moves := place[r.atoms[i].id]
		for ; moves && i+1 < len(r.atoms) && before(dead, r.atoms[i+1]); i++ {
			r.atoms[i], r.atoms[i+1] = r.atoms[i+1], r.atoms[i]
		}
	}
}
