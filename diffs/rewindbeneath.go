package diffs

import (
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/nearest"
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
	take, known := r.nearest(), map[removed]uint64{}
	find := func(g history.Gone) uint64 {
		k := removed{g.Text, g.Del, g.At}
		if known[k] == 0 {
			known[k] = take(g.Text, g.At, func(a *weave.Atom) bool { return a.Del == g.Del })
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
		if id := take(u.Text, u.At, func(a *weave.Atom) bool { return of[a.Del] }); id != 0 {
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
	removed, line := nearest.Set[string]{}, 0
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Del == 0 {
			line++
		} else {
			removed.Add(weave.TrimEnd(a.Text), line, i)
		}
	}
	return func(text string, at int, can func(*weave.Atom) bool) (id uint64) {
		if i, ok := removed.Take(weave.TrimEnd(text), at, func(i int) bool { return can(&r.weave.Atoms[i]) }); ok {
			id = r.weave.Atoms[i].ID
		}
		return id
	}
}

// align moves the removed lines that come back to the lines of others that replace them. It changes neither the baseline nor the content.
func (r *Review) align(back *history.Back) {
	find, place := r.nearest(), map[uint64]int{}
	for _, g := range r.past.Graves() {
		for _, d := range g.Lines {
			place[find(d.Text, g.At, func(a *weave.Atom) bool { return a.Del == d.Del })] = g.At
		}
	}
	var present, removed []weave.Atom
	var at, first []int // of a removed line: how many present lines come before it, and how many of these have to
	settled := 0
	for _, a := range r.weave.Atoms {
		if a.Del != 0 {
			removed, at, first = append(removed, a), append(at, len(present)), append(first, settled)
			continue
		}
		if present = append(present, a); a.Ins == 0 {
			settled = len(present)
		}
	}
	// A line that moves takes along those on its way, so the removed lines keep their order, as the present ones do.
	to := slices.Clone(at)
	for i, limit := len(removed)-1, len(present); i >= 0; i-- {
		if g, moves := place[removed[i].ID]; moves && g < at[i] {
			to[i] = max(g, first[i])
		}
		limit = min(limit, to[i])
		to[i] = limit
	}
	limit, open := 0, 0 // the present line at open is the first settled one behind the removed line
	for i := range removed {
		for open = max(open, to[i]); open < len(present) && present[open].Ins != 0; open++ {
		}
		if g, moves := place[removed[i].ID]; moves && g > to[i] {
			to[i] = min(g, open)
		}
		limit = max(limit, to[i])
		to[i] = limit
	}
	atoms, next := r.weave.Atoms[:0], 0
	for i, a := range present {
		for ; next < len(removed) && to[next] <= i; next++ {
			atoms = append(atoms, removed[next])
		}
		atoms = append(atoms, a)
	}
	r.weave.Atoms = append(atoms, removed[next:]...)
}

// order puts the settled lines with ids above last, which have come back, between the removed ones that they were between.
func (r *Review) order(back *history.Back, last uint64) {
	fresh, place, from := map[string][]int{}, map[uint64][]history.Dead{}, 0 // what goes before each
	for i, a := range r.weave.Atoms {
		if a.ID > last && !a.Pending() {
			fresh[a.Text] = append(fresh[a.Text], i)
		}
	}
	for _, p := range back.Lines {
		if p.From != p.To {
			continue
		}
		at, _ := slices.BinarySearch(fresh[p.Text], from)
		if fresh[p.Text] = fresh[p.Text][at:]; len(fresh[p.Text]) > 0 {
			from = fresh[p.Text][0] + 1
			place[r.weave.Atoms[from-1].ID] = p.Behind
		}
	}
	if len(place) == 0 {
		return
	}
	type line struct {
		text string
		del  int32
	}
	var known []history.Dead
	at := map[line]int{} // their first places in known
	before := func(dead []history.Dead, a weave.Atom) bool {
		if len(dead) == 0 || len(known) == 0 || &dead[0] != &known[0] {
			known = nil
			clear(at)
		}
		for ; len(known) < len(dead); known = dead[:len(known)+1] {
			if d := (line{weave.TrimEnd(dead[len(known)].Text), dead[len(known)].Del}); at[d] == 0 {
				at[d] = len(known) + 1
			}
		}
		i := at[line{weave.TrimEnd(a.Text), a.Del}]
		return 0 < i && i <= len(dead)
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
