package history

import "slices"

// A Tombstone is a dead line that goes in front of one of the present lines First to Last.
type Tombstone struct {
	Text        string
	Del         int32
	First, Last int
}

// A placed is a dead line and where it goes.
type placed struct {
	Gone
	moved bool
	over  []int // dead lines that go with it, because they had replaced it
}

// Place returns the history with some dead lines in the order in which they are given, and where they are to go. Lines that had replaced one
// of them go with it.
func (f *File) Place(dead []Tombstone) *File {
	if f == nil || len(dead) == 0 || len(f.Dead) == 0 {
		return f
	}
	var all []placed
	at := map[writing][]int{}
	for _, g := range f.Dead {
		for _, d := range g.Lines {
			k := writing{trim(d.Text), d.Del}
			at[k] = append(at[k], len(all))
			all = append(all, placed{Gone: Gone{Dead: d, At: g.At}})
		}
	}
	var order []int
	used, last := make([]bool, len(all)), 0
	for _, d := range dead {
		k := writing{trim(d.Text), d.Del}
		if len(at[k]) == 0 {
			continue
		}
		i := at[k][0]
		at[k], used[i] = at[k][1:], true
		last = max(last, min(max(all[i].At, d.First), d.Last))
		all[i].moved = last != all[i].At
		all[i].At = last
		order = append(order, i)
	}
	from := 0
	for _, g := range f.Dead {
		carry(all, used, from, from+len(g.Lines))
		from += len(g.Lines)
	}
	sorted, to := make([]int, 0, len(all)), len(order)
	for i := range slices.Backward(all) {
		if used[i] {
			continue
		}
		for to > 0 && (all[order[to-1]].At > all[i].At || all[order[to-1]].At == all[i].At && order[to-1] > i) {
			to--
			sorted = append(sorted, order[to])
		}
		sorted = append(sorted, i)
	}
	for to > 0 {
		to--
		sorted = append(sorted, order[to])
	}
	placed := *f
	placed.Dead = nil
	var bury func(i, at int)
	bury = func(i, at int) {
		placed.Bury(at, all[i].Dead)
		for _, k := range all[i].over {
			bury(k, at)
		}
	}
	for _, i := range slices.Backward(sorted) {
		bury(i, all[i].At)
	}
	return &placed
}

// carry has the dead lines from from to to, which are in one place, go with those that they had replaced, where these move.
func carry(all []placed, used []bool, from, to int) {
	under, over := map[Author][]int{}, map[Author][]int{} // by group: what it has removed, and what it had written
	for i := from; i < to; i++ {
		under[all[i].removed()] = append(under[all[i].removed()], i)
		over[all[i].wrote()] = append(over[all[i].wrote()], i)
	}
	for by, lines := range over {
		for n, i := range lines {
			k := n // each has replaced one
			if len(under[by]) != len(lines) {
				k, _ = slices.BinarySearch(under[by], i)
				k--
			}
			if by.By <= 0 || used[i] || k < 0 || under[by][k] > i {
				continue
			}
			all[under[by][k]].over = append(all[under[by][k]].over, i)
		}
	}
	for i := from; i < to; i++ {
		for _, k := range all[i].over {
			if used[k] = all[i].moved; used[k] {
				all[k].moved = true
			}
		}
		if !all[i].moved {
			all[i].over = nil
		}
	}
}
