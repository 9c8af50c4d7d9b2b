package unsaved

import (
	"cursord/daemon/api"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/threeway"
)

// Placed returns the places of a file's hunks in a document.
func (f *File) Placed(doc *documents.Document) (all []api.PlacedHunk) {
	b := f.Buffers[doc.Client]
	review := f.Seen(doc.Client)
	places, side := review.Places(), api.NewSide
	if f.Isolated {
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
		if f.Isolated {
			before = nil
		}
		diffshape.Shift(before, string(f.Real().Data), string(doc.Known.Data), spans, sides)
	}
	for _, h := range f.HunksFor(b) {
		if s, there := spans[h]; there {
			all = append(all, api.PlacedHunk{ID: f.Owner.HunkID(h), From: s.From, To: s.To, Side: sides[h]})
		}
	}
	return all
}
