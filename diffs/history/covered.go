package history

import (
	"cmp"
	"slices"
)

// A covered is a dead line that stays known, with those that have removed it or what has replaced it.
type covered struct {
	Dead
	open []Author // those of edits to take back, without those whose lines were replaced
	by   Author   // the latest of the others
	over [][]Gone // what edits to take back have put over it; lines share these
}

// A gone is what a group had written, if all of it was removed.
type gone struct {
	lines []Gone
	open  []Author // edits to take back that have removed some
	by    Author   // the latest of the others
}

func goneOf(lines []Gone, undone func(int32) bool) (g gone) {
	g.lines = lines
	for _, d := range lines {
		switch by := d.removed(); {
		case !undone(d.Del):
			g.by = later(g.by, by)
		case !slices.Contains(g.open, by):
			g.open = append(g.open, by)
		}
	}
	return g
}

// later returns which of two has changed the file later; groups are numbered by that.
func later(a, b Author) Author {
	if byTime(a, b) > 0 {
		return a
	}
	return b
}

func byTime(a, b Author) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.By, b.By)) }

// replaced notes that all is gone that a group has put over the line.
func (c *covered) replaced(group Author, g gone) {
	c.open = append(slices.DeleteFunc(c.open, func(a Author) bool { return a == group }), g.open...)
	c.by, c.over = later(c.by, g.by), append(c.over, g.lines)
	if len(c.open) == 0 {
		c.Del, c.DelGroup = c.by.By, c.by.Group
	}
}

// without returns dead lines in front of a present line without those that the edits wrote. Where such a line was replaced by
// other edits, these have replaced what it had replaced; where several lines were, the latest of these have.
func (f *File) without(undone func(int32) bool, dead []Dead, line int, back *Back) (left []Dead) {
	var all []covered
	type part struct {
		under []int // of all: what the group has replaced
		lines []Gone
	}
	waiting := map[Author]part{} // several lines that a group has replaced, for the last line of the group
	for i, d := range dead {
		if d.Ins <= 0 || !undone(d.Ins) {
			c := covered{Dead: d}
			if undone(d.Del) {
				c.open = []Author{d.removed()}
			}
			all = append(all, c)
			continue
		}
		p := waiting[d.wrote()]
		p.lines = append(p.lines, Gone{Dead: d, At: line})
		known, last := len(p.under), -1
		if known > 0 {
			last = p.under[known-1]
		}
		for k := len(all) - 1; k > last && slices.Contains(all[k].open, d.wrote()); k-- {
			p.under = append(p.under, k)
		}
		slices.Reverse(p.under[known:])
		delete(waiting, d.wrote())
		stays := false // some of what replaced them
		switch {
		case len(p.under) < 2:
		case slices.ContainsFunc(dead[i+1:], func(o Dead) bool { return o.wrote() == d.wrote() }):
			waiting[d.wrote()], p.under = p, nil
		default:
			var rest []Gone
			rest, stays = f.rest(line, d.wrote(), undone, map[Author]bool{})
			p.lines = append(p.lines, rest...)
		}
		if len(p.under) > 0 && !stays {
			g := goneOf(p.lines, undone)
			for _, k := range p.under {
				all[k].replaced(d.wrote(), g)
			}
		}
		if !undone(d.Del) {
			back.Over = append(back.Over, Gone{Dead: d, At: line})
			back.Changed, back.Forgets = true, true
		}
	}
	for _, c := range all {
		left = append(left, c.Dead)
		if len(c.over) > 0 && !undone(c.Del) {
			back.Under = append(back.Under, Covered{Gone{c.Dead, line}, c.over})
		}
	}
	return left
}

// rest returns what others have removed of what a group has written behind a place, and what edits to take back have written for it. It
// reports whether some of that is there, or was only removed by edits to take back.
func (f *File) rest(line int, group Author, undone func(int32) bool, seen map[Author]bool) (dead []Gone, stays bool) {
	seen[group] = true
	wrote := false
	for _, g := range f.Dead {
		for _, d := range g.Lines {
			if d.wrote() != group {
				continue
			}
			switch wrote = true; {
			case g.At <= line || undone(d.Del) && seen[d.removed()]:
			case undone(d.Del):
				more, stay := f.rest(-1, d.removed(), undone, seen)
				dead, stays = append(dead, more...), stays || stay
			default:
				dead = append(dead, Gone{Dead: d, At: g.At})
			}
		}
	}
	return dead, stays || !wrote || slices.ContainsFunc(f.Runs, func(r Run) bool { return r.From >= line && r.Author == group })
}
