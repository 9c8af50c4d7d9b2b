package lsp

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

const (
	listPause    = 50 * time.Millisecond  // in which what is typed is gathered before hunks are listed anew
	refreshPause = 100 * time.Millisecond // in which changes are gathered before an editor is asked to ask again
)

// shownAt returns the URIs at which a diff is shown: mostly one.
func (s *Server) shownAt(w *workspace, d *sessions.Diff) (uris []string) {
	uris = []string{s.uriOf(w, d.Path)}
	for _, p := range s.place(w, d) {
		if !slices.Contains(uris, p.URI) {
			uris = append(uris, p.URI)
		}
	}
	return uris
}

// placedAt returns the hunks that are shown at a URI. In the list they are all.
func (s *Server) placedAt(w *workspace, uri string) (all []hunks.Placed) {
	if uri == s.reviewURI(w) {
		return s.placedInReview(w)
	}
	at, file := s.locate(uri)
	if at != w {
		return nil
	}
	for _, d := range w.diffsOf(file) {
		for _, p := range s.place(w, d) {
			if p.URI == uri {
				all = append(all, p)
			}
		}
	}
	return all
}

// diagnosticOf returns a hunk as it is listed: what it changes, which of the file's it is, and how many lines it has.
func (s *Server) diagnosticOf(w *workspace, p *hunks.Placed) protocol.Diagnostic {
	message := fmt.Sprintf("%d/%d %s%s", p.Index+1, len(p.Diff.Hunks), hunks.Summary(p.Diff, p.Hunk), hunks.Author(p.Hunk))
	if change := hunks.Quote(p.Hunk); change != "" {
		message = change + " · " + message // editors cut the end off
	}
	severity := protocol.SeverityInformation
	if p.Hunk.InConflict() {
		message += " · you have changed these lines too"
	}
	if p.Hunk.MaybeYours() || p.Hunk.InConflict() {
		severity = protocol.SeverityWarning
	}
	d := protocol.Diagnostic{Range: p.LineRange(s.client.Encoding), Severity: severity, Source: protocol.Source, Message: message}
	if !s.client.IsHelix() { // its list has a column for that, and then no room for the message
		d.Code = encoded(p.Hunk.ID)
	}
	return d
}

// promptOf returns the prompt for which a hunk was made, as far as its turn was heard of; "" if not.
func promptOf(w *workspace, h *sessions.Hunk) string {
	for _, from := range h.Sources {
		if prompt := w.prompts[from.TurnID]; prompt != "" {
			return plaintext.FirstLine(prompt, 60)
		}
	}
	return ""
}

// diagnosticsAt returns what is listed at a URI.
func (s *Server) diagnosticsAt(w *workspace, uri string) []protocol.Diagnostic {
	list := []protocol.Diagnostic{}
	all := s.placedAt(w, uri)
	if uri == s.reviewURI(w) {
		all = alone(all) // the others are listed in their files
	}
	for _, p := range all {
		list = append(list, s.diagnosticOf(w, &p))
	}
	slices.SortStableFunc(list, func(a, b protocol.Diagnostic) int { return a.Range.Start.Line - b.Range.Start.Line })
	return list
}

// publishDiff tells the editor what is to review in a file, wherever that is shown, or was: an editor may name a file in
// another way once it has opened it.
func (s *Server) publishDiff(w *workspace, d *sessions.Diff) {
	uris, review := s.shownAt(w, d), s.reviewURI(w)
	for _, uri := range w.shownFor[d.Path] {
		if !slices.Contains(uris, uri) {
			uris = append(uris, uri)
		}
	}
	for _, uri := range uris {
		if uri != review {
			s.publish(w, uri, d.Path)
		}
	}
	if _, shown := w.diagnosed[review]; shown || s.docs[review] != nil || s.inList(w, d) {
		s.reviewSoon(w)
	}
}

// publish tells the editor what is to review at a URI, because of a file.
func (s *Server) publish(w *workspace, uri, file string) {
	if s.client.Pulls {
		return
	}
	list := s.diagnosticsAt(w, uri)
	if _, has := w.diagnosed[uri]; !has && len(list) == 0 {
		return
	}
	w.noteShown(uri, file, len(list) > 0)
	p := protocol.PublishParams{URI: uri, Diagnostics: list}
	if d := s.docs[uri]; d != nil && s.client.Versions {
		p.Version = &d.version
	}
	s.tell("diagnostics "+uri, "textDocument/publishDiagnostics", p)
}

// republish tells the editor anew of a document that has changed.
func (s *Server) republish(d *document) {
	if d.workspace == nil {
		return
	}
	for _, diff := range d.workspace.diffsOf(d.path) {
		s.publishDiff(d.workspace, diff)
		s.refresh()
		s.tellStatus(d.workspace)
	}
}

// republishSoon is republish for what changes with each key.
func (s *Server) republishSoon(d *document) {
	if d.listing {
		return
	}
	d.listing = true
	s.after(listPause, func() {
		d.listing = false
		if s.docs[d.uri] == d {
			s.republish(d)
		}
	})
}

// publishAll tells the editor anew of all in a folder.
func (s *Server) publishAll(w *workspace) {
	for _, d := range w.diffs {
		s.publishDiff(w, d)
	}
	for uri, file := range maps.Clone(w.diagnosed) {
		if w.diffs[file] == nil {
			s.publish(w, uri, file)
		}
	}
	s.reviewSoon(w)
	s.refresh()
	s.tellStatus(w)
}

// refresh has the editor ask again for what it asks for.
func (s *Server) refresh() {
	if s.refreshing {
		return
	}
	s.refreshing = true
	s.after(refreshPause, func() {
		s.refreshing = false
		for method, wanted := range map[string]bool{
			"workspace/codeLens/refresh":   s.client.Lenses && s.client.RefreshesLenses,
			"workspace/inlayHint/refresh":  s.client.Hints && s.client.RefreshesHints,
			"workspace/diagnostic/refresh": s.client.Pulls && s.client.RefreshesPulled,
		} {
			if wanted {
				s.ask(method, nil, nil)
			}
		}
	})
}

func (s *Server) pullDocument(p *protocol.DocumentParams) (protocol.DocumentReport, error) {
	w, _ := s.locate(p.TextDocument.URI)
	if w == nil {
		w = s.stateFolder(p.TextDocument.URI)
	}
	report := protocol.DocumentReport{Kind: "full", Items: []protocol.Diagnostic{}}
	if w != nil {
		report.Items = s.diagnosticsAt(w, p.TextDocument.URI)
	}
	return report, nil
}

func (s *Server) pullWorkspace(*struct{}) (protocol.WorkspaceReport, error) {
	report := protocol.WorkspaceReport{Items: []protocol.WorkspaceDocumentReport{}}
	for _, w := range s.folders {
		uris := map[string]bool{}
		for _, d := range w.diffs {
			for _, uri := range s.shownAt(w, d) {
				uris[uri] = true
			}
		}
		if uris[s.reviewURI(w)] {
			s.syncReview(w) // as it is told of
		}
		for _, uri := range slices.Sorted(maps.Keys(uris)) {
			one := protocol.WorkspaceDocumentReport{Kind: "full", URI: uri, Items: s.diagnosticsAt(w, uri)}
			if d := s.docs[uri]; d != nil {
				one.Version = &d.version
			}
			report.Items = append(report.Items, one)
		}
	}
	return report, nil
}
