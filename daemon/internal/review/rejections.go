package review

import (
	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
)

// words returns the texts for the next prompts in case the choice is rejected. Call it before the reject, while the review
// has the lines.
func (r *Reviewer) words(c *choice, dec api.Decision) decisionlog.Words {
	if dec.Accept || !r.setup.Settings().TellRejections {
		return nil
	}
	words := decisionlog.Words{}
	for _, h := range c.review.Hunks() {
		words.Put(&h, diffshape.RejectionText(c.f.path, h, diffshape.Range(dec.Lines)))
	}
	return words
}

// keepRejections puts a group's rejections into the next prompts of its sessions.
func (r *Reviewer) keepRejections(g *decisionlog.Group) {
	if len(g.Rejections) > 0 {
		r.setup.Loop.KeepRejections(g.N, g.Rejections)
	}
}
