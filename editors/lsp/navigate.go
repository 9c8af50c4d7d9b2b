package lsp

import (
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// goTo shows the next hunk of all files, or the one before. A hunk that only the list of all hunks has comes after those of the files; from
// anywhere else in the list it goes from hunk to hunk there.
func (s *Server) goTo(t *target, step int) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	at, err := s.locationOf(w, t)
	if err != nil {
		return nil, err
	}
	if d := s.docs[s.touched.uri]; at.uri == "" && d != nil && d.workspace == w {
		at = location{uri: d.uri, line: -step} // then next goes to its first hunk, and prev to the last one of the file before
	}
	review := s.reviewURI(w)
	inList := at.uri == review && at != w.visited
	all := s.everyPlace(w)
	if inList {
		all = s.placedInReview(w)
	}
	p := hunks.Next(all, review, at.uri, at.line, step, s.client.Encoding)
	if p == nil {
		s.show(levelInfo, "cursord: nothing to review")
		return nil, nil
	}
	gone, err := s.goToPlace(w, p)
	if w.visited = (location{}); p.URI == review && !inList {
		w.visited = w.at
	}
	return gone, err
}

// writeList writes the list of all hunks, unless the editor has it open.
func (s *Server) writeList(w *workspace) error {
	if s.docs[s.reviewURI(w)] != nil {
		return nil
	}
	return s.putState(w, reviewFile, s.reviewText(w))
}

// goToPlace shows a hunk at its place.
func (s *Server) goToPlace(w *workspace, p *hunks.Placed) (any, error) {
	r := p.LineRange(s.client.Encoding)
	w.at = location{uri: p.URI, line: r.Start.Line}
	if p.URI == s.reviewURI(w) {
		if err := s.writeList(w); err != nil {
			return nil, s.shown(err)
		}
	}
	s.open(p.URI, &protocol.Range{Start: r.Start, End: r.Start})
	return map[string]any{"uri": p.URI, "range": r, "hunk": p.Hunk.ID}, nil
}

// goToCommand shows the named hunk in its file, or a line of a file.
func (s *Server) goToCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	if len(t.Hunks) == 0 && t.URI != "" {
		at := protocol.Position{Line: max(t.Line-1, 0)}
		s.open(t.URI, &protocol.Range{Start: at, End: at})
		return nil, nil
	}
	for _, p := range s.everyPlace(w) {
		if len(t.Hunks) > 0 && p.Hunk.ID == t.Hunks[0] {
			return s.goToPlace(w, &p)
		}
	}
	return nil, s.shown(&rpc.Error{Code: codeRequestFailed, Message: "no such hunk is left: " + s.client.Key("next") + " goes to one"})
}
