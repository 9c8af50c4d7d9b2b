package history

import "maps"

// A First says, if it is known, which edit wrote a line that later edits have only moved, or taken away and brought back. A rewind of these
// goes by their own numbers. The note lasts as long as the line, whatever becomes of what is around it.
type First struct {
	Known bool  `json:"k,omitempty"`
	Whose int32 `json:"w,omitempty"` // 0: a person; negative as in Run
}

// of returns the edit that wrote a line first, where by is the edit that put it where it is now.
func (n First) of(by int32) int32 {
	if n.Known {
		return n.Whose
	}
	return by
}

// without returns the note if it names no edit to take back.
func (n First) without(undone func(int32) bool) First {
	if n.Whose != 0 && undone(max(n.Whose, -n.Whose)) {
		return First{}
	}
	return n
}

// Wrote returns the edit that wrote a dead line first: Ins, if later ones have not only brought it back.
func (d *Dead) Wrote() int32 { return d.First.of(d.Ins) }

// Whose is Of for who wrote a line first; known says that this was noted.
func (f *File) Whose(line int) (by int32, moved, known bool) {
	if f == nil {
		return 0, false, false
	}
	r := f.run(line)
	by = r.of(r.By)
	return max(by, -by), by < 0, r.Known
}

// ToNote reports whether edits have written lines since Note was last called.
func (f *File) ToNote() bool { return f != nil && f.Noted < f.Groups }

// Note returns the history with notes of present lines that edits have written since the last ones were taken.
func (f *File) Note(first map[int]First) *File {
	noted := *f.note(first, f.Noted)
	noted.Noted = f.Groups
	return &noted
}

// Learn returns the history with notes of present lines that something else tells than this history, and with times of their edits.
func (f *File) Learn(first map[int]First, at map[int32]int64) *File {
	learned := *f.note(first, -1)
	learned.At = map[int32]int64{}
	maps.Copy(learned.At, at)
	maps.Copy(learned.At, f.At)
	return &learned
}

func (f *File) note(first map[int]First, after int32) *File {
	noted, b := *f, builder{}
	for _, r := range f.Runs {
		b.line = r.From
		for i := r.From; i < r.To; i++ {
			is := r.First
			if n, found := first[i]; found && r.Group > after {
				is = n
			}
			b.alive(r.Author, is, 1)
		}
	}
	noted.Runs = b.runs
	return &noted
}

// Stretches returns the runs with those joined that only their groups divide.
func (f *File) Stretches() []Run {
	b := builder{}
	for _, r := range f.Runs {
		b.line = r.From
		b.alive(Author{By: r.By}, First{}, r.To-r.From)
	}
	return b.runs
}
