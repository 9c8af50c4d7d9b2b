package weave

import "slices"

// contest marks the lines that a person has put into the baseline where an edit had changed it: out[at:], before the atoms in next. gone has, for
// each line that they replace, the edit that had deleted it, or 0. Where an edit has only deleted, and in the middle of what it has changed, they
// are deleted with the rest, so that the place is one hunk. An accept keeps them all the same, unless it is by Replace.
func contest(out []Atom, at int, next []Atom, gone []int32) {
	from, to, by, adds, dels := at, 0, int32(0), false, len(gone) > 0
	pending := func(a *Atom) bool {
		by, adds, dels = max(by, a.Ins, a.Del), adds || a.Ins != 0, dels || a.Del != 0
		return a.Pending()
	}
	for from > 0 && pending(&out[from-1]) {
		from--
	}
	for to < len(next) && pending(&next[to]) {
		to++
	}
	changed := !dels || len(gone) > 0 && slices.Max(gone) > 0 // who has only added lines beside what an edit has replaced has not changed these
	within := from < at && to > 0 && !slices.Contains(gone, 0)
	for k := range out[at:] {
		switch a := &out[at+k]; {
		case within:
			a.Both, a.Del = true, by
		case adds && changed:
			a.Both = true
		case len(gone) > len(out)-at: // nobody knows which line replaced which
			a.Del = slices.Max(gone)
			a.Both = a.Del != 0
		case len(gone) > 0:
			a.Del = gone[min(k, len(gone)-1)]
			a.Both = a.Del != 0
		}
	}
}
