package diffs

import (
	"slices"
	"strings"
)

// The agent replaces some lines by as many, and a person rewrites some of the new ones (or a formatter does, which nobody
// can tell from a person). Those are the person's then. The deletion of the old lines stays the agent's: they may be all
// that is left of what a person wrote before. So a reject brings the old lines back beside the person's, each right above
// the line that stands in its place, and not all of them above all.

// A replacement is some lines that the agent deleted, followed by those that it put in their place.
type replacement struct {
	dead, alive []atom // neighbours in the weave
	line        int    // index in the present text of the first line of alive
}

// replacements calls yield for each replacement in the weave, in order. yield may change the order of the atoms.
func (w *weave) replacements(yield func(replacement)) {
	line, at := 0, 0
	group := func(deleted bool) []atom {
		from := at
		for at < len(w.atoms) && w.atoms[at].pending() && (w.atoms[at].del != 0) == deleted {
			at++
		}
		return w.atoms[from:at]
	}
	for at < len(w.atoms) {
		dead := group(true)
		alive := group(false)
		if len(dead) > 0 && len(alive) > 0 {
			yield(replacement{dead, alive, line})
		}
		line += len(alive)
		for ; at < len(w.atoms) && !w.atoms[at].pending(); at++ {
			line++
		}
	}
}

// pair moves lines that the agent deleted right above those that replaced them, at the beginnings and ends of the splices
// that a person is about to make to the present text. Neither text changes.
func (w *weave) pair(splices []splice) {
	next := 0
	w.replacements(func(r replacement) {
		for next < len(splices) && splices[next].to <= r.line {
			next++
		}
		if len(r.dead) != len(r.alive) {
			return // nobody knows which line replaced which
		}
		var cuts []int
		for _, s := range splices[next:] {
			if s.from >= r.line+len(r.alive) {
				break
			}
			if len(s.lines) > 0 {
				cuts = append(cuts, max(s.from-r.line, 0), min(s.to-r.line, len(r.alive)))
			}
		}
		if len(cuts) == 0 {
			return
		}
		dead, alive := slices.Clone(r.dead), slices.Clone(r.alive)
		out, from := r.dead[:0], 0
		for _, to := range append(cuts, len(alive)) {
			out = append(append(out, dead[from:to]...), alive[from:to]...)
			from = to
		}
	})
}

// places takes a person's splice s whose first line is at or after atom at. For each present line that s replaces, it
// returns how many of the new lines go above the agent's deletion right above that line. It returns nil if there is no such
// deletion.
func (w *weave) places(at int, s splice) []int {
	old := make([]string, 0, s.to-s.from)
	deleted := false
	for ; len(old) < s.to-s.from; at++ {
		if a := &w.atoms[at]; a.del == 0 {
			old = append(old, strings.TrimSpace(a.text))
		} else if len(old) > 0 {
			deleted = true
		}
	}
	if !deleted {
		return nil
	}
	place := make([]int, len(old))
	if len(old) == len(s.lines) { // most likely all lines were indented anew, or got other line ends
		for i := range place {
			place[i] = i
		}
		return place
	}
	now := make([]string, len(s.lines))
	for i, l := range s.lines {
		now[i] = strings.TrimSpace(l)
	}
	to, next := 0, 0 // the old lines up to next have their places
	commonLines(old, now, func(i, j int) {
		for ; next < i; next++ {
			place[next] = to
		}
		place[i], to, next = j, j+1, i+1
	})
	for ; next < len(place); next++ {
		place[next] = to
	}
	return place
}
