package lsp

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/daemon/paths"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

const (
	// reviewPause is how long changes are gathered before the list of all hunks is written again. A list that takes long to
	// write is written less often.
	reviewPause = 50 * time.Millisecond
	// reviewTries bounds how often an editor is asked to change the open list, if it refuses because the document has just
	// changed.
	reviewTries = 3
)

// reviewURI returns the URI of a folder's list of all hunks.
func (s *Server) reviewURI(w *workspace) string {
	return paths.URI(filepath.Join(s.stateFolderOf(w), reviewFile))
}

// reviewText returns all pending hunks of a folder as a patch.
func (s *Server) reviewText(w *workspace) string {
	var b strings.Builder
	for _, path := range w.paths() {
		hunks.WritePatch(&b, w.diffs[path])
	}
	return b.String()
}

// placedInReview returns the hunks with their places in the list of all hunks, as the editor has it open or else as it will
// be written.
func (s *Server) placedInReview(w *workspace) (all []hunks.Placed) {
	uri, text := s.reviewURI(w), ""
	d := s.docs[uri]
	if d != nil {
		text = d.text.Content
	} else {
		text = s.reviewText(w)
	}
	where := map[string]hunks.Listed{}
	for _, one := range hunks.ListedIn(text) {
		where[one.ID] = one
	}
	for _, path := range w.paths() {
		for _, p := range s.place(w, w.diffs[path]) {
			at, ok := where[p.Hunk.ID]
			if !ok {
				continue
			}
			p.Alone, p.URI = p.URI == uri, uri
			p.From, p.To, p.Text = at.From, at.To, nil
			all = append(all, p)
		}
	}
	return all
}

// everyPlace returns the place at which an editor shows each hunk: in its file, or in the list if the file cannot be opened.
func (s *Server) everyPlace(w *workspace) (all []hunks.Placed) {
	uri, listed := s.reviewURI(w), false
	for _, path := range w.paths() {
		for _, p := range s.place(w, w.diffs[path]) {
			if p.URI == uri {
				listed = true
			} else {
				all = append(all, p)
			}
		}
	}
	if listed {
		all = append(all, hunks.OnlyListed(s.placedInReview(w))...)
	}
	return all
}

// reviewSoon updates the list of all hunks: at once, or in a moment if it has just been updated.
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

// syncReview updates the list of all hunks if it is shown or is to be shown: the document if the editor has it open, else
// the file. It also publishes the list's diagnostics.
func (s *Server) syncReview(w *workspace) {
	uri := s.reviewURI(w)
	_, shown := w.diagnosed[uri]
	d := s.docs[uri]
	if d == nil && !shown && !slices.ContainsFunc(w.paths(), func(path string) bool { return s.inList(w, w.diffs[path]) }) {
		return
	}
	begun := time.Now()
	text := s.reviewText(w)
	if d != nil && s.client.ApplyEdit && !s.client.ReloadsByItself() {
		s.editReview(w, text, reviewTries)
	} else if err := s.putState(w, reviewFile, text); err != nil {
		s.opts.Log.Warn("the list of changes cannot be written", "err", err)
	}
	s.publish(w, uri, "")
	w.reviewed = time.Now()
	w.reviewTook = w.reviewed.Sub(begun)
}

// listChanged writes the open list anew if the editor's undo has brought back hunks that are decided: the decisions stand. was
// is the text before.
func (s *Server) listChanged(d *document, was string) {
	w := s.stateFolder(d.uri)
	if w == nil || d.uri != s.reviewURI(w) || hunks.ListsDecided(w.diffs, was) || !hunks.ListsDecided(w.diffs, d.text.Content) {
		return
	}
	s.show(levelInfo, "cursord: here only %s takes a decision back", s.client.Key("undo"))
	s.editReview(w, s.reviewText(w), reviewTries)
}

// inList reports whether only the list shows a hunk of a file.
func (s *Server) inList(w *workspace, d *sessions.Diff) bool {
	uri := s.reviewURI(w)
	return d.Kind != sessions.DiffModified && slices.ContainsFunc(s.place(w, d), func(p hunks.Placed) bool { return p.URI == uri })
}

// editReview changes the list that the editor has open by an edit.
func (s *Server) editReview(w *workspace, text string, tries int) {
	d := s.docs[s.reviewURI(w)]
	if d == nil || d.text.Content == text || tries == 0 || d.merging {
		return
	}
	e, version := s.newEdits(), d.version
	e.add(d.uri, d.text.EditTo(text, s.client.Encoding))
	d.merging = true // until its change is reported: another edit would be for an older text, and an editor would say so over a message
	again := func() {
		d.merging = false
		s.editReview(w, s.reviewText(w), tries-1)
	}
	s.apply(reviewFile, e.workspaceEdit(), func(failure string) {
		switch {
		case failure != "":
			s.after(reviewPause, again)
		case d.version == version:
			d.arrives = again
		default:
			again()
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
	w.visited = location{} // from now on next and prev stay in the list
	if d := s.docs[s.touched.uri]; d != nil && d.workspace == w && w.diffs[d.path] != nil && len(w.diffs[d.path].Hunks) > 0 {
		for _, one := range hunks.ListedIn(text) {
			if one.ID == w.diffs[d.path].Hunks[0].ID {
				line = one.From
			}
		}
	}
	return nil, s.write(w, reviewFile, text, &protocol.Range{Start: protocol.Position{Line: line}, End: protocol.Position{Line: line}})
}
