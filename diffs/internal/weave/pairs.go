package weave

import (
	"slices"
	"strings"

	"cursord/diffs/internal/linetext"
)

// The agent replaces some lines by as many, and a person rewrites some of the new ones (or a formatter does, which nobody
// can tell from a person). Those are the person's then. The deletion of the old lines stays the agent's: they may be all
// that is left of what a person wrote before. So a reject brings the old lines back beside the person's, each right above
// the line that stands in its place, and not all of them above all.

// A replacement is some lines that the agent deleted, followed by those that it put in their place.
type replacement struct {
	dead, alive []Atom // neighbours in the weave
	line        int    // index in the present text of the first line of alive
}

// replacements calls yield for each replacement in the weave, in order. yield may change the order of the atoms.
func (w *Weave) replacements(yield func(replacement)) {
	line, at := 0, 0
	group := func(deleted bool) []Atom {
		from := at
		for at < len(w.Atoms) && w.Atoms[at].Pending() && (w.Atoms[at].Del != 0) == deleted {
			at++
		}
		return w.Atoms[from:at]
	}
	for at < len(w.Atoms) {
		dead := group(true)
		alive := group(false)
		if len(dead) > 0 && len(alive) > 0 {
			yield(replacement{dead, alive, line})
		}
		line += len(alive)
		for ; at < len(w.Atoms) && !w.Atoms[at].Pending(); at++ {
			line++
		}
	}
}

// Pair moves lines that the agent deleted right above those that replaced them, at the beginnings and ends of the splices
// that a person is about to make to the present text. Neither text changes.
func (w *Weave) Pair(splices []Splice) {
	next := 0
	w.replacements(func(r replacement) {
		for next < len(splices) && splices[next].To <= r.line {
			next++
		}
		if len(r.dead) != len(r.alive) {
			return // nobody knows which line replaced which
		}
		var cuts []int
		for _, s := range splices[next:] {
			if s.From >= r.line+len(r.alive) {
				break
			}
			if len(s.Lines) > 0 {
				cuts = append(cuts, max(s.From-r.line, 0), min(s.To-r.line, len(r.alive)))
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

// places takes a person's Splice s whose first line is at or after atom at. For each present line that s replaces, it
// returns how many of the new lines go above the agent's deletion right above that line. It returns nil if there is no such
// deletion.
func (w *Weave) places(at int, s Splice) []int {
	old := make([]string, 0, s.To-s.From)
	deleted := false
	for ; len(old) < s.To-s.From; at++ {
		if a := &w.Atoms[at]; a.Del == 0 {
			old = append(old, strings.TrimSpace(a.Text))
		} else if len(old) > 0 {
			deleted = true
		}
	}
	if !deleted {
		return nil
	}
	place := make([]int, len(old))
	if len(old) == len(s.Lines) { // most likely all lines were indented anew, or got other line ends
		for i := range place {
			place[i] = i
		}
		return place
	}
	now := make([]string, len(s.Lines))
	for i, l := range s.Lines {
		now[i] = strings.TrimSpace(l)
	}
	to, next := 0, 0 // the old lines up to next have their places
	linetext.Common(old, now, func(i, j int) {
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
