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
	listPause    = 50 * time.Millisecond  // the user's typing is gathered so long before hunks are listed anew
	refreshPause = 100 * time.Millisecond // changes are gathered so long before the editor is asked to refresh
)

// shownAt returns the URIs at which the hunks of a diff are shown: mostly one.
func (s *Server) shownAt(w *workspace, d *sessions.Diff) (uris []string) {
	uris = []string{s.uriOf(w, d.Path)}
	for _, p := range s.place(w, d) {
		if !slices.Contains(uris, p.URI) {
			uris = append(uris, p.URI)
		}
	}
	return uris
}

// placedAt returns the hunks that are shown at a URI. The list of all hunks shows every one.
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

// diagnosticOf returns a hunk's diagnostic: the first line that it changes, its number in the file, and how many lines it
// has.
func (s *Server) diagnosticOf(w *workspace, p *hunks.Placed) protocol.Diagnostic {
	message := fmt.Sprintf("%d/%d %s%s", p.Index+1, len(p.Diff.Hunks), hunks.Summary(p.Diff, p.Hunk), hunks.Author(p.Hunk))
	if change := hunks.Quote(p.Hunk, p.Text != nil && p.Side == hunks.NewSide && !p.Hunk.InConflict()); change != "" {
		message = change + " · " + message // editors cut the end off
	}
	severity := protocol.SeverityInformation
	if p.Hunk.BothChanged() {
		message += " · you have changed these lines too"
	}
	if p.Hunk.MaybeYours() || p.Hunk.BothChanged() {
		severity = protocol.SeverityWarning
	}
	d := protocol.Diagnostic{Range: p.LineRange(s.client.Encoding), Severity: severity, Source: protocol.Source, Message: message}
	if !s.client.IsHelix() { // a code would leave no room for the message in its list
		d.Code = protocol.Encoded(p.Hunk.ID)
	}
	return d
}

// promptOf returns the prompt for which a hunk was made; "" if it is not known.
func promptOf(w *workspace, h *sessions.Hunk) string {
	for _, from := range h.Sources {
		if prompt := w.prompts[from.TurnID]; prompt != "" {
			return plaintext.FirstLine(prompt, 60)
		}
	}
	return ""
}

// diagnosticsAt returns the diagnostics of a URI.
func (s *Server) diagnosticsAt(w *workspace, uri string) []protocol.Diagnostic {
	list := append([]protocol.Diagnostic{}, s.reminder(w, uri)...)
	all := s.placedAt(w, uri)
	if uri == s.reviewURI(w) {
		all = hunks.OnlyListed(all) // the others are listed in their files
	}
	for _, p := range all {
		list = append(list, s.diagnosticOf(w, &p))
	}
	slices.SortStableFunc(list, func(a, b protocol.Diagnostic) int { return a.Range.Start.Line - b.Range.Start.Line })
	return list
}

// publishDiff publishes the diagnostics of a file at all URIs at which it is shown now or was shown before: an editor may
// use another URI once it has opened the file.
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

// publish publishes the diagnostics of a URI. file is the file under review for which they are.
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
	// An empty list is right for every version. With one, an editor that has made an accepted hunk's edit meanwhile would drop it.
	if d := s.docs[uri]; d != nil && s.client.Versions && len(list) > 0 {
		p.Version = &d.version
	}
	s.tell("diagnostics "+uri, "textDocument/publishDiagnostics", p)
}

// republish publishes the diagnostics of a document that has changed.
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

// republishSoon is republish for changes that come with each key.
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

// publishAll publishes all diagnostics of a folder.
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

// refresh asks the editor, in a moment, to ask again for lenses, hints and diagnostics.
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
			s.syncReview(w) // diagnostics of the list are about this text
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
