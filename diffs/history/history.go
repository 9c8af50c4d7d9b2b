// Package history keeps, for one file, which edits of agents its lines come from and what these edits removed, after the
// changes were accepted too. So a file can go back to before some edits, and each line can say where it comes from.
//
// A [File] is a weave without the lines that are there: it knows them by their numbers, with the edit that wrote each, and it
// has the text of those that edits removed, at their places. A change of the file is a [Step]. What a person writes, changes or
// brings back by hand is the person's: Rewind never removes it. Edits are numbers; the caller knows what they stand for.
//
// The package is pure. A File never changes: Take and Rewind return another one.
package history

import (
	"cmp"
	"maps"
	"slices"
)

// A Kind is what a path holds.
type Kind int

const (
	Absent Kind = iota
	Text        // a content that has lines
	Opaque      // a content without lines, or a link
)

// A Body is what a path holds, without the lines of a text.
type Body struct {
	Kind Kind   `json:"k,omitempty"`
	Data []byte `json:"d,omitempty"` // of Opaque; of a link its target
	Link bool   `json:"l,omitempty"`
	Mode uint32 `json:"m,omitempty"` // permission bits; 0: not known
}

func (b Body) same(o Body) bool {
	return b.Kind == o.Kind && b.Link == o.Link && string(b.Data) == string(o.Data)
}

// A Who says who made a step.
type Who int

const (
	Person   Who = iota
	Agent        // an edit
	Decision     // a decision about edits, or its undo
)

// A Step is a change of a file.
type Step struct {
	Who             Who
	Was, Is         Body
	WasPath, IsPath string
	Edits           []Edit // of the lines, in order; a side that is no text has none
	BodyBy          int32  // the edit that made, removed or replaced the file as a whole; 0: none
	ModeBy, MoveBy  int32
	Sum             func() string // returns a sum of the content after the step
	Before          func() string // returns a sum of the content before the step
	Pending         *Pending      // before the step; nil: nothing

	// Doubt is given if a person has written another text. It reports whether a line that stays, by its number after the step, may be the
	// person's, too.
	Doubt func(line int) bool
}

// An Edit replaces the lines from From on by others.
type Edit struct {
	From    int
	Removed []Removed
	Added   []Added
}

// A Removed is a line that an edit has removed, or, with By 0, a person or a decision.
type Removed struct {
	Text    string
	By      int32
	Pending bool // nobody had decided about the edit that wrote the line
}

// An Added is a line that an edit has written, or, with By 0, a person or a decision.
type Added struct {
	Text string
	By   int32
	Was  int32 // the edit that had removed the line, if nobody had decided about that
}

// A File is the history of a file. nil is that of a file without edits.
type File struct {
	Runs    []Run           `json:"runs,omitempty"` // of the present lines, ascending
	Dead    []Grave         `json:"dead,omitempty"` // ascending
	Ops     []Op            `json:"ops,omitempty"`  // the oldest first
	Touched []int32         `json:"touched,omitempty"`
	At      map[int32]int64 `json:"at,omitempty"` // when an edit was made, in ms since 1970
	Lost    Lost            `json:"lost,omitempty"`
	Moved   Lost            `json:"moved,omitempty"`  // present lines that a person has moved in one step, each once
	Groups  int32           `json:"groups,omitempty"` // the last number of a group
	Noted   int32           `json:"noted,omitempty"`  // the last group of whose lines it was looked who wrote them first
	Asleep  *Asleep         `json:"asleep,omitempty"`
}

// A Run is a run of present lines that an edit has written. If By is negative, a person has moved lines of edit -By, or has
// brought them back.
type Run struct {
	From int `json:"f"`
	To   int `json:"t"` // exclusive
	Author
	First
}

// An Author is an edit and its group: one place where the edit has put some lines for others. Groups have numbers of their own in a
// file. An edit that changes its own lines goes on in their group. Older versions have stored no groups: with 0, the edit is one.
type Author struct {
	By    int32 `json:"b"`
	Group int32 `json:"g,omitempty"`
}

// edit returns the edit of a run.
func (a Author) edit() int32 { return max(a.By, -a.By) }

// A Grave has the lines that edits have removed in front of a present line.
type Grave struct {
	At    int    `json:"a"`
	Lines []Dead `json:"l"`
}

