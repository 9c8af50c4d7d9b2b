package history

import (
	"slices"
	"strings"
)

// Take returns the history after a step.
func (f *File) Take(s Step) *File {
	if f.Empty() {
		if !s.known() {
			return nil
		}
		f = &File{}
	}
	if s.Who == Person && f.Asleep != nil && s.Sum() == f.Asleep.Sum {
		return f.Asleep.File
	}
	t := taking{step: s, moved: map[string]int32{}, gone: map[string]int32{}, added: map[string]bool{}, touched: slices.Clone(f.Touched), groups: f.Groups, noted: f.Noted, c: cursor{f: f}}
	t.lines()
	next := &File{Runs: t.b.runs, Dead: t.b.dead, Ops: slices.Clone(f.Ops), At: f.At, Lost: f.Lost.with(t.goes), Moved: f.Moved.but(t.goes).with(t.comes), Groups: t.groups, Noted: t.noted}
	s.again(next.Dead)
	if s.Doubt != nil {
		next.Runs, t.lost = next.doubt(s.Doubt), true
	}
	t.ops(next)
	slices.Sort(t.touched)
	next.Touched = slices.Compact(t.touched)
	if s.Who == Person {
		if next.Asleep = f.Asleep; next.Asleep == nil && t.lost {
			was := *f
			next.Asleep = &Asleep{Sum: s.Before(), File: &was}
		}
	}
	if next.Empty() {
		return nil
	}
	return next
}

// again notes in the dead lines which of them the step has written again when nobody had decided about their removal.
func (s *Step) again(dead []Grave) {
	by := map[string][]int32{}
	for _, e := range s.Edits {
		for _, a := range e.Added {
			if a.Was != 0 && a.By != 0 {
				by[trim(a.Text)] = append(by[trim(a.Text)], a.By)
			}
		}
	}
	for _, first := range []bool{true, false} { // lines that were not written again before come first
		for i := 0; i < len(dead) && len(by) > 0; i++ {
			lines := slices.Clone(dead[i].Lines) // an earlier history may have the same
			for k := range lines {
				l := trim(lines[k].Text)
				if len(by[l]) == 0 || first && lines[k].Again != 0 {
					continue
				}
				if lines[k].Again, by[l] = by[l][0], by[l][1:]; len(by[l]) == 0 {
					delete(by, l)
				}
			}
			dead[i].Lines = lines
		}
	}
}

// known reports whether a step is that of an edit at all.
func (s *Step) known() bool {
	return s.BodyBy != 0 || s.ModeBy != 0 || s.MoveBy != 0 || slices.ContainsFunc(s.Edits, func(e Edit) bool {
		return slices.ContainsFunc(e.Removed, func(r Removed) bool { return r.By != 0 }) ||
			slices.ContainsFunc(e.Added, func(a Added) bool { return a.By != 0 })
	})
}

// A taking is a step being taken.
type taking struct {
	step    Step
	c       cursor
	b       builder
	moved   map[string]int32 // the edits of lines that a person removes, by key; 0: of several
	gone    map[string]int32 // the edits of lines that the step removes, by text
	added   map[string]bool  // texts of lines that edits add
	touched []int32
	once    map[string]int32 // the edits of lines that a person only moves, by text
	goes    []lostLine
	comes   []lostLine // lines of once
	lost    bool       // something of an edit's is not known any more
	groups  int32      // the last number of a group
	noted   int32      // as in File
}

func (t *taking) lines() {
	for _, e := range t.step.Edits {
		for i, r := range e.Removed {
			if by, _ := t.c.f.Of(e.From + i); by != 0 {
				t.gone[trim(r.Text)] = by
			}
			by, _, _ := t.c.f.Whose(e.From + i)
			if k := key(r.Text); t.step.Who == Person && by != 0 && k != "" {
				if old, seen := t.moved[k]; seen && old != by {
					by = 0
				}
				t.moved[k] = by
			}
		}
		for _, a := range e.Added {
			if a.By != 0 {
				t.added[trim(a.Text)] = true
			}
		}
	}
	if t.step.Who == Person {
		t.once = t.movedOnce()
	}
	for _, e := range t.step.Edits {
		t.c.skip(&t.b, e.From)
		t.edit(e)
	}
	end := t.c.line
	if n := len(t.c.f.Runs); n > 0 {
		end = max(end, t.c.f.Runs[n-1].To)
	}
	if n := len(t.c.f.Dead); n > 0 {
		end = max(end, t.c.f.Dead[n-1].At)
	}
	t.c.skip(&t.b, end)
	t.b.share(t.c.graves())
}

// A candidate is a dead line in the place of an edit.
type candidate struct {
	Dead
	before int  // the line that the edit removes behind it; their number if it is behind all
	doomed bool // a person has changed the line that replaced it
}

