package diffs

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"cursord/diffs/internal/gitform"
	"cursord/diffs/internal/weave"
)

// A Hunk is a part of a file's changes that a person decides at once. Lines are counted from 1 as in unified diff; an empty
// side starts at the line before it, with count 0.
type Hunk struct {
	ID                 uint64
	Kind               string // "text" or "file"
	OldStart, OldLines int    // in the baseline, with context
	NewStart, NewLines int    // in the present text, with context
	Lines              []string
	Beside             []int    // of Lines: those that a person has put into the baseline in the place that an edit has changed
	OldNoEOL, NewNoEOL bool     // the last line of that side is in Lines and has no line end
	Linked             []uint64 // hunks that are decided with this one, in file order
	Sources            []Source // each once
}

// FromTurn reports whether a turn has made some of the hunk.
func (h Hunk) FromTurn(turn string) bool {
	return slices.ContainsFunc(h.Sources, func(s Source) bool { return s.TurnID == turn })
}

// The kinds of hunks.
const (
	TextHunk = "text"
	FileHunk = "file"
)

const contextLines = 3

// A piece is a pending hunk inside a review: a hunk of kind file, or the run of atoms from start to end.
type piece struct {
	id          uint64
	what        what
	start, end  int
	contextFrom int // no context before this atom, for a run
	contextTo   int // nor from this one on
}

type what int

const (
	aRun what = iota
	theUnknown
	theMove
	theMode
	theOp
	parts int = iota
)

// list returns the pending hunks in file order, those of kind file first.
func (r *Review) list() []piece {
	var pieces []piece
	for _, what := range []what{theUnknown, theMove, theMode} {
		if id := r.fileOp(what).ID; id != 0 {
			pieces = append(pieces, piece{id: id, what: what})
		}
	}
	if r.op.ID != 0 {
		return append(pieces, piece{id: r.op.ID, what: theOp, end: len(r.weave.Atoms)})
	}
	runs := len(pieces)
	for start, end := r.weave.Run(0); start < len(r.weave.Atoms); start, end = r.weave.Run(end) {
		p := piece{start: start, end: end, id: r.weave.Atoms[start].ID, contextTo: len(r.weave.Atoms)}
		for i := start; i < end; i++ {
			p.id = min(p.id, r.weave.Atoms[i].ID)
		}
		if n := len(pieces); n > runs {
			p.contextFrom = pieces[n-1].end
			pieces[n-1].contextTo = start
		}
		pieces = append(pieces, p)
	}
	if n := len(pieces); n > runs {
		if p := &pieces[n-1]; r.restyled(p.start) {
			// The run shows the line before it as changed, so that line is no context of the previous hunk.
			if n-1 > runs {
				pieces[n-2].contextTo--
			}
		}
	}
	return pieces
}

// fileOp returns the hunk of kind file that w names.
func (r *Review) fileOp(w what) fileOp {
	switch w {
	case theUnknown:
		return r.unknown
	case theMove:
		return r.renamed
	case theMode:
		return r.chmod
	}
	return r.op
}

// restyled reports whether the settled line before start is the last of only one side and has no line end. On the other side
// it has one, so a diff must show the line as changed.
func (r *Review) restyled(start int) bool {
	if start == 0 || !weave.LacksEOL(r.weave.Atoms[start-1].Text) {
		return false
	}
	return (start-1 == r.weave.Last(weave.Current)) != (start-1 == r.weave.Last(weave.Baseline))
}

// Hunks returns what there is to review, in file order.
func (r *Review) Hunks() []Hunk { return r.hunks(false) }

func (r *Review) hunks(beside bool) []Hunk {
	pieces := r.list()
	links := r.links(pieces)
	hunks := make([]Hunk, len(pieces))
	w := writer{r: r, beside: beside, lastOld: r.weave.Last(weave.Baseline), lastNew: r.weave.Last(weave.Current)}
	for i, p := range pieces {
		h := Hunk{ID: p.id, Kind: FileHunk, Linked: links[i]}
		switch {
		case p.what == aRun:
			h.Kind = TextHunk
			h.Sources = r.sources.of(r.edits(p, nil))
			w.write(&h, p)
		case p.what == theOp:
			h.Sources = r.sources.of(r.edits(p, r.op.Edits))
			if r.whole == nil {
				w.write(&h, p)
			}
		default:
			h.Sources = r.sources.of(r.fileOp(p.what).Edits)
		}
		hunks[i] = h
	}
	return hunks
}

// MaybeYours returns the ids of the hunks that may be a person's: those with an unknown source, and those that are decided
// together with one. Only a decision that names such a hunk may reject it.
func MaybeYours(hunks []Hunk) map[uint64]bool {
	ids := make(map[uint64]bool)
	for _, h := range hunks {
		if !slices.ContainsFunc(h.Sources, func(s Source) bool { return s.Via == ViaUnknown }) {
			continue
		}
		ids[h.ID] = true
		for _, id := range h.Linked {
			ids[id] = true
		}
	}
	return ids
}

