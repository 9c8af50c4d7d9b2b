package lsp

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"cursord/daemon/api"
	"cursord/rpc"
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

// place returns where a file's hunks are in the document that an editor has of it, as the daemon has said; where it has none, on disk.
func (s *Server) place(w *workspace, d *sessions.Diff) (all []placed) {
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
		p.side, p.from, p.to = newSide, start(h.NewStart, h.NewLines)+now.before, start(h.NewStart, h.NewLines)+len(now.lines)-now.tail
		if h.Elsewhere() {
			p.side, p.from, p.to = oldSide, start(h.OldStart, h.OldLines)+old.before, start(h.OldStart, h.OldLines)+len(old.lines)-old.tail
		}
		if doc != nil {
			p.text = doc.text
			if at, said := doc.places[d.Path][h.ID]; said {
				p.side, p.from, p.to = at.side, at.from, at.to
			}
			p.from = min(p.from, doc.text.count())
			p.to = max(p.from, min(p.to, doc.text.count()))
		}
		all = append(all, p)
	}
	return all
}

// A mark is where a document has a hunk. It moves with what is typed, until the daemon says it anew.
type mark struct {
	side     side
	from, to int
}

// A typed is what was typed in one step: other lines in the place of some, since the daemon was told a version.
type typed struct {
	version  int // that has it
	from, to int
	lines    int
}

// moved returns a mark behind what was typed. Lines that were changed in it belong to it.
func (m mark) moved(t typed) mark {
	grown := t.lines - (t.to - t.from)
	switch {
	case t.from < m.to && m.from < t.to:
		m.from, m.to = min(m.from, t.from), max(m.to, t.to)+grown
	case t.to <= m.from:
		m.from, m.to = m.from+grown, m.to+grown
	}
	return m
}

// typedLines says what becomes of a text's lines when a part of it is replaced.
func (t *text) typedLines(r Range, e encoding, now string) (at typed) {
	from := t.offset(r.Start, e)
	to := max(from, t.offset(r.End, e))
	at.from, at.lines = t.lineOf(from), strings.Count(now, "\n")
	at.to = t.lineOf(to)
	if t.lineStart(at.from) == from && t.lineStart(at.to) == to && (now == "" || strings.HasSuffix(now, "\n")) {
		return at
	}
	at.to, at.lines = at.to+1, at.lines+1
	return at
}

// lineOf returns git's line that a byte is in.
func (t *text) lineOf(offset int) int { return sort.SearchInts(t.lines, offset+1) - 1 }

// replacedLines says what becomes of a text's lines when it becomes another.
func (t *text) replacedLines(now *text) typed {
	head, most := 0, min(t.count(), now.count())
	for head < most && t.line(head) == now.line(head) {
		head++
	}
	tail := 0
	for tail < most-head && t.line(t.count()-1-tail) == now.line(now.count()-1-tail) {
		tail++
	}
	return typed{from: head, to: t.count() - tail, lines: now.count() - tail - head}
}

// typed takes in what was typed in a document, which has the version that came of it.
func (d *document) typed(t typed) {
	t.version = d.version
	d.since = append(d.since, t)
	for _, of := range d.places {
		for id, m := range of {
			of[id] = m.moved(t)
		}
	}
}

// askPlaces asks the daemon where documents have the hunks of a file, and shows that.
func (s *Server) askPlaces(w *workspace, d *sessions.Diff) {
	doc := s.docAt(w, d.Path)
	if doc == nil && d.OldPath != "" {
		doc = s.docAt(w, d.OldPath)
	}
	if doc == nil || s.daemon == nil {
		return
	}
	if doc.placing {
		doc.placeAgain = true
		return
	}
	doc.placing, doc.placeAgain = true, false
	call(s, "diff/place", rpc.MergeParams{Workspace: w.path, Path: d.Path}, func(said rpc.PlaceResult, err error) {
		doc.placing = false
		if err == nil && !w.closed {
			s.placesSaid(w, d.Path, said.Documents)
		}
		if now := w.diffs[d.Path]; now != nil && doc.placeAgain && s.docs[doc.uri] == doc {
			s.askPlaces(w, now)
		}
	})
}

// placesSaid takes in where documents have the hunks of a file.
func (s *Server) placesSaid(w *workspace, path string, documents []api.PlacedDocument) {
	for _, one := range documents {
		doc := s.docAt(w, one.Path)
		if doc == nil || one.Version > doc.version {
			continue
		}
		doc.since = slices.DeleteFunc(doc.since, func(t typed) bool { return t.version <= one.Version })
		of := map[string]mark{}
		for _, h := range one.Hunks {
			m := mark{neither, h.From, h.To}
			switch h.Side {
			case api.OldSide:
				m.side = oldSide
			case api.NewSide:
				m.side = newSide
			}
			for _, t := range doc.since {
				m = m.moved(t)
			}
			of[h.ID] = m
		}
		if doc.places == nil {
			doc.places = map[string]map[string]mark{}
		}
		changed := !maps.Equal(doc.places[path], of)
		doc.places[path] = of
		if d := w.diffs[path]; d != nil && changed {
			s.publishDiff(w, d)
			s.refresh()
		}
	}
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
