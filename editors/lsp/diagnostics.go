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

// placedAt returns the hunks that are shown at a URI. In the list they are all.
func (s *Server) placedAt(w *workspace, uri string) (all []placed) {
	if uri == s.reviewURI(w) {
		return s.placedInReview(w)
	}
	at, file := s.locate(uri)
	if at != w {
		return nil
	}
	for _, d := range w.diffsOf(file) {
		for _, p := range s.place(w, d) {
			if p.uri == uri {
				all = append(all, p)
			}
		}
	}
	return all
}

// diagnosticOf returns a hunk as it is listed: what it changes, which of the file's it is, and how many lines it has.
func (s *Server) diagnosticOf(w *workspace, p *placed) diagnostic {
	message := fmt.Sprintf("%d/%d %s%s", p.index+1, len(p.diff.Hunks), summary(p.diff, p.hunk), authorOf(p.hunk))
	if change := changeOf(p.hunk); change != "" {
		message = change + " · " + message // editors cut the end off
	}
	severity := severityInformation
	if p.hunk.InConflict() {
		message += " · you have changed these lines too"
	}
	if p.hunk.MaybeYours() || p.hunk.InConflict() {
		severity = severityWarning
	}
	d := diagnostic{Range: p.lineRange(s.client.encoding), Severity: severity, Source: source, Message: message}
	if !s.client.isHelix() { // its list has a column for that, and then no room for the message
		d.Code = encoded(p.hunk.ID)
	}
	return d
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

// promptOf returns the prompt for which a hunk was made, as far as its turn was heard of; "" if not.
func promptOf(w *workspace, h *sessions.Hunk) string {
	for _, from := range h.Sources {
		if prompt := w.prompts[from.TurnID]; prompt != "" {
			return cut(prompt, 60)
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
	all := s.placedAt(w, uri)
	if uri == s.reviewURI(w) {
		all = alone(all) // the others are listed in their files
	}
	for _, p := range all {
		list = append(list, s.diagnosticOf(w, &p))
	}
	slices.SortStableFunc(list, func(a, b diagnostic) int { return a.Range.Start.Line - b.Range.Start.Line })
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
	if s.client.pulls {
		return
	}
	list := s.diagnosticsAt(w, uri)
	if _, has := w.diagnosed[uri]; !has && len(list) == 0 {
		return
	}
	w.noteShown(uri, file, len(list) > 0)
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
		if uris[s.reviewURI(w)] {
			s.syncReview(w) // as it is told of
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
