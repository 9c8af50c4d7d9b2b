package lsp

import (
	"sort"
	"strings"
)

// hunkPlace is where next and prev go.
type hunkPlace struct {
	path string
	line int
	p    placed
}

// goTo shows the next hunk, or the one before, across files.
func (s *Server) goTo(t *target, step int) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	at, err := s.spotOf(w, t)
	if err != nil {
		return nil, err
	}
	var all []hunkPlace
	for _, path := range w.paths() {
		for _, p := range s.place(w, w.diffs[path]) {
			if !p.isDone() {
				all = append(all, hunkPlace{path: p.uri, line: p.lineRange(s.client.encoding).Start.Line, p: p})
			}
		}
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
		case h.path != at.uri:
			return strings.Compare(h.path, at.uri)
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
	one := all[i]
	w.at = spot{uri: one.p.uri, line: one.line}
	r := one.p.lineRange(s.client.encoding)
	s.open(one.p.uri, &Range{Start: r.Start, End: r.Start})
	return map[string]any{"uri": one.p.uri, "range": r, "hunk": one.p.hunk.ID}, nil
}
