package lsp

import (
	"sort"
	"strings"

	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// A hunkPlace is a place to which next and prev go.
type hunkPlace struct {
	path string
	line int
	p    hunks.Placed
}

// goTo shows the next hunk of all files, or the one before. In the list of all hunks it goes from hunk to hunk there.
func (s *Server) goTo(t *target, step int) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	at, err := s.locationOf(w, t)
	if err != nil {
		return nil, err
	}
	review := s.reviewURI(w)
	order := func(uri string) string { // the list comes last
		if uri == review {
			return "~" + uri
		}
		return uri
	}
	if d := s.docs[s.touched.uri]; at.uri == "" && d != nil && d.workspace == w {
		at = location{uri: d.uri, line: -step} // then next goes to its first hunk, and prev to the last one of the file before
	}
	if at.uri == review {
		if p := hunks.NextIn(s.placedInReview(w), at.line, step); p != nil {
			return s.goToPlace(w, p)
		}
	}
	from := order(at.uri)
	var all []hunkPlace
	for _, p := range s.everyPlace(w) {
		all = append(all, hunkPlace{path: order(p.URI), line: p.LineRange(s.client.Encoding).Start.Line, p: p})
	}
	if len(all) == 0 {
		s.show(levelInfo, "cursord: nothing to review")
		return nil, nil
	}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].path != all[j].path {
			return all[i].path < all[j].path
		}
		return all[i].line < all[j].line
	})
	here := func(h hunkPlace) int {
		switch {
		case h.path != from:
			return strings.Compare(h.path, from)
		default:
			return h.line - at.line
		}
	}
	i := 0
	if step > 0 {
		if i = sort.Search(len(all), func(i int) bool { return here(all[i]) > 0 }); i == len(all) {
			i = 0
		}
		if at.uri == "" {
			i = 0
		}
	} else if i = sort.Search(len(all), func(i int) bool { return here(all[i]) >= 0 }) - 1; i < 0 {
		i = len(all) - 1
	}
	return s.goToPlace(w, &all[i].p)
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
