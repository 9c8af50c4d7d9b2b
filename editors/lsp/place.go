package lsp

import (
	"fmt"
	"path"
	"strings"

	"cursord/sessions"
)

// A side is what an editor's text has of a hunk.
type side int

const (
	neither side = iota
	oldSide      // what was there before the agent
	newSide      // what the agent made of it
)

// A placed hunk is where an editor's text has it.
type placed struct {
	hunk  *sessions.Hunk
	diff  *sessions.Diff
	index int // of the file's hunks
	uri   string
	text  *text // of the document; nil: it is not open
	side  side
	from  int  // the line of text with which the hunk's changed part begins
	to    int  // the line behind it
	alone bool // in the list of all hunks, and nowhere else
}

// A block is one side of a hunk: its lines, of which the first and last ones are context.
type block struct {
	lines        []string
	before, tail int // lines of context
}

// byteOrderMark may begin a file; editors tell of it or not.
const byteOrderMark = "\ufeff"

// sides takes a hunk of text apart.
func sides(h *sessions.Hunk) (old, now block) {
	first, last := -1, -1
	for i, line := range h.Lines {
		if line == "" || line[0] == ' ' {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	for i, line := range h.Lines {
		if line == "" {
			line = " "
		}
		content := strings.TrimSuffix(line[1:], "\r")
		if len(old.lines) == 0 && h.OldStart <= 1 || len(now.lines) == 0 && h.NewStart <= 1 {
			content = strings.TrimPrefix(content, byteOrderMark)
		}
		if line[0] != '+' {
			old.lines = append(old.lines, content)
		}
		if line[0] != '-' {
			now.lines = append(now.lines, content)
		}
		if line[0] == ' ' && i < first {
			old.before, now.before = old.before+1, now.before+1
		}
		if line[0] == ' ' && i > last {
			old.tail, now.tail = old.tail+1, now.tail+1
		}
	}
	return old, now
}

// changed returns the lines of a block that are no context.
func (b block) changed() []string { return b.lines[b.before : len(b.lines)-b.tail] }

// searchLimit bounds how many lines away from its place a hunk is looked for.
const searchLimit = 5000

// find returns the line nearest to near from which on t has the block; -1 if none is.
func (b block) find(t *text, near, limit int) int {
	last := t.count() - len(b.lines)
	near = max(near, 0)
	for away := 0; away <= limit; away++ {
		if near-away < 0 && near+away > last {
			return -1
		}
		if at := near + away; at <= last && b.isAt(t, at) {
			return at
		}
		if at := near - away; away > 0 && at >= 0 && at <= last && b.isAt(t, at) {
			return at
		}
	}
	return -1
}

func (b block) isAt(t *text, at int) bool {
	for i, line := range b.lines {
		if t.line(at+i) != line {
			return false
		}
	}
	return true
}

// place finds a file's hunks in the document that an editor has of it, or, where it has none, on disk as the daemon says.
// A hunk is where its lines are, whatever was decided: the text says what has become of it.
func (s *Server) place(w *workspace, d *sessions.Diff) (all []placed) {
	oldShift, newShift := 0, 0
	for i := range d.Hunks {
		h := &d.Hunks[i]
		file := d.Path
		if h.Isolated && d.OldPath != "" {
			file = d.OldPath // as which it is there
		}
		doc := s.docAt(w, file)
		p := placed{hunk: h, diff: d, index: i, uri: s.uriOf(w, file)}
		if h.Kind != "text" {
			s.placeFile(w, &p)
			all = append(all, p)
			continue
		}
		old, now := sides(h)
		oldAt, newAt := start(h.OldStart, h.OldLines), start(h.NewStart, h.NewLines)
		if doc == nil {
			p.side, p.from, p.to = newSide, newAt+now.before, newAt+len(now.lines)-now.tail
			if h.Elsewhere() {
				p.side, p.from, p.to = oldSide, oldAt+old.before, oldAt+len(old.lines)-old.tail
			}
			all = append(all, p)
			continue
		}
		p.text = doc.text
		order := []struct {
			side  side
			block block
			near  int
			shift *int
		}{{newSide, now, newAt, &newShift}, {oldSide, old, oldAt, &oldShift}}
		if h.Elsewhere() {
			order[0], order[1] = order[1], order[0]
		}
	search:
		for _, limit := range []int{0, searchLimit} {
			for _, o := range order {
				if at := o.block.find(doc.text, o.near+*o.shift, limit); at >= 0 {
					*o.shift = at - o.near
					p.side, p.from, p.to = o.side, at+o.block.before, at+len(o.block.lines)-o.block.tail
					break search
				}
			}
		}
		if p.side == neither {
			p.from = min(order[0].near+*order[0].shift+order[0].block.before, max(doc.text.count()-1, 0))
			p.to = p.from
		}
		all = append(all, p)
	}
	return all
}

// start returns the line, from 0, where a side of a hunk begins; an empty one is behind the line that is named.
func start(line, lines int) int {
	if lines == 0 {
		return line
	}
	return max(line-1, 0)
}

// placeFile places a hunk that is about a whole file: on its first line, where the editor can look at the file, and
// else in the file that lists all changes.
func (s *Server) placeFile(w *workspace, p *placed) {
	d := p.diff
	if doc := s.docAt(w, d.Path); doc != nil {
		p.text = doc.text
	}
	p.side = newSide
	if p.hunk.Isolated {
		p.side = oldSide
	}
	missing := d.Kind == sessions.DiffDeleted
	if p.hunk.Isolated {
		missing = d.Kind == sessions.DiffCreated
	}
	if missing && p.text == nil {
		p.uri, p.text = s.reviewURI(w), nil
	}
	if p.side == newSide && d.Kind == sessions.DiffCreated && p.text != nil {
		p.to = p.text.count()
	}
}

// isDone reports whether an editor's text has a hunk as if it were accepted: the agent's change, apart from the file, was
// made there.
func (p *placed) isDone() bool {
	return p.hunk.Elsewhere() && p.hunk.Kind == "text" && p.side == newSide
}

// lineRange returns what a hunk is shown on: its lines, or where there are none, the line behind which they would be.
func (p *placed) lineRange(e encoding) Range {
	from, to := p.from, p.to
	if p.text == nil {
		return Range{Start: Position{Line: from}, End: Position{Line: max(from, to-1)}}
	}
	from = min(from, max(p.text.count()-1, 0))
	if to <= from {
		to = from + 1
	}
	return p.text.lineRange(from, min(to, max(p.text.count(), 1)), e)
}

// counts counts a hunk's lines.
func counts(h *sessions.Hunk) (added, removed int) {
	for _, line := range h.Lines {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// summary says what a hunk is about in a few words.
func summary(d *sessions.Diff, h *sessions.Hunk) string {
	added, removed := counts(h)
	if h.Kind == "text" {
		return fmt.Sprintf("+%d −%d", added, removed)
	}
	switch d.Kind {
	case sessions.DiffCreated:
		return fmt.Sprintf("%s: new file, +%d", path.Base(d.Path), added)
	case sessions.DiffDeleted:
		return fmt.Sprintf("%s: deleted, −%d", path.Base(d.Path), removed)
	case sessions.DiffRenamed:
		return fmt.Sprintf("renamed: %s → %s", d.OldPath, d.Path)
	case sessions.DiffMode:
		return fmt.Sprintf("%s: mode %s → %s", path.Base(d.Path), d.OldMode, d.NewMode)
	case sessions.DiffSymlink:
		return fmt.Sprintf("%s: link %s → %s", path.Base(d.Path), d.OldTarget, d.NewTarget)
	case sessions.DiffBinary:
		return path.Base(d.Path) + ": binary"
	case sessions.DiffLarge:
		return path.Base(d.Path) + ": too large to be shown"
	}
	if d.OldPath != "" {
		return fmt.Sprintf("renamed: %s → %s", d.OldPath, d.Path)
	}
	return path.Base(d.Path) + ": " + string(d.Kind)
}
