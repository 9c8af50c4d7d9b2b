package history

import "slices"

// Overwritten says what a person had written over before edits wrote there: present lines From to To (exclusive) are the edits' place.
type Overwritten struct {
	From, To int
	Edits    []int32     // those with lines in the place, written or removed; zeros do not count
	Gone     []string    // lines that were pending as removed there, and that the person's text does not have
	Mine     []Tombstone // the person's lines, which an edit has removed; First is the present line behind
}

// Beneath returns the history in which the edits have written over a person's lines, and not over those that the person had written over. A rewind
// of the edits brings the person's lines.
func (f *File) Beneath(o Overwritten) *File {
	if f == nil {
		return f
	}
	gone := map[string]int{}
	for _, text := range o.Gone {
		gone[trim(text)]++
	}
	group := func(n int32) int32 {
		for i := o.From; i < o.To; i++ {
			if r := f.run(i); r.edit() == n {
				return r.Group
			}
		}
		return 0
	}
	overwritten := func(d Dead) bool {
		if d.Del == 0 || !slices.Contains(o.Edits, d.Del) {
			return false
		}
		if d.Pending {
			return true
		}
		gone[trim(d.Text)]--
		return gone[trim(d.Text)] >= 0
	}
	beneath := *f
	b := builder{}
	c, mine := cursor{f: &File{Dead: f.Dead}}, o.Mine
	end := o.To
	if n := len(f.Dead); n > 0 {
		end = max(end, f.Dead[n-1].At)
	}
	for i := 0; i <= end; i++ {
		for _, d := range c.graves() {
			if i < o.From || i > o.To || !overwritten(d) {
				b.bury(d)
			}
		}
		for ; len(mine) > 0 && mine[0].First == i; mine = mine[1:] {
			b.bury(Dead{Text: mine[0].Text, Del: mine[0].Del, DelGroup: group(mine[0].Del)})
		}
		c.next()
		b.line++
	}
	beneath.Dead = b.dead
	return &beneath
}