// A Dead is a line that edit Del has removed and edit Ins had written; with Ins 0, nobody knows who had.
type Dead struct {
	Text     string `json:"x"`
	Ins      int32  `json:"i,omitempty"`
	Del      int32  `json:"d"`
	InsGroup int32  `json:"ig,omitempty"`
	DelGroup int32  `json:"dg,omitempty"`

	// Copied says that the step that removed the line has written the same elsewhere. Such a line lives again only together with
	// the end of its copy, because nobody can say which of the two is the person's.
	Copied  bool `json:"c,omitempty"`
	Pending bool `json:"p,omitempty"` // as in Removed

	// Rejected says that nobody had decided about the line, and a person has rejected what replaced it. So no rewind brings it back.
	Rejected bool `json:"r,omitempty"`

	// Again is an edit that wrote the line again when nobody had decided about Del.
	Again int32 `json:"a,omitempty"`

	First
}

// An Op is a change of a file as a whole.
type Op struct {
	Aspect Aspect `json:"o,omitempty"`
	By     int32  `json:"b"`
	Was    Body   `json:"w,omitzero"`
	Path   string `json:"p,omitempty"` // where the file was
	Lost   bool   `json:"lost,omitempty"`

	Pending *Pending `json:"pe,omitempty"`
}

// An Aspect is what an Op changed.
type Aspect int

const (
	TheBody Aspect = iota
	TheMode
	ThePath
)

// Asleep is a history from before a person's change, for the case that the person takes that change back.
type Asleep struct {
	Sum  string `json:"s"`
	File *File  `json:"h"`
}

// maxBody bounds the earlier contents without lines that are kept.
const maxBody = 4 << 20

// Empty reports whether nothing is known of any edit.
func (f *File) Empty() bool {
	return f == nil || len(f.Runs)+len(f.Dead)+len(f.Ops)+len(f.Touched)+len(f.Lost) == 0 && f.Asleep == nil
}

// Graves returns the dead lines, in the order of their places; none without a history.
func (f *File) Graves() []Grave {
	if f == nil {
		return nil
	}
	return f.Dead
}

// Bury adds a line that was removed in front of a present line, which is not before any other such line.
func (f *File) Bury(line int, d Dead) {
	if n := len(f.Dead); n == 0 || f.Dead[n-1].At != line {
		f.Dead = append(f.Dead, Grave{At: line})
	}
	g := &f.Dead[len(f.Dead)-1]
	g.Lines = append(g.Lines, d)
}

// Recall returns the history with other edits for some of the present lines: line i is of edit by[i], unless that is 0, as in Run. at
// says when the edits were made that have no time.
func (f *File) Recall(by []int32, at map[int32]int64) *File {
	var known File
	if f != nil {
		known = *f
	}
	b := builder{}
	for i, n := range by {
		r := known.run(i)
		b.alive(cmp.Or(Author{By: n}, r.Author), r.First, 1)
	}
	known.Runs = b.runs
	times := map[int32]int64{}
	maps.Copy(times, at)
	maps.Copy(times, known.At)
	known.At = times
	return &known
}

// Give returns the history with other edits for some of the present lines: line i is of edit by[i], unless that is 0.
func (f *File) Give(by []int32) *File {
	given, b := *f, builder{}
	end := len(by)
	for _, r := range f.Runs {
		end = max(end, r.To)
	}
	for i := range end {
		is := f.run(i)
		if i < len(by) && by[i] != 0 {
			is.Author = Author{By: by[i]}
		}
		b.alive(is.Author, is.First, 1)
	}
	given.Runs = b.runs
	return &given
}

// Over returns the history of a file that has taken the place of a deleted one. Present line i is of edit whose[i], or a person's if that is 0; a
// line without an entry stays whose it was. dead are the lines of the deleted file that are not back; they come before those that are dead here.
func (f *File) Over(lines int, whose map[int]int32, dead []Grave) *File {
	if f == nil {
		f = &File{}
	}
	over := *f
	over.Groups++
	b, c, at := builder{}, cursor{f: f}, map[int][]Dead{}
	for _, g := range dead {
		at[g.At] = g.Lines
	}
	for i := 0; ; i++ {
		for _, d := range at[i] {
			d.DelGroup = over.Groups
			b.bury(d)
		}
		if b.share(c.graves()); i == lines {
			break
		}
		is := c.next()
		if n, given := whose[i]; given {
			is.Author, is.First = Author{By: n}, First{}
		}
		b.alive(is.Author, is.First, 1)
	}
	over.Runs, over.Dead = b.runs, b.dead
	return &over
}