// edit takes one edit; the cursor is at its first line.
func (t *taking) edit(e Edit) {
	group := t.groupsOf(e)
	var dead []candidate
	var written []int32 // edits whose lines a person removes, without lines that these had replaced
	person := t.step.Who == Person
	above := person && len(e.Removed) == 0 && t.startsRun(e.From)
	gap := func(before int) {
		for _, d := range t.c.graves() {
			dead = append(dead, candidate{Dead: d, before: before})
		}
	}
	for i, r := range e.Removed {
		gap(i)
		is := t.c.next()
		switch by := is.By; {
		case r.By != 0 && r.By != by:
			d := Dead{Text: strings.Clone(r.Text), Ins: by, InsGroup: is.Group, Del: r.By, DelGroup: group(r.By), First: is.First}
			d.Copied, d.Pending = t.added[trim(r.Text)], r.Pending
			dead = append(dead, candidate{Dead: d, before: i})
		case r.By == 0 && by != 0:
			t.lost = t.lost || person
			whose := is.of(by)
			if sum, ok := sumOf(r.Text); person && ok && whose != 0 {
				t.goes = append(t.goes, lostLine{sum, max(whose, -whose)})
			}
			if t.step.Who == Decision {
				t.reject(dead, i, is.Author, e)
			}
			if person && by > 0 && !t.doom(dead, i, is.Author, e) && !slices.Contains(written, by) {
				written = append(written, by)
			}
		}
	}
	if n := len(e.Removed); above || n > 0 {
		gap(n)
	} else {
		gap(-1)
	}
	if t.step.Who == Decision && slices.ContainsFunc(e.Added, func(a Added) bool { return a.By != 0 }) {
		for k := range dead {
			dead[k].Rejected = false // what replaced it is back
		}
	}
	t.meet(e, dead, written, group)
}

// groupsOf returns a function that returns the groups of edits in one place.
func (t *taking) groupsOf(e Edit) func(by int32) int32 {
	groups := map[int32]int32{}
	for i := range e.Removed {
		if r := t.c.f.run(e.From + i); groups[r.By] == 0 {
			groups[r.By] = r.Group
		}
	}
	return func(by int32) int32 {
		if by != 0 && groups[by] == 0 {
			t.groups++
			groups[by] = t.groups
		}
		return groups[by]
	}
}

// doom marks the dead lines that line i of those that a person removes had replaced. It returns false if there are none.
func (t *taking) doom(dead []candidate, i int, by Author, e Edit) bool {
	n := 0
	for n < len(dead) && dead[len(dead)-1-n].before == i && dead[len(dead)-1-n].removed() == by {
		n++
	}
	if n > 1 && !t.removesRun(e, e.From+i) {
		return false // a part of what they were replaced by stays
	}
	for k := range n {
		dead[len(dead)-1-k].doomed = true
	}
	return n > 0
}

// reject marks the dead lines that nobody had decided about, and that line i of those that a decision removes had replaced.
func (t *taking) reject(dead []candidate, i int, by Author, e Edit) {
	over := []Author{by}
	for k := len(dead) - 1; k >= 0 && dead[k].before == i && slices.Contains(over, dead[k].removed()); k-- {
		if !dead[k].Pending || k > 0 && len(over) == 1 && dead[k-1].before == i && dead[k-1].removed() == by && !t.removesRun(e, e.From+i) {
			return // a part of what they were replaced by stays
		}
		dead[k].Rejected = true
		over = append(over, dead[k].wrote())
	}
}

// startsRun reports whether a present line is the first of a run.
func (t *taking) startsRun(line int) bool {
	r := t.c.f.run(line)
	return r.By != 0 && r.From == line
}

// removesRun reports whether an edit removes the whole run of a line.
func (t *taking) removesRun(e Edit, line int) bool {
	r := t.c.f.run(line)
	return r.By != 0 && e.From <= r.From && r.To <= e.From+len(e.Removed)
}

