package lsp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
		if !slices.Contains(uris, p.uri) {
			uris = append(uris, p.uri)
		}
	}
	return uris
}

// placedAt returns the hunks that are shown at a URI, but for those that the editor's text has already.
func (s *Server) placedAt(w *workspace, uri string) (all []placed) {
	if uri == s.reviewURI(w) {
		return s.placedInReview(w)
	}
	file := ""
	if at, rel := s.locate(uri); at == w {
		file = rel
	}
	for _, d := range w.diffs {
		if file != "" && d.Path != file && d.OldPath != file {
			continue
		}
		for _, p := range s.place(w, d) {
			if p.uri == uri && !p.isDone() {
				all = append(all, p)
			}
		}
	}
	return all
}

// diagnosticOf returns a hunk as it is listed.
func (s *Server) diagnosticOf(w *workspace, p *placed) diagnostic {
	message := fmt.Sprintf("%d/%d %s%s", p.index+1, len(p.diff.Hunks), summary(p.diff, p.hunk), authorOf(p.hunk))
	if title := titleOf(w, p.hunk); title != "" {
		message += " · " + title
	}
	severity := severityInformation
	if p.hunk.InConflict() {
		message += " · you have changed these lines too"
	}
	if p.hunk.MaybeYours() || p.hunk.InConflict() {
		severity = severityWarning
	}
	return diagnostic{
		Range: p.lineRange(s.client.encoding), Severity: severity, Source: source, Code: encoded(p.hunk.ID), Message: message,
	}
}

// authorOf says behind a hunk's summary how it was made, unless by edits alone, and whether it may be the person's.
func authorOf(h *sessions.Hunk) (text string) {
	if by := h.MadeBy(); by != "" && by != "edit" {
		text = " by " + by
	}
	if h.MaybeYours() {
		text += " · may be yours: no call of the agent explains it"
	}
	return text
}

// titleOf returns what a hunk was made for.
func titleOf(w *workspace, h *sessions.Hunk) string {
	for _, from := range h.Sources {
		if one := w.sessions[from.SessionID]; one != nil && one.Title != "" {
			return cut(one.Title, 60)
		}
	}
	return ""
}

// cut returns the first line of a text, and of that at most so many characters.
func cut(s string, most int) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	runes := []rune(strings.TrimSpace(s))
	if len(runes) > most {
		return strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	if more && len(runes) < most {
		return string(runes) + "…"
	}
	return string(runes)
}

// diagnosticsAt returns what is listed at a URI.
func (s *Server) diagnosticsAt(w *workspace, uri string) []diagnostic {
	list := []diagnostic{}
	for _, p := range s.placedAt(w, uri) {
		list = append(list, s.diagnosticOf(w, &p))
	}
	slices.SortStableFunc(list, func(a, b diagnostic) int { return a.Range.Start.Line - b.Range.Start.Line })
	return list
}

// publishDiff tells the editor what is to review in a file, wherever that is shown, or was: an editor may name a file in
// another way once it has opened it.
func (s *Server) publishDiff(w *workspace, d *sessions.Diff) {
	uris := s.shownAt(w, d)
	for uri, of := range w.diagnosed {
		if of == d.Path && !slices.Contains(uris, uri) {
			uris = append(uris, uri)
		}
	}
	if review := s.reviewURI(w); !slices.Contains(uris, review) {
		if _, has := w.diagnosed[review]; has {
			uris = append(uris, review) // its lines have moved
		}
	}
	for _, uri := range uris {
		s.publish(w, uri, d.Path)
	}
}

// publish tells the editor what is to review at a URI, because of a file.
func (s *Server) publish(w *workspace, uri, file string) {
	if uri == s.reviewURI(w) {
		s.writeReview(w)
	}
	if s.client.pulls {
		return
	}
	list := s.diagnosticsAt(w, uri)
	if _, has := w.diagnosed[uri]; !has && len(list) == 0 {
		return
	}
	if w.diagnosed[uri] = file; len(list) == 0 {
		delete(w.diagnosed, uri)
	}
	p := publishParams{URI: uri, Diagnostics: list}
	if d := s.docs[uri]; d != nil && s.client.versions {
		p.Version = &d.version
	}
	s.tell("diagnostics "+uri, "textDocument/publishDiagnostics", p)
}

// republish tells the editor anew of a document that has changed.
func (s *Server) republish(d *document) {
	if d.workspace == nil {
		return
	}
	for _, diff := range d.workspace.diffs {
		if diff.Path == d.path || diff.OldPath == d.path {
			s.publishDiff(d.workspace, diff)
			s.refresh()
			s.tellStatus(d.workspace)
		}
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
			"workspace/codeLens/refresh":   s.client.lenses && s.client.refreshesLenses,
			"workspace/inlayHint/refresh":  s.client.hints && s.client.refreshesHints,
			"workspace/diagnostic/refresh": s.client.pulls && s.client.refreshesPulled,
		} {
			if wanted {
				s.ask(method, nil, nil)
			}
		}
	})
}

type documentReport struct {
	Kind  string       `json:"kind"`
	Items []diagnostic `json:"items"`
}

func (s *Server) pullDocument(p *documentParams) (documentReport, error) {
	w, _ := s.locate(p.TextDocument.URI)
	if w == nil {
		w = s.stateFolder(p.TextDocument.URI)
	}
	report := documentReport{Kind: "full", Items: []diagnostic{}}
	if w != nil {
		report.Items = s.diagnosticsAt(w, p.TextDocument.URI)
	}
	return report, nil
}

type workspaceReport struct {
	Items []workspaceDocumentReport `json:"items"`
}

type workspaceDocumentReport struct {
	Kind    string       `json:"kind"`
	URI     string       `json:"uri"`
	Version *int         `json:"version"`
	Items   []diagnostic `json:"items"`
}

func (s *Server) pullWorkspace(*struct{}) (workspaceReport, error) {
	report := workspaceReport{Items: []workspaceDocumentReport{}}
	for _, w := range s.folders {
		uris := map[string]bool{}
		for _, d := range w.diffs {
			for _, uri := range s.shownAt(w, d) {
				uris[uri] = true
			}
		}
		for _, uri := range slices.Sorted(maps.Keys(uris)) {
			one := workspaceDocumentReport{Kind: "full", URI: uri, Items: s.diagnosticsAt(w, uri)}
			if d := s.docs[uri]; d != nil {
				one.Version = &d.version
			}
			report.Items = append(report.Items, one)
		}
	}
	return report, nil
}
