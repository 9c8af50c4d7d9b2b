package diffs

import (
	"slices"

	"cursord/diffs/internal/weave"
)

// neighbours is how many lines on each side of a run are kept to find its place again.
const neighbours = 16

// A runPlace finds where the lines of a decided run belong in a weave that has changed since: between the nearest lines that are there still.
// Where as many others have come between these as have gone, each has the place of one.
type runPlace struct {
	atoms []weave.Atom
	near  [][2]neighbour // of each line of the run, and of its end: before it and behind it

	between [2]int // the indices of two neighbours
	others  []int  // the lines that have come between them
}

// A neighbour is a line beside one of a run that is there still, or an end of the text.
type neighbour struct {
	found bool
	end   bool
	at    int
	away  int // how many lines between the two are not there any more
	lines int // the same, of those that the text had after the decision
}

// places returns a runPlace for d. goes has the lines of decided runs that no text had after the decision.
func (d *decidedRun) places(place map[uint64]int, atoms []weave.Atom, goes map[uint64]bool) *runPlace {
	p := &runPlace{atoms: atoms, near: make([][2]neighbour, len(d.Atoms)+1), between: [2]int{-2, -2}}
	walk := func(n *neighbour, id uint64) {
		if i, there := place[id]; there {
			*n = neighbour{found: true, at: i}
			return
		}
		if n.away++; !goes[id] {
			n.lines++
		}
	}
	for side, beside := range [2][]uint64{d.Left, d.Right} {
		n := neighbour{}
		if len(beside) < neighbours {
			n = neighbour{found: true, end: true, at: [2]int{-1, len(atoms)}[side]}
		}
		for _, id := range slices.Backward(beside) {
			walk(&n, id)
		}
		if side == 0 {
			for k := range d.Atoms {
				p.near[k][side] = n
				walk(&n, d.Atoms[k].ID)
			}
			p.near[len(d.Atoms)][side] = n
			continue
		}
		p.near[len(d.Atoms)][side] = n
		for k := range slices.Backward(d.Atoms) {
			walk(&n, d.Atoms[k].ID)
			p.near[k][side] = n
		}
	}
	return p
}

// last returns the last line of the run, or the one right before the run; ok is false if neither is there.
func (p *runPlace) last() (at int, ok bool) {
	n := p.near[len(p.near)-1][0]
	return n.at, n.found && n.away < len(p.near)
}

// behind returns the atom after which line k of the run belongs; -1 is the start. ok is false if no line near it is there still.
func (p *runPlace) behind(k int) (at int, ok bool) {
	before, behind := p.near[k][0], p.near[k][1]
	if before.found && behind.found && before.at < behind.at && before.lines > 0 {
		if others := p.come(before.at, behind.at); len(others) == before.lines+behind.lines {
			return others[before.lines-1], true
		}
	}
	if !behind.tells() || before.tells() && (before.lines < behind.lines || before.lines == behind.lines && (!before.end || behind.end)) {
		return before.at, before.tells()
	}
	return behind.at - 1, true
}

// tells reports whether a line belongs near its neighbour: an end of the text tells that only of the first or last line.
func (n *neighbour) tells() bool { return n.found && (!n.end || n.lines == 0) }

// come returns the present lines between two atoms.
func (p *runPlace) come(from, to int) []int {
	if at := [2]int{from, to}; p.between != at {
		p.between, p.others = at, nil
		for i := from + 1; i < to; i++ {
			if p.atoms[i].Del == 0 {
				p.others = append(p.others, i)
			}
		}
	}
	return p.others
}
