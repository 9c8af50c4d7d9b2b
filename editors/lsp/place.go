package lsp

import (
	"cmp"
	"maps"
	"slices"

	"cursord/daemon/api"
	"cursord/editors/lsp/hunks"
	"cursord/rpc"
	"cursord/sessions"
)

// place returns a file's hunks with their places in the editor's document, as the daemon said them. Without a document they
// are the places on disk.
func (s *Server) place(w *workspace, d *sessions.Diff) (all []hunks.Placed) {
	for i := range d.Hunks {
		h := &d.Hunks[i]
		file := d.Path
		if h.Isolated && d.OldPath != "" {
			file = d.OldPath // which the work tree has
		}
		doc := s.docAt(w, file)
		p := hunks.Placed{Hunk: h, Diff: d, URI: s.uriOf(w, file)}
		if h.Kind != "text" {
			s.placeFile(w, &p)
			all = append(all, p)
			continue
		}
		old, now := hunks.Sides(h)
		p.Side, p.From, p.To = hunks.NewSide, hunks.Start(h.NewStart, h.NewLines)+now.Before, hunks.Start(h.NewStart, h.NewLines)+len(now.Lines)-now.Tail
		if h.Elsewhere() {
			p.Side, p.From, p.To = hunks.OldSide, hunks.Start(h.OldStart, h.OldLines)+old.Before, hunks.Start(h.OldStart, h.OldLines)+len(old.Lines)-old.Tail
		}
		if doc != nil {
			p.Text = doc.text
			if at, said := doc.places[d.Path][h.ID]; said {
				p.Side, p.From, p.To = at.Side, at.From, at.To
			}
			p.From = min(p.From, doc.text.CountLines())
			p.To = max(p.From, min(p.To, doc.text.CountLines()))
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b hunks.Placed) int { return cmp.Compare(a.From, b.From) })
	for i := range all {
		all[i].Index = i
	}
	return all
}

// typed moves the places of hunks after an edit of a document, which has its new version already.
func (d *document) typed(t hunks.LineEdit) {
	t.Version = d.version
	d.since = append(d.since, t)
	d.at = t.Last()
	for _, of := range d.places {
		for id, m := range of {
			of[id] = m.Moved(t)
		}
	}
}

// askPlaces asks the daemon for the places of a file's hunks in documents, and publishes them.
func (s *Server) askPlaces(w *workspace, d *sessions.Diff) {
	doc := s.docAt(w, d.Path)
	if doc == nil && d.OldPath != "" {
		doc = s.docAt(w, d.OldPath)
	}
	if doc == nil || s.daemon == nil {
		return
	}
	if doc.placing {
		doc.placeAgain = true
		return
	}
	doc.placing, doc.placeAgain = true, false
	call(s, "diff/place", rpc.MergeParams{Workspace: w.path, Path: d.Path}, func(said rpc.PlaceResult, err error) {
		doc.placing = false
		if err == nil && !w.closed {
			s.placesSaid(w, d.Path, said.Documents)
		}
		if now := w.diffs[d.Path]; now != nil && doc.placeAgain && s.docs[doc.uri] == doc {
			s.askPlaces(w, now)
		}
	})
}

// placesSaid keeps the places of a file's hunks that the daemon said.
func (s *Server) placesSaid(w *workspace, path string, documents []api.PlacedDocument) {
	for _, one := range documents {
		doc := s.docAt(w, one.Path)
		if doc == nil || one.Version > doc.version {
			continue
		}
		doc.since = slices.DeleteFunc(doc.since, func(t hunks.LineEdit) bool { return t.Version <= one.Version })
		of := map[string]hunks.Mark{}
		for _, h := range one.Hunks {
			m := hunks.Mark{Side: hunks.Neither, From: h.From, To: h.To}
			switch h.Side {
			case api.OldSide:
				m.Side = hunks.OldSide
			case api.NewSide:
				m.Side = hunks.NewSide
			}
			for _, t := range doc.since {
				m = m.Moved(t)
			}
			of[h.ID] = m
		}
		if doc.places == nil {
			doc.places = map[string]map[string]hunks.Mark{}
		}
		changed := !maps.Equal(doc.places[path], of)
		doc.places[path] = of
		if d := w.diffs[path]; d != nil && changed {
			s.publishDiff(w, d)
			s.refresh()
		}
	}
}

// placeFile places a hunk about a whole file: on its first line if the editor can open the file, else in the list of all
// hunks.
func (s *Server) placeFile(w *workspace, p *hunks.Placed) {
	d := p.Diff
	if doc := s.docAt(w, d.Path); doc != nil {
		p.Text = doc.text
	}
	p.Side = hunks.NewSide
	if p.Hunk.Isolated {
		p.Side = hunks.OldSide
	}
	missing := d.Kind == sessions.DiffDeleted
	if p.Hunk.Isolated {
		missing = d.Kind == sessions.DiffCreated
	}
	if missing && p.Text == nil {
		p.URI, p.Text = s.reviewURI(w), nil
	}
	if p.Side == hunks.NewSide && d.Kind == sessions.DiffCreated && p.Text != nil {
		p.To = p.Text.CountLines()
	}
}
