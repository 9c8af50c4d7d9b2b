package history

import (
	"slices"

	"cursord/diffs/internal/nearest"
)

// Back is what a file is to hold without some edits.
type Back struct {
	File    *File
	Body    Body
	Path    string
	Lines   []Piece    // of a Text
	Changed bool       // some of what the edits did stays, because somebody has changed it since
	Lost    bool       // some of what they removed is not known any more
	Changes int        // how many places change
	Whole   bool       // the file as a whole is made, removed or replaced
	Forgets bool       // File knows otherwise what another rewind brings back
	Again   []Dead     // lines that the edits had written again; with Del 0, they had removed them themselves
	Pending []*Pending // when what goes of the file as a whole began, the latest first
	Over    []Gone     // lines that the edits wrote and others have removed since
	Under   []Covered  // lines that others have removed then, in place of the edits
	Beneath bool       // lines that the edits had removed have gone with the text, which others have removed since
}

// A Gone is a dead line in front of a present line.
type Gone struct {
	Dead
	At int
}

// A Covered is a dead line, and what the edits to take back had put over it, the first one first, or beside that.
type Covered struct {
	Gone
	Over [][]Gone // lines share these lists
}

// A Pending is what nobody had decided about when an operation began: the edits, and the baseline that they had changed.
type Pending struct {
	Body    []int32 `json:"b,omitempty"`
	Mode    []int32 `json:"m,omitempty"`
	Path    []int32 `json:"p,omitempty"`
	Was     string  `json:"w,omitempty"` // a sum of the body; "" without Body
	WasMode uint32  `json:"wm,omitempty"`
	WasPath string  `json:"wp,omitempty"`
}

// A Piece is a run of present lines, or, with To == From, a line that comes back.
type Piece struct {
	From, To int
	Text     string
	Ins, Del int32  // of a line that comes back: the edits that wrote and removed it
	Pending  bool   // as in Removed
	Behind   []Dead // of a line that comes back: the dead lines between it and a line above that stays
}

// Keep returns what Rewind returns where nothing changes.
func Keep(f *File, is Body, path string, lines int) *Back {
	return &Back{File: f, Body: is, Path: path, Lines: []Piece{{To: lines}}, Changed: true}
}

// Rewind takes edits out of a file that holds is, at path, with some lines. beneath is how many lines of others are pending as removed by others.
// It returns nil if nothing of the edits is known.
func (f *File) Rewind(undone func(int32) bool, is Body, path string, lines []string, beneath int) *Back {
	if f.Empty() {
		return nil
	}
	known := false
	for n := range f.Edits() {
		known = known || undone(n)
	}
	if !known {
		return nil
	}
	back := &Back{File: &File{At: f.At, Lost: f.Lost.without(undone), Moved: f.Moved.without(undone), Groups: f.Groups, Noted: f.Noted}, Body: is, Path: path}
	back.Changed = slices.ContainsFunc(f.Touched, undone)
	alive := f.rewindLines(back, undone, is, lines, nil)
	f.rewindOps(back, undone, alive+beneath)
	if back.Body.Kind != Text {
		// The lines of a text that goes stay known as far as they are others', and so do those that the edits removed before others took the text.
		var taken Author
		if op := back.above(TheBody); op != nil && op.Was.Kind == Text {
			taken.By = op.By
		}
		without := &Back{File: &File{}}
		f.rewindLines(without, undone, is, lines, &taken)
		back.Forgets = back.Forgets || len(back.Lines) > 0
		back.File.Runs, back.File.Dead, back.Lines, back.Beneath = nil, without.File.Dead, nil, taken.By != 0 && without.Beneath
	}
	back.File.Touched = slices.DeleteFunc(slices.Clone(f.Touched), undone)
	if back.File.Empty() {
		back.File = nil
	}
	return back
}

