package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cursord/daemon/paths"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/links"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
)

// definition returns the place that a transcript names at a position; in the list of all hunks, the place of the hunk in its
// file. Elsewhere it returns nil.
func (s *Server) definition(p *protocol.DefinitionParams) (*protocol.Location, error) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	w := s.stateFolder(d.uri)
	switch {
	case w == nil:
		return nil, nil
	case d.uri == s.reviewURI(w):
		for _, one := range s.placedInReview(w) {
			if r := one.LineRange(s.client.Encoding); !one.Alone && r.Start.Line <= p.Position.Line && r.End.Line >= p.Position.Line {
				return s.hunkLocation(w, one.Hunk.ID), nil
			}
		}
	case isTranscript(d.uri):
		if link, ok := s.linkAt(w, d, p.Position); ok {
			return s.linkLocation(d, link), nil
		}
	}
	return nil, nil
}

// hunkLocation returns the place of a hunk in its file; nil if the hunk is gone.
func (s *Server) hunkLocation(w *workspace, id string) *protocol.Location {
	for _, one := range s.everyPlace(w) {
		if one.Hunk.ID == id {
			at := one.LineRange(s.client.Encoding).Start
			return &protocol.Location{URI: one.URI, Range: protocol.Range{Start: at, End: at}}
		}
	}
	return nil
}

// linkAt returns the link at a position of a transcript.
func (s *Server) linkAt(w *workspace, d *document, at protocol.Position) (links.Link, bool) {
	line := d.text.LineAt(at, s.client.Encoding)
	offset := d.text.Offset(at, s.client.Encoding) - d.text.LineStart(line)
	return links.At(d.text, line, offset, func(path string) bool { return s.isFileOf(w, d, path) })
}

// absolute returns the absolute form of a path in a transcript. A relative one is below the folder of the session.
func absolute(d *document, path string) string {
	if path = localfile.AtHome(path); !filepath.IsAbs(path) {
		path = filepath.Join(links.Workspace(d.text), filepath.FromSlash(path))
	}
	return filepath.Clean(path)
}

// isFileOf reports whether a path in a transcript is that of a file, perhaps of one that only the copy of a session has.
func (s *Server) isFileOf(w *workspace, d *document, path string) bool {
	file := absolute(d, path)
	if rel, inside := paths.Within(w.path, file); inside && w.diffs[rel] != nil {
		return true
	}
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// linkLocation returns the place of a link. For a file that is not in the work tree yet it is in the list of all hunks.
func (s *Server) linkLocation(d *document, link links.Link) *protocol.Location {
	file := absolute(d, link.Path)
	uri, at := paths.URI(file), protocol.Position{Line: max(link.Line-1, 0)}
	if w, rel := s.locate(uri); w != nil {
		uri = s.uriOf(w, rel)
		if diff := w.diffs[rel]; diff != nil {
			if s.inList(w, diff) {
				return s.listLocation(w, diff.Hunks[0].ID)
			}
			at.Line = hunks.LineInWorkTree(diff, at.Line)
		}
	}
	return &protocol.Location{URI: uri, Range: protocol.Range{Start: at, End: at}}
}

// listLocation writes the list of all hunks and returns a hunk's place there.
func (s *Server) listLocation(w *workspace, id string) *protocol.Location {
	if err := s.writeList(w); err != nil {
		s.opts.Log.Warn("the list of changes cannot be written", "err", err)
		return nil
	}
	all := s.placedInReview(w)
	i := slices.IndexFunc(all, func(p hunks.Placed) bool { return p.Hunk.ID == id })
	if i < 0 {
		return nil
	}
	at := protocol.Position{Line: all[i].From}
	return &protocol.Location{URI: s.reviewURI(w), Range: protocol.Range{Start: at, End: at}}
}

// linkActions offers to go to the place that a transcript names at a position, for editors in which "goto definition" asks
// other servers.
func (s *Server) linkActions(w *workspace, d *document, at protocol.Position) []protocol.CodeAction {
	if d == nil || !isTranscript(d.uri) {
		return nil
	}
	link, ok := s.linkAt(w, d, at)
	if !ok {
		return nil
	}
	title, to := "Go to "+link.Path, s.linkLocation(d, link)
	if to == nil {
		return nil
	}
	if link.Line > 0 {
		title += fmt.Sprintf(":%d", link.Line)
	}
	t := target{Workspace: w.path, URI: to.URI, Line: to.Range.Start.Line + 1}
	return []protocol.CodeAction{{Title: title, Kind: protocol.KindSource + ".cursord", Command: commandOf(title, commandGoTo, t)}}
}
