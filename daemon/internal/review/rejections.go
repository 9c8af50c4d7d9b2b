package review

import (
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/diffshape"
)

// A Rejection is what a session's next prompt says of a rejected hunk.
type Rejection struct {
	Session string `json:"session"`
	Text    string `json:"text"`
}

// hunkWords are the rejections to tell, by hunk.
type hunkWords map[uint64][]Rejection

// words returns what the next prompts say if the choice is rejected. It must be called before the reject, while the lines are there.
func (r *Reviewer) words(c *choice, dec api.Decision) hunkWords {
	if dec.Accept || !r.setup.Settings().TellRejections {
		return nil
	}
	words := hunkWords{}
	for _, h := range c.review.Hunks() {
		var named []string
		text := diffshape.RejectionText(c.f.path, h, linesOf(dec.Lines))
		for _, src := range h.Sources {
			if !slices.Contains(named, src.SessionID) {
				named = append(named, src.SessionID)
				words[h.ID] = append(words[h.ID], Rejection{src.SessionID, text})
			}
		}
	}
	return words
}

// of returns the rejections of some hunks.
func (words hunkWords) of(hunks []uint64) (rejections []Rejection) {
	for _, id := range hunks {
		rejections = append(rejections, words[id]...)
	}
	return rejections
}

// keepRejections has the next prompts of a group's sessions name its rejections.
func (r *Reviewer) keepRejections(g *group) {
	if len(g.Rejections) > 0 {
		r.setup.Loop.KeepRejections(g.n, g.Rejections)
	}
}
