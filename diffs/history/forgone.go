package history

import "slices"

// Forgone returns the history after people's changes of the baseline: of the dead lines before, which were pending as removed, a person has
// removed those for which gone is true, and no rewind brings them back. The lines back were removed so, and are pending again.
func (f *File) Forgone(before []Tombstone, gone []bool, back []Tombstone) *File {
	if f == nil || !slices.Contains(gone, true) && len(back) == 0 {
		return f
	}
	goes, comes := map[writing][]bool{}, map[writing]int{}
	for i, d := range before {
		k := writing{trim(d.Text), d.Del}
		goes[k] = append(goes[k], gone[i])
	}
	for _, d := range back {
		comes[writing{trim(d.Text), d.Del}]++
	}
	marked := *f
	marked.Dead = slices.Clone(f.Dead)
	for i, g := range f.Dead {
		marked.Dead[i].Lines = slices.Clone(g.Lines)
		for n := range g.Lines {
			d := &marked.Dead[i].Lines[n]
			k := writing{trim(d.Text), d.Del}
			switch list := goes[k]; {
			case d.Rejected && comes[k] > 0:
				comes[k]--
				d.Rejected = false
			case !d.Rejected && len(list) > 0:
				d.Rejected, goes[k] = list[0], list[1:]
			}
		}
	}
	return &marked
}
