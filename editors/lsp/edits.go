package lsp

import (
	"cursord/daemon/api"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// edits gathers changes of open documents for one workspace edit.
type edits struct {
	s      *Server
	byURI  map[string][]protocol.TextEdit
	uris   []string
	before []protocol.ResourceOperation // deletions and renames
}

func (s *Server) newEdits() *edits { return &edits{s: s, byURI: map[string][]protocol.TextEdit{}} }

func (e *edits) add(uri string, edit protocol.TextEdit) {
	if e.byURI[uri] == nil {
		e.uris = append(e.uris, uri)
	}
	e.byURI[uri] = append(e.byURI[uri], edit)
}

// workspaceEdit returns them in the form that the editor takes; nil if there are none.
func (e *edits) workspaceEdit() *protocol.WorkspaceEdit {
	if len(e.uris) == 0 && len(e.before) == 0 {
		return nil
	}
	if !e.s.client.DocumentChanges {
		return &protocol.WorkspaceEdit{Changes: e.byURI}
	}
	w := &protocol.WorkspaceEdit{}
	for _, uri := range e.uris {
		id := protocol.DocumentID{URI: uri}
		if d := e.s.docs[uri]; d != nil {
			version := d.version
			id.Version = &version
		}
		w.DocumentChanges = append(w.DocumentChanges, protocol.DocumentEdit{TextDocument: id, Edits: e.byURI[uri]})
	}
	for _, o := range e.before {
		w.DocumentChanges = append(w.DocumentChanges, o)
	}
	return w
}

// apply asks the editor to make an edit. It calls then with the reason if the editor did not make it, else with "".
func (s *Server) apply(label string, edit *protocol.WorkspaceEdit, then func(failure string)) {
	if !s.client.ApplyEdit {
		then("the editor takes no edits")
		return
	}
	s.applying++
	s.ask("workspace/applyEdit", protocol.ApplyEditParams{Label: label, Edit: edit}, func(m rpc.Message) {
		s.applying--
		var result protocol.ApplyEditResult
		switch e := protocol.Failed(m); {
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

// applyEdits makes the edits with which the daemon answers a decision. The daemon counts them as made; if the editor does
// not make them, it is sent the texts that the editor has.
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
			from, to := d.text.Offset(e.Range.Start, protocol.UTF16), d.text.Offset(e.Range.End, protocol.UTF16)
			all.add(d.uri, protocol.TextEdit{Range: d.text.Span(from, to, s.client.Encoding), NewText: e.NewText})
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
		s.whenChanged(w, list, func() {
			// The daemon gets the changed texts at once: if it got only the text of an undo that follows quickly, it would take the
			// edits for not made.
			for _, one := range list {
				if d := s.docAt(w, one.Path); d != nil {
					s.flush(d)
				}
			}
			then("")
		})
	})
}

// whenChanged calls then once the editor has reported the changes that edits made. A decision before that would be about
// older texts. Most editors report them before they answer.
func (s *Server) whenChanged(w *workspace, list []api.DocumentEdits, then func()) {
	for i, one := range list {
		if d := s.docAt(w, one.Path); d != nil && d.version == one.Version {
			d.arrives = func() { s.whenChanged(w, list[i+1:], then) }
			return
		}
	}
	then()
}