// rewindLines returns how many lines stay or come back. If taken is given, the file has no lines: those that would come back have gone with the
// text, by taken; for no edit, nobody knows them.
func (f *File) rewindLines(back *Back, undone func(int32) bool, is Body, lines []string, taken *Author) (alive int) {
	stays, there := f.writtenAgain(undone, lines)
	behind := map[int][]Dead{} // dead lines that were behind one of these
	c, b := cursor{f: f}, builder{}
	changing := false
	change := func(now bool) {
		if now && !changing {
			back.Changes++
		}
		changing = now
	}
	keep := func(from, to int) {
		if n := len(back.Lines); n > 0 && back.Lines[n-1].To > back.Lines[n-1].From && back.Lines[n-1].To == from {
			back.Lines[n-1].To = to
		} else {
			back.Lines = append(back.Lines, Piece{From: from, To: to})
		}
	}
	for i := 0; ; i++ {
		known := len(back.Under)
		dead := append(behind[i], f.without(undone, c.graves(), i, back)...)
		back.Beneath = back.Beneath || taken != nil && len(back.Under) > known
		for n, d := range dead {
			d.First = d.First.without(undone)
			if d.Again != 0 && undone(d.Again) {
				if back.Again = append(back.Again, d); undone(d.Del) {
					back.Again[len(back.Again)-1].Del = 0
				}
				d.Again = 0
			}
			if k := (writing{d.Text, d.Again}); len(there[k]) > 0 && undone(d.Del) {
				at := there[k][0]
				if there[k] = there[k][1:]; at < i {
					continue
				}
				behind[at+1] = append(behind[at+1], dead[n+1:]...)
				break
			}
			if undone(d.Del) && d.Rejected {
				continue
			}
			if undone(d.Del) && taken != nil {
				if d.Del, d.DelGroup = taken.By, taken.Group; d.Del != 0 {
					b.bury(d)
					back.Beneath = true
				}
				continue
			}
			if undone(d.Del) {
				change(true)
				p := Piece{From: i, To: i, Text: d.Text, Ins: d.Ins, Del: d.Del, Pending: d.Pending}
				if n := len(back.Lines); n > 0 && back.Lines[n-1].From == back.Lines[n-1].To {
					p.Behind = back.Lines[n-1].Behind
				}
				if n := len(b.dead); n > 0 && b.dead[n-1].At == b.line {
					p.Behind = append(p.Behind, b.dead[n-1].Lines...) // each piece has a part of one list
				}
				back.Lines = append(back.Lines, p)
				b.alive(d.wrote(), d.First, 1)
				continue
			}
			b.bury(d)
		}
		if i >= len(lines) {
			break
		}
		by := c.next()
		if by.By > 0 && undone(by.By) {
			change(true)
			continue
		}
		if by.By < 0 && undone(-by.By) {
			back.Changed, by = true, Run{} // the person has put it there
		}
		if d, written := stays[i]; written {
			by.Author, by.First = d.wrote(), d.First
		}
		change(false)
		b.alive(by.Author, by.First.without(undone), 1)
		keep(i, i+1)
	}
	back.File.Runs, back.File.Dead = b.runs, b.dead
	return b.line
}

// A writing is a line that an edit has written again.
type writing struct {
	text string
	by   int32
}

// writtenAgain returns the present lines which others have written again after the edits to take back had removed them, as
// they were removed, and for the dead lines that need not live again for that where these are.
func (f *File) writtenAgain(undone func(int32) bool, lines []string) (stays map[int]Dead, dead map[writing][]int) {
	stays, dead = map[int]Dead{}, map[writing][]int{}
	var again []Gone
	wrote := map[int32]bool{}
	for _, g := range f.Dead {
		for _, d := range g.Lines {
			if d.Again != 0 && undone(d.Del) && !undone(d.Again) {
				again, wrote[d.Again] = append(again, Gone{d, g.At}), true
			}
		}
	}
	present := nearest.Set[writing]{}
	for _, r := range f.Runs {
		for i := r.From; wrote[r.By] && i < min(r.To, len(lines)); i++ {
			present.Add(writing{trim(lines[i]), r.By}, i, i)
		}
	}
	for _, g := range again {
		if at, ok := present.Take(writing{trim(g.Text), g.Again}, g.At, func(int) bool { return true }); ok {
			stays[at] = g.Dead
			dead[writing{g.Text, g.Again}] = append(dead[writing{g.Text, g.Again}], at)
		}
	}
	return stays, dead
}

func (f *File) rewindOps(back *Back, undone func(int32) bool, alive int) {
	var blocked [3]bool
	removed := back.Body.Kind == Absent && !slices.ContainsFunc(f.Ops, func(op Op) bool { return op.Aspect == TheBody }) // by a person
	goes := func(op Op) {
		back.Changes++
		back.Whole = back.Whole || op.Aspect == TheBody
		if op.Pending != nil {
			back.Pending = append(back.Pending, op.Pending)
		}
	}
	for i, op := range slices.Backward(f.Ops) {
		switch a := op.Aspect; {
		case !undone(op.By):
			blocked[a] = true
		case blocked[a]:
			back.Changed = true
			if over := back.above(a); over != nil && (a != TheBody || op.Was.Kind == Opaque && over.Was.Kind == Opaque) {
				over.Was, over.Path, over.Lost, back.Forgets = op.Was, op.Path, op.Lost, true // it has replaced what op had
				continue
			}
		case removed:
			back.Changed = true
			continue
		case op.Lost:
			back.Lost, blocked[a] = true, true
		case a == TheBody && alive > 0 && op.Was.Kind != Text && back.Body.Kind == Text && !f.wasText(i, undone):
			back.Changed, blocked[a] = true, true // others' lines keep the text
			continue
		case a == TheBody:
			mode := back.Body.Mode
			if back.Body = op.Was; mode != 0 && op.Was.Mode == 0 {
				back.Body.Mode = mode
			}
			goes(op)
			continue
		case a == TheMode:
			back.Body.Mode = op.Was.Mode
			goes(op)
			continue
		default:
			back.Path = op.Path
			goes(op)
			continue
		}
		back.File.Ops = append(back.File.Ops, op)
	}
	slices.Reverse(back.File.Ops)
}

// above returns the operation that has come right after those that are left; nil if there is none.
func (b *Back) above(a Aspect) *Op {
	for i := range slices.Backward(b.File.Ops) {
		if b.File.Ops[i].Aspect == a {
			return &b.File.Ops[i]
		}
	}
	return nil
}

// wasText reports whether the file was a text before one of the edits to take back that changed it as a whole right before operation i.
func (f *File) wasText(i int, undone func(int32) bool) bool {
	for _, op := range slices.Backward(f.Ops[:i]) {
		switch {
		case op.Aspect != TheBody:
		case !undone(op.By) || op.Lost:
			return false
		case op.Was.Kind == Text:
			return true
		}
	}
	return false
}
