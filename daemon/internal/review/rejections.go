package review

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/diffs"
)

// Bounds, in bytes and lines, of what the next prompt says of rejected changes.
const (
	rejectionLines   = 6 // of one hunk
	rejectionLineMax = 160
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
		text := rejectionText(c.f.path, h, dec.Lines)
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

// rejectionText describes a hunk by its first changed lines; of a part of it, if lines is given.
func rejectionText(path string, h diffs.Hunk, lines *api.LineRange) string {
	var changed []string
	for _, l := range h.Lines {
		if l[0] != ' ' {
			changed = append(changed, l)
		}
	}
	if lines != nil && lines.To <= len(changed) {
		changed = changed[lines.From:lines.To]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the user rejected your change of %s", path)
	if len(changed) > 0 {
		fmt.Fprintf(&b, ", line %d", max(h.NewStart, 1))
	}
	for i, l := range changed {
		if i == rejectionLines {
			fmt.Fprintf(&b, "\n  … %d more lines", len(changed)-i)
			break
		}
		l = strings.TrimSuffix(l, "\r")
		if len(l) > rejectionLineMax {
			cut := rejectionLineMax
			for !utf8.RuneStart(l[cut]) {
				cut--
			}
			l = l[:cut] + "…"
		}
		b.WriteString("\n  " + l)
	}
	return b.String()
}

// keepRejections has the next prompts of a group's sessions name its rejections.
func (r *Reviewer) keepRejections(g *group) {
	if len(g.Rejections) > 0 {
		r.setup.Loop.KeepRejections(g.n, g.Rejections)
	}
}
