package history

import "slices"

// Forgone returns the history after a person has changed the baseline. before are dead lines whose removal was pending; where gone is true, the
// person has removed the line too, and no rewind brings it back. back are lines that a person had removed in this way, and whose removal is
// pending again.
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
