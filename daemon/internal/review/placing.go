package review

import (
	"cursord/daemon/api"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/threeway"
	"cursord/daemon/paths"
)

// Places returns the places of hunks in a client's open texts of a path. It finds lines by their authors, not by their
// words. If a text differs from the file, a hunk's place is where its lines are in the text.
func (r *Reviewer) Places(client api.ClientID, path string) (list []api.PlacedDocument, err error) {
	stopped := r.call(func() {
		if why := paths.TooLongIn(r.setup.Root, path); why != "" {
			err = api.Invalid("path", "%s", why)
			return
		}
		if err = api.DiffPath(path); err != nil {
			return
		}
		files := r.at(r.named(path))
		for _, f := range files {
			r.affected[f] = true
		}
		r.refreshAll(files)
		byPath := map[string]int{}
		for _, f := range files {
			doc := r.setup.Documents.Opened(client, r.absolute(f))
			if doc == nil || f.Review == nil || f.outside() {
				continue
			}
			at, known := byPath[f.realPath()]
			if !known {
				at = len(list)
				byPath[f.realPath()] = at
				list = append(list, api.PlacedDocument{Path: f.realPath(), Version: doc.Version, Hunks: []api.PlacedHunk{}})
			}
			list[at].Hunks = append(list[at].Hunks, f.placed(doc)...)
		}
	})
	if stopped != nil {
		return nil, stopped
	}
	return list, err
}

// placed returns the places of a file's hunks in a document.
func (f *file) placed(doc *documents.Document) (all []api.PlacedHunk) {
	b := f.Buffers[doc.Client]
	review := f.Seen(doc.Client)
	places, side := review.Places(), api.NewSide
	if f.tree.isolated() {
		places, side = review.OldPlaces(), api.OldSide
	}
	spans := map[uint64]threeway.Span{}
	sides := map[uint64]api.Side{}
	for _, p := range places {
		spans[p.ID], sides[p.ID] = threeway.Span{From: p.From, To: p.To}, side
	}
	if b != nil {
		for _, c := range b.Conflicts {
			spans[c.IDs[0]], sides[c.IDs[0]] = c.Text, api.OldSide
		}
	} else if doc.Known != nil && doc.Known.Exists {
		before := f.Review
		if f.tree.isolated() {
			before = nil
		}
		diffshape.Shift(before, string(f.Real().Data), string(doc.Known.Data), spans, sides)
	}
	for _, h := range f.HunksFor(b) {
		if s, there := spans[h]; there {
			all = append(all, api.PlacedHunk{ID: diffshape.HunkID(f.n, h), From: s.From, To: s.To, Side: sides[h]})
		}
	}
	return all
}