// edits returns the numbers of the edits that made a piece, added to those given.
func (r *Review) edits(p piece, more []int32) []int32 {
	all := slices.Clone(more)
	for i := p.start; i < p.end; i++ {
		n := r.weave.Atoms[i].Ins + r.weave.Atoms[i].Del
		if len(all) == 0 || all[len(all)-1] != n {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A writer fills in the lines of hunks, in file order.
type writer struct {
	r                *Review
	beside           bool // Beside has all of the person's lines
	lastOld, lastNew int  // the last atom of each side
	at               int  // the atom up to which old and new are counted
	old, new         int  // lines of each side before at
}

func (w *writer) count(to int) {
	for ; w.at < to; w.at++ {
		if a := &w.r.weave.Atoms[w.at]; a.Del == 0 {
			w.new++
			if a.Ins == 0 {
				w.old++
			}
		} else {
			w.old++
		}
	}
}

func (w *writer) write(h *Hunk, p piece) {
	from, to := p.start, p.end
	start := p.start // of the lines that are shown as changed
	if p.what == aRun {
		if w.r.restyled(p.start) {
			start--
		}
		from = max(start-contextLines, p.contextFrom, 0)
		to = min(p.end+contextLines, p.contextTo)
		if w.beside {
			from, to = min(from, w.r.besideFrom(start, p.contextFrom)), max(to, w.r.besideTo(p.end, p.contextTo))
		}
	}
	w.count(from)
	old, new := w.old, w.new
	h.Lines = make([]string, 0, to-from+1)
	add := func(mark string, i int) {
		text, lacks := w.r.weave.Atoms[i].Text, weave.LacksEOL(w.r.weave.Atoms[i].Text)
		if mark != "+" {
			h.OldLines++
			h.OldNoEOL = h.OldNoEOL || lacks && i == w.lastOld
		}
		if mark != "-" {
			h.NewLines++
			h.NewNoEOL = h.NewNoEOL || lacks && i == w.lastNew
		}
		if lacks && (mark == "-" && i != w.lastOld || mark != "-" && i != w.lastNew) {
			text += w.r.weave.LineEnd() // as that side has it
		}
		h.Lines = append(h.Lines, mark+strings.TrimSuffix(text, "\n"))
	}
	typed := w.r.besideFrom(start, from)
	for i := from; i < start; i++ {
		if i >= typed {
			h.Beside = append(h.Beside, len(h.Lines))
		}
		add(" ", i)
	}
	for i := start; i < p.end; i++ {
		if w.r.weave.Atoms[i].Ins == 0 {
			if w.r.weave.Atoms[i].Both {
				h.Beside = append(h.Beside, len(h.Lines))
			}
			add("-", i)
		}
	}
	for i := start; i < p.end; i++ {
		if w.r.weave.Atoms[i].Del == 0 {
			add("+", i)
		}
	}
	typed = w.r.besideTo(p.end, to)
	for i := p.end; i < to; i++ {
		if i < typed {
			h.Beside = append(h.Beside, len(h.Lines))
		}
		add(" ", i)
	}
	h.OldStart, h.NewStart = gitform.Start(old, h.OldLines), gitform.Start(new, h.NewLines)
}

// changed returns the atoms of a hunk's changed lines, in the order of Lines; -1 for a line that is shown as changed but is
// not the piece's own.
func (r *Review) changed(p piece) []int {
	restyled := p.what == aRun && r.restyled(p.start)
	var atoms []int
	if restyled {
		atoms = append(atoms, -1)
	}
	for i := p.start; i < p.end; i++ {
		if r.weave.Atoms[i].Del != 0 {
			atoms = append(atoms, i)
		}
	}
	if restyled {
		atoms = append(atoms, -1)
	}
	for i := p.start; i < p.end; i++ {
		if r.weave.Atoms[i].Del == 0 {
			atoms = append(atoms, i)
		}
	}
	return atoms
}

// Fingerprint names the contents of a pending hunk and of the hunks decided with it. It stays the same as long as deciding
// the hunk means the same. It is "" if no pending hunk has the id.
func (r *Review) Fingerprint(id uint64) string {
	pieces := r.list()
	i := slices.IndexFunc(pieces, func(p piece) bool { return p.id == id })
	if i < 0 {
		return ""
	}
	return r.print(pieces, i, r.links(pieces)[i])
}

// Fingerprints returns the Fingerprint of each pending hunk.
func (r *Review) Fingerprints() map[uint64]string {
	prints := make(map[uint64]string)
	pieces := r.list()
	for i, links := range r.links(pieces) {
		prints[pieces[i].id] = r.print(pieces, i, links)
	}
	return prints
}

func (r *Review) print(pieces []piece, i int, links []uint64) string {
	h := sha256.New()
	fmt.Fprint(h, pieces[i].id, r.pieceShape(pieces[i]).sum())
	for _, p := range pieces {
		if len(links) > 0 && p.id == links[0] { // the ids are in file order as well
			fmt.Fprint(h, " ", p.id, r.pieceShape(p).sum())
			links = links[1:]
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

func (r *Review) pieceShape(p piece) (s shape) {
	switch p.what {
	case theUnknown:
		s.Unknown = r.unknown
	case theMove:
		s.Move, s.WasPath, s.IsPath = r.renamed, r.wasPath, r.isPath
	case theMode:
		s.Mode, s.WasMode, s.IsMode = r.chmod, r.wasMode, r.isMode
	case theOp:
		s = r.shape()
		s.Unknown, s.markedAttrs = fileOp{}, markedAttrs{}
	default:
		s.Runs, s.Bare = weave.ShapeOf(r.weave.Atoms[p.start:p.end])
	}
	return s
}
