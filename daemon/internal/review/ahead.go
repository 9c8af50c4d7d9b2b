package review

import "cursord/daemon/internal/atomicfile"

// An ahead is what a request has planned so far. Several reviews may have the same file of the work tree: its own, and those of copies.
// Each plan for it begins with what the plans before it are to leave there.
type ahead struct {
	paths map[string][]*planned // by path of the work tree: the plans that write it; nil while they are carried out
	files map[*file]bool        // those that are planned and not carried out yet
}

// plans adds a plan. One that moves a file is not followed.
func (a *ahead) plans(p *planned) {
	if a.files == nil {
		a.paths, a.files = map[string][]*planned{}, map[*file]bool{}
	}
	c := p.change
	if a.files[p.f] = c.From == c.To; c.From == c.To && c.Writes() && !c.in.Isolated() {
		a.paths[c.To] = append(a.paths[c.To], p)
	}
}

// at returns the state in which the plans leave a path of the work tree, if one of them writes it.
func (a *ahead) at(path string) (s atomicfile.State, planned bool) {
	if list := a.paths[path]; len(list) > 0 {
		return atomicfile.State{Content: list[len(list)-1].change.After}, true
	}
	return s, false
}

// begins says that the plans are about to be carried out.
func (a *ahead) begins() { a.paths = nil }

// refreshAhead is refresh for a file that plans may be about to write.
func (r *Reviewer) refreshAhead(f *file) (s sides, err error) {
	s, err = r.refresh(f)
	if err != nil || f.tree.Isolated() {
		return s, err
	}
	if plans := r.ahead.paths[f.path]; len(plans) > 0 {
		s.unplan = f.keep()
	}
	for _, p := range r.ahead.paths[f.path] {
		s.here = atomicfile.State{Content: p.change.After}
		if f.Review.ObserveFrom(p.change.After, p.f.Review) {
			r.syncBuffers(f)
		}
	}
	return s, nil
}

// chained corrects the progress of changes of one file that follow each other. What the later one has found tells of the earlier one: its
// content stood there before, or does not stand there yet.
func chained(changes []*treeChange, at []atomicfile.Progress) {
	for j, later := range changes {
		for i, c := range changes[:j] {
			switch {
			case c.in != later.in || c.From != c.To || later.From != c.To || !c.Writes() || !later.Writes():
			case at[j] != atomicfile.Foreign:
				at[i] = atomicfile.Carried
			default:
				at[j] = at[i]
			}
		}
	}
}