// meet writes the place of an edit: dead lines that a person or a decision has added again live again.
func (t *taking) meet(e Edit, dead []candidate, written []int32, group func(int32) int32) {
	typed := 0
	i, j := 0, 0
	bury := func(while func(candidate) bool) {
		for ; i < len(dead) && while(dead[i]); i++ {
			if d := &dead[i]; d.doomed {
				t.touched, t.lost = append(t.touched, d.Del), true
				d.Rejected = true
			}
			t.b.bury(dead[i].Dead)
		}
	}
	pairs := t.matches(dead, e.Added)
	each := len(pairs) == 0 && len(e.Added) == len(e.Removed) // each line replaces one
	add := func(to int) {
		for ; j < to; j++ {
			if each {
				bury(func(d candidate) bool { return d.before <= j })
			}
			by := Author{e.Added[j].By, group(e.Added[j].By)}
			if by.By != 0 {
				t.noted = min(t.noted, by.Group-1) // an earlier group may go on
			}
			if by.By == 0 {
				typed++
				n := t.moved[key(e.Added[j].Text)]
				if m := t.once[trim(e.Added[j].Text)]; m != 0 {
					sum, _ := sumOf(e.Added[j].Text)
					n, t.comes = m, append(t.comes, lostLine{sum, m})
				}
				if n == 0 && t.step.Who == Person {
					n = t.c.f.Lost.of(e.Added[j].Text)
				}
				by.By = -max(n, -n)
			}
			t.b.alive(by, First{}, 1)
		}
	}
	for _, m := range pairs {
		left := m[0] - i
		bury(func(candidate) bool { left--; return left >= 0 })
		add(m[1])
		t.b.alive(dead[i].wrote(), dead[i].First, 1)
		i, j = i+1, j+1
	}
	if !each {
		bury(func(d candidate) bool { return d.before < len(e.Removed) })
	}
	add(len(e.Added))
	bury(func(candidate) bool { return true })
	if typed > 0 && t.step.Who == Person {
		t.touched = append(t.touched, written...)
	}
}

func trim(line string) string { return strings.TrimRight(line, "\r\n") }

// ops takes the part of a step that is about the file as a whole.
func (t *taking) ops(f *File) {
	s := &t.step
	if s.Was.Kind != s.Is.Kind || s.Was.Kind == Opaque && !s.Was.same(s.Is) {
		was := s.Was
		lost := len(was.Data) > maxBody
		if lost {
			was.Data = nil
		} else if was.Data != nil {
			was.Data = slices.Clone(was.Data)
		}
		t.op(f, Op{Aspect: TheBody, By: s.BodyBy, Was: was, Lost: lost, Pending: s.Pending}, func(op Op) bool { return !op.Lost && op.Was.same(s.Is) })
	}
	if a, b := s.Was.Mode, s.Is.Mode; a != b && a != 0 && b != 0 && s.Was.Kind != Absent && s.Is.Kind != Absent {
		t.op(f, Op{Aspect: TheMode, By: s.ModeBy, Was: Body{Mode: a}, Pending: s.Pending}, func(op Op) bool { return op.Was.Mode == b })
	}
	if s.WasPath != s.IsPath {
		t.op(f, Op{Aspect: ThePath, By: s.MoveBy, Path: s.WasPath, Pending: s.Pending}, func(op Op) bool { return op.Path == s.IsPath })
	}
}

// op adds an operation of an edit. One of nobody's takes back those of edits, down to the one that back accepts: the file is
// as it was before them.
func (t *taking) op(f *File, op Op, back func(Op) bool) {
	mine := func(o Op) bool { return o.Aspect == op.Aspect }
	if op.By != 0 {
		for _, o := range slices.Backward(f.Ops) {
			if mine(o) {
				if o.By == op.By && !t.removesOthers(op) {
					return // the edit goes on, and began with o
				}
				break
			}
		}
		f.Ops = append(f.Ops, op)
		return
	}
	from := -1
	for i, o := range slices.Backward(f.Ops) {
		if mine(o) && back(o) {
			from = i
			break
		}
	}
	var gone []int32
	kept := f.Ops[:0]
	for i, o := range f.Ops {
		if !mine(o) || i < from {
			kept = append(kept, o)
			continue
		}
		t.lost = true
		if from < 0 && t.step.Who == Person {
			t.touched = append(t.touched, o.By)
		}
		gone = append(gone, o.By)
	}
	f.Ops = kept
	if op.Aspect != TheBody || t.step.Who != Person {
		return
	}
	if op.Was.Kind == Text && t.step.Is.Kind != Text { // the person's deletion is final
		f.Dead, t.lost = f.deadBefore(from), true
		return
	}
	// What the person has not brought back of a deleted text stays deleted, and what was removed before if the text is another one.
	another := t.another(f, gone)
	if another {
		t.touched = append(t.touched, gone...)
	}
	dead := f.Dead[:0]
	for _, g := range f.Dead {
		lines := slices.DeleteFunc(slices.Clone(g.Lines), func(d Dead) bool {
			drop := another || slices.Contains(gone, d.Del)
			if drop {
				t.touched = append(t.touched, d.Del)
				if d.Ins > 0 {
					t.touched = append(t.touched, d.Ins)
				}
			}
			return drop
		})
		if len(lines) > 0 {
			dead = append(dead, Grave{g.At, lines})
		}
	}
	f.Dead = dead
}
