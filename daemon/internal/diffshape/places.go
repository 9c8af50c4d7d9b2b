package diffshape

import (
	"cursord/daemon/api"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// Shift moves places of hunks in the present file to an older text of it. review is the file's; nil if it is of a copy.
func Shift(review *diffs.Review, now, text string, spans map[uint64]threeway.Span, sides map[uint64]api.Side) {
	if text == now {
		return
	}
	old, base := map[uint64]threeway.Span{}, ""
	if review != nil {
		base = string(review.Baseline().Data)
		for _, p := range review.OldPlaces() {
			old[p.ID] = threeway.Span{From: p.From, To: p.To}
		}
	}
	if review != nil && text == base {
		for id := range spans {
			spans[id], sides[id] = old[id], api.OldSide
		}
		return
	}
	edits := diffs.LineEdits(now, text)
	for id, s := range spans {
		moved, touched := threeway.Moved(s, edits)
		spans[id] = moved
		if !touched {
			continue
		}
		sides[id] = api.OtherSide
		if o, there := old[id]; there && threeway.Same(text, moved, base, o) {
			sides[id] = api.OldSide
		}
	}
}