// Touch returns the history with edits of which a person has changed something.
func (f *File) Touch(edits ...int32) *File {
	var touched File
	if f != nil {
		touched = *f
	}
	touched.Touched = slices.Concat(touched.Touched, edits)
	slices.Sort(touched.Touched)
	touched.Touched = slices.Compact(touched.Touched)
	return &touched
}

// doubt returns the runs with the lines of which may holds as lines that a person has brought.
func (f *File) doubt(may func(line int) bool) []Run {
	b := builder{}
	for _, r := range f.Runs {
		b.line = r.From
		for i := r.From; i < r.To; i++ {
			by, first := r.Author, r.First
			if may(i) {
				by.By, first.Whose = min(by.By, -by.By), min(first.Whose, -first.Whose)
			}
			b.alive(by, first, 1)
		}
	}
	return b.runs
}

// Edits returns the numbers of all edits that the history knows.
func (f *File) Edits() map[int32]bool {
	edits := map[int32]bool{}
	if f == nil {
		return edits
	}
	for _, r := range f.Runs {
		edits[r.edit()], edits[max(r.Whose, -r.Whose)] = true, true
	}
	for _, g := range f.Dead {
		for _, d := range g.Lines {
			edits[d.Ins], edits[d.Del], edits[d.Again], edits[max(d.Whose, -d.Whose)] = true, true, true, true
		}
	}
	for _, op := range f.Ops {
		edits[op.By] = true
	}
	for _, n := range f.Touched {
		edits[n] = true
	}
	for _, l := range slices.Concat(f.Lost, f.Moved) {
		edits[l.by] = true
	}
	if f.Asleep != nil {
		maps.Copy(edits, f.Asleep.File.Edits())
	}
	delete(edits, 0)
	return edits
}

// Stamp returns the history with a time for each edit that has none; forgotten edits lose theirs.
func (f *File) Stamp(ms int64) *File {
	if f.Empty() {
		return nil
	}
	edits := f.Edits()
	if len(edits) == len(f.At) && !slices.ContainsFunc(slices.Collect(maps.Keys(edits)), func(n int32) bool { return f.At[n] == 0 }) {
		return f
	}
	stamped := *f
	stamped.At = make(map[int32]int64, len(edits))
	for n := range edits {
		if stamped.At[n] = f.At[n]; stamped.At[n] == 0 {
			stamped.At[n] = ms
		}
	}
	return &stamped
}

// When returns when an edit was made, in ms since 1970; 0 if that is unknown.
func (f *File) When(n int32) int64 {
	if f == nil {
		return 0
	}
	return f.At[n]
}

// Of returns the edit that wrote a present line; 0 if none is known. moved says that a person has moved the line, or brought it
// back, so that its text alone tells the edit.
func (f *File) Of(line int) (by int32, moved bool) {
	if f == nil {
		return 0, false
	}
	r := f.run(line)
	return r.edit(), r.By < 0
}

// wrote and removed return who did that with a dead line.
func (d *Dead) wrote() Author   { return Author{d.Ins, d.InsGroup} }
func (d *Dead) removed() Author { return Author{d.Del, d.DelGroup} }

// RemovedNear reports whether an edit has removed a line with a text in front of a present line, or beside that place.
func (f *File) RemovedNear(line int, by int32, text string) bool {
	return f != nil && slices.ContainsFunc(f.Dead, func(g Grave) bool {
		return g.At >= line-1 && g.At <= line+1 && slices.ContainsFunc(g.Lines, func(d Dead) bool { return d.Del == by && d.Text == text })
	})
}

// run returns the run that a present line is in; the zero Run if it is in none.
func (f *File) run(line int) Run {
	i, in := slices.BinarySearchFunc(f.Runs, line, func(r Run, line int) int {
		switch {
		case r.To <= line:
			return -1
		case r.From > line:
			return 1
		}
		return 0
	})
	if !in {
		return Run{}
	}
	return f.Runs[i]
}
