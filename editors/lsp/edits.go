package lsp

import (
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// edits gathers changes of open documents.
type edits struct {
	s      *Server
	byURI  map[string][]textEdit
	uris   []string
	before []resourceOperation // deletions and renamings
}

func (s *Server) newEdits() *edits { return &edits{s: s, byURI: map[string][]textEdit{}} }

func (e *edits) add(uri string, edit textEdit) {
	if e.byURI[uri] == nil {
		e.uris = append(e.uris, uri)
	}
	e.byURI[uri] = append(e.byURI[uri], edit)
}

// workspaceEdit returns them as the editor can take them; nil for none.
func (e *edits) workspaceEdit() *workspaceEdit {
	if len(e.uris) == 0 && len(e.before) == 0 {
		return nil
	}
	if !e.s.client.documentChanges {
		return &workspaceEdit{Changes: e.byURI}
	}
	w := &workspaceEdit{}
	for _, uri := range e.uris {
		id := documentID{URI: uri}
		if d := e.s.docs[uri]; d != nil {
			version := d.version
			id.Version = &version
		}
		w.DocumentChanges = append(w.DocumentChanges, documentEdit{TextDocument: id, Edits: e.byURI[uri]})
	}
	for _, o := range e.before {
		w.DocumentChanges = append(w.DocumentChanges, o)
	}
	return w
}

// acceptEdit returns the edit that accepts hunks in documents that the editor has open, and the hunks for which there is
// none: they are the daemon's to accept. Only what an agent made apart from the files is an edit; of hunks that are one
// decision all are, or none.
func (s *Server) acceptEdit(w *workspace, ids []string) (edit *workspaceEdit, rest []string) {
	all := s.newEdits()
	done := map[string]bool{}
	for _, id := range ids {
		if done[id] {
			continue
		}
		group := s.linked(w, id)
		var changes []func()
		for _, p := range group {
			done[p.hunk.ID] = true
			if change := s.acceptInDocument(w, all, &p); change != nil {
				changes = append(changes, change)
			}
		}
		if len(changes) < len(group) || len(group) == 0 {
			rest = append(rest, id)
			continue
		}
		for _, change := range changes {
			change()
		}
	}
	return all.workspaceEdit(), rest
}

// linked returns a hunk with those that are one decision with it.
func (s *Server) linked(w *workspace, id string) (group []placed) {
	for _, d := range w.diffs {
		for _, h := range d.Hunks {
			if h.ID != id && !slices.Contains(h.Linked, id) {
				continue
			}
			for _, p := range s.place(w, d) {
				if p.hunk.ID == h.ID {
					group = append(group, p)
				}
			}
		}
	}
	return group
}

// acceptInDocument returns what adds the acceptance of a hunk to all; nil if it is none of an open document.
func (s *Server) acceptInDocument(w *workspace, all *edits, p *placed) func() {
	if !p.hunk.Isolated || p.hunk.InConflict() {
		return nil
	}
	if p.hunk.Kind != "text" {
		return s.acceptFile(w, all, p)
	}
	if p.text == nil || p.side == neither {
		return nil
	}
	if p.side == newSide {
		return func() {} // it is there already
	}
	_, now := sides(p.hunk)
	s.offer(w, p)
	change := p.text.replace(p.from, p.to, now.changed(), now.tail == 0 && p.hunk.NewNoEOL, s.client.encoding)
	return func() { all.add(p.uri, change) }
}

// replace returns the edit that puts lines in place of git's lines from and to; the last one has no end if open is set.
func (t *text) replace(from, to int, lines []string, open bool, e encoding) textEdit {
	start := t.lineStart(from)
	if start == 0 && strings.HasPrefix(t.s, byteOrderMark) {
		start = len(byteOrderMark)
	}
	end := "\n"
	if n := strings.Count(t.s, "\n"); n > 0 && strings.Count(t.s, "\r\n") == n {
		end = "\r\n"
	}
	var b strings.Builder
	if from > 0 && t.s[start-1] != '\n' {
		b.WriteString(end) // behind a last line without an end
	}
	for i, line := range lines {
		b.WriteString(line)
		if i < len(lines)-1 || !open {
			b.WriteString(end)
		}
	}
	return textEdit{Range: t.span(start, t.lineStart(to), e), NewText: b.String()}
}

// acceptFile is acceptInDocument for a hunk about a whole file: an editor that can do that deletes or renames the file
// itself if it has it open, so that it knows.
func (s *Server) acceptFile(w *workspace, all *edits, p *placed) func() {
	d := p.diff
	can := func(kind string) bool {
		return s.client.documentChanges && slices.Contains(s.client.resources, kind)
	}
	switch {
	case d.Kind == sessions.DiffDeleted && s.docAt(w, d.Path) != nil && can("delete"):
		return func() { all.before = append(all.before, resourceOperation{Kind: "delete", URI: p.uri}) }
	case d.OldPath != "" && s.docAt(w, d.OldPath) != nil && can("rename"):
		now := s.uriOf(w, d.Path)
		return func() {
			all.before = append(all.before, resourceOperation{Kind: "rename", OldURI: s.uriOf(w, d.OldPath), NewURI: now})
		}
	case d.Kind == sessions.DiffCreated && p.text != nil && p.text.s == "":
		var b strings.Builder
		for i, line := range p.hunk.Lines {
			b.WriteString(line[1:])
			if i < len(p.hunk.Lines)-1 || !p.hunk.NewNoEOL {
				b.WriteByte('\n')
			}
		}
		return func() { all.add(p.uri, textEdit{NewText: b.String()}) }
	}
	return nil
}

// apply has the editor make an edit, and calls then with why it did not, "" if it did.
func (s *Server) apply(label string, edit *workspaceEdit, then func(failure string)) {
	if !s.client.applyEdit {
		then("the editor takes no edits")
		return
	}
	s.ask("workspace/applyEdit", applyEditParams{Label: label, Edit: edit}, func(m rpc.Message) {
		var result applyEditResult
		switch e := failedAnswer(m); {
		case e != nil:
			then(e.Message)
		case decode(m.Result, &result) && result.Applied:
			then("")
		case result.FailureReason != "":
			then(result.FailureReason)
		default:
			then("the document has changed")
		}
	})
}

// applyEdits has the editor make what the daemon's answer to a decision says of unsaved documents. Where it does not, the
// daemon, which takes them for made, is sent what the documents still hold.
func (s *Server) applyEdits(w *workspace, list []api.DocumentEdits, then func(failure string)) {
	all := s.newEdits()
	failed := func(failure string) {
		for _, one := range list {
			if d := s.docAt(w, one.Path); d != nil {
				s.tellDaemon(d)
			}
		}
		then(failure)
	}
	for _, one := range list {
		d := s.docAt(w, one.Path)
		if d == nil || d.version != one.Version {
			failed(one.Path + " has changed meanwhile: decide again")
			return
		}
		for _, e := range one.Edits {
			from, to := d.text.offset(e.Range.Start, utf16Encoding), d.text.offset(e.Range.End, utf16Encoding)
			all.add(d.uri, textEdit{Range: d.text.span(from, to, s.client.encoding), NewText: e.NewText})
		}
	}
	edit := all.workspaceEdit()
	if edit == nil {
		then("")
		return
	}
	s.apply("cursord", edit, func(failure string) {
		if failure != "" {
			failed(failure)
			return
		}
		then("")
	})
}
