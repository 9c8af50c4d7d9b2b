package lsp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/daemon/paths"
	"cursord/sessions"
)

const (
	// reviewPause is how long changes are gathered before the file that lists all hunks is written anew. One that takes long
	// is written less often.
	reviewPause = 50 * time.Millisecond
	// reviewTries bounds how often an editor is asked to bring the file, open and just changed, up to date.
	reviewTries = 3
)

// reviewURI returns where all that is to review in a folder can be read.
func (s *Server) reviewURI(w *workspace) string {
	return paths.URI(filepath.Join(s.stateFolderOf(w), reviewFile))
}

// The lines above a hunk in the list: of a file, of a hunk about a whole file, and of lines. The latter two end in the hunk's id,
// by which the list says what is in it even when the editor shows an older one.
const (
	fileHead  = "diff --cursord "
	wholeHead = "# "
	linesHead = "@@ "
)

// reviewText returns all that is to review in a folder as a patch.
func (s *Server) reviewText(w *workspace) string {
	var b strings.Builder
	for _, path := range w.paths() {
		d := w.diffs[path]
		old := d.OldPath
		if old == "" {
			old = d.Path
		}
		begun := false
		for _, p := range s.place(w, d) {
			if !begun {
				begun = true
				fmt.Fprintf(&b, "%sa/%s b/%s\n", fileHead, old, d.Path)
			}
			h := p.hunk
			if h.Kind != "text" {
				fmt.Fprintf(&b, "%s%d/%d %s · %s\n", wholeHead, p.index+1, len(d.Hunks), summary(d, h), h.ID)
			}
			if len(h.Lines) == 0 {
				continue
			}
			fmt.Fprintf(&b, "%s-%d,%d +%d,%d @@ %s\n", linesHead, h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.ID)
			for _, line := range h.Lines {
				b.WriteString(line)
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// A listed hunk is one in the text of the list: its lines from and to, which is behind the last. The first one of a file begins
// with the line that names the file.
type listed struct {
	id       string
	from, to int
}

// listedIn finds the hunks in the list's text.
func listedIn(text string) (all []listed) {
	head, n := -1, 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		id := ""
		switch {
		case strings.HasPrefix(line, fileHead):
			head = n
		case strings.HasPrefix(line, wholeHead), strings.HasPrefix(line, linesHead):
			id = line[strings.LastIndexByte(line, ' ')+1:]
		}
		last := len(all) - 1
		switch {
		case id != "" && last >= 0 && all[last].id == id && head < 0: // the lines of a whole file
			all[last].to = n + 1
		case id != "":
			from := n
			if head >= 0 {
				from = head
			}
			all, head = append(all, listed{id: id, from: from, to: n + 1}), -1
		case head < 0 && last >= 0:
			all[last].to = n + 1
		}
		n++
	}
	return all
}

// placedInReview returns the hunks where the list has them: as the editor shows it or, where it does not, as it is about to be on
// disk.
func (s *Server) placedInReview(w *workspace) (all []placed) {
	uri, text := s.reviewURI(w), ""
	d := s.docs[uri]
	if d != nil {
		text = d.text.s
	} else {
		text = s.reviewText(w)
	}
	where := map[string]listed{}
	for _, one := range listedIn(text) {
		where[one.id] = one
	}
	for _, path := range w.paths() {
		for _, p := range s.place(w, w.diffs[path]) {
			at, ok := where[p.hunk.ID]
			if !ok {
				continue
			}
			p.alone, p.uri = p.uri == uri, uri
			p.from, p.to, p.text = at.from, at.to, nil
			all = append(all, p)
		}
	}
	return all
}

// alone returns those of placed hunks that are shown nowhere but in the list: they have no file that an editor could open.
func alone(all []placed) []placed {
	return slices.DeleteFunc(all, func(p placed) bool { return !p.alone })
}

// everyPlace returns where an editor shows each hunk: in its file or, where there is none, in the list.
func (s *Server) everyPlace(w *workspace) (all []placed) {
	uri, listed := s.reviewURI(w), false
	for _, path := range w.paths() {
		for _, p := range s.place(w, w.diffs[path]) {
			if p.uri == uri {
				listed = true
			} else {
				all = append(all, p)
			}
		}
	}
	if listed {
		all = append(all, alone(s.placedInReview(w))...)
	}
	return all
}

// reviewSoon has the list brought up to date, wherever it is shown: at once, or in a moment if that was just done.
func (s *Server) reviewSoon(w *workspace) {
	if w.reviewing {
		return
	}
	pause := time.Until(w.reviewed.Add(max(reviewPause, 10*w.reviewTook)))
	if pause <= 0 {
		s.syncReview(w)
		return
	}
	w.reviewing = true
	s.after(pause, func() {
		if w.reviewing = false; !w.closed {
			s.syncReview(w)
		}
	})
}

// syncReview brings the list up to date, if anybody looks at it: the document, if the editor has it open, by an edit, else the file;
// and what is listed of it.
func (s *Server) syncReview(w *workspace) {
	uri := s.reviewURI(w)
	_, shown := w.diagnosed[uri]
	d := s.docs[uri]
	if d == nil && !shown && !slices.ContainsFunc(w.paths(), func(path string) bool { return s.inList(w, w.diffs[path]) }) {
		return
	}
	begun := time.Now()
	text := s.reviewText(w)
	if d != nil && s.client.applyEdit && !s.client.rereads() {
		s.editReview(w, text, reviewTries)
	} else if err := s.putState(w, reviewFile, text); err != nil {
		s.opts.Log.Warn("the list of changes cannot be written", "err", err)
	}
	s.publish(w, uri, "")
	w.reviewed = time.Now()
	w.reviewTook = w.reviewed.Sub(begun)
}

// inList reports whether a hunk of a file is shown in the list alone.
func (s *Server) inList(w *workspace, d *sessions.Diff) bool {
	uri := s.reviewURI(w)
	return d.Kind != sessions.DiffModified && slices.ContainsFunc(s.place(w, d), func(p placed) bool { return p.uri == uri })
}

// editReview has the editor make the list, which it has open, another one.
func (s *Server) editReview(w *workspace, text string, tries int) {
	d := s.docs[s.reviewURI(w)]
	if d == nil || d.text.s == text || tries == 0 {
		return
	}
	e := s.newEdits()
	e.add(d.uri, d.text.toward(text, s.client.encoding))
	s.apply(reviewFile, e.workspaceEdit(), func(failure string) {
		if failure != "" {
			s.after(reviewPause, func() { s.editReview(w, s.reviewText(w), tries-1) })
		}
	})
}

func (s *Server) diffCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	text := s.reviewText(w)
	if text == "" {
		s.show(levelInfo, "cursord: nothing to review")
		return nil, nil
	}
	line := 0
	if d := s.docs[s.touched.uri]; d != nil && d.workspace == w && w.diffs[d.path] != nil && len(w.diffs[d.path].Hunks) > 0 {
		for _, one := range listedIn(text) {
			if one.id == w.diffs[d.path].Hunks[0].ID {
				line = one.from
			}
		}
	}
	return nil, s.write(w, reviewFile, text, &Range{Start: Position{Line: line}, End: Position{Line: line}})
}
