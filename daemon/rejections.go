package daemon

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/diffs"
)

// Bounds, in bytes and lines, of what an agent is told of rejected changes.
const (
	rejectionsMax    = 4 << 10 // in one prompt
	rejectionLines   = 6       // of one hunk
	rejectionLineMax = 160
)

// A rejection is what a session's agent is told of a hunk of its that was rejected.
type rejection struct {
	Session string `json:"session"`
	Text    string `json:"text"`
}

// hunkWords are the rejections to tell, by hunk.
type hunkWords map[uint64][]rejection

// words returns what is to be told if the choice is rejected; it is said before that happens, while the lines are there.
func (r *reviewer) words(c *choice, dec api.Decision) hunkWords {
	if dec.Accept || !r.w.d.settings().TellRejections {
		return nil
	}
	words := hunkWords{}
	for _, h := range c.review.Hunks() {
		var told []string
		text := rejectionText(c.f.path, h, dec.Lines)
		for _, src := range h.Sources {
			if !slices.Contains(told, src.SessionID) {
				told = append(told, src.SessionID)
				words[h.ID] = append(words[h.ID], rejection{src.SessionID, text})
			}
		}
	}
	return words
}

// of returns what is to be told of some hunks.
func (words hunkWords) of(hunks []uint64) (told []rejection) {
	for _, id := range hunks {
		told = append(told, words[id]...)
	}
	return told
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

// keepRejections keeps what a group rejected for the next prompts of the sessions that it is about.
func (r *reviewer) keepRejections(g *group) {
	if len(g.Told) == 0 {
		return
	}
	_ = r.w.call(func() { // an error says that there are no more prompts
		var c commit
		for _, t := range g.Told {
			if _, err := r.w.session(t.Session); err != nil {
				continue // it was deleted, and has no more prompts
			}
			r.w.keepNote(&c, note{SessionID: t.Session, Text: t.Text, Group: g.n})
		}
		r.w.submit(&c)
	})
}

// keptRejections reports whether a group's rejections are among what is kept for the next prompts.
func (r *reviewer) keptRejections(group uint64) (told bool) {
	_ = r.w.call(func() { // as above
		told = slices.ContainsFunc(r.w.notes, func(n note) bool { return n.Group == group })
	})
	return told
}

// takeBackRejections forgets what was not told yet of a group that was taken back.
func (r *reviewer) takeBackRejections(group uint64) {
	_ = r.w.call(func() { // as above
		var c commit
		r.w.dropNotes(&c, func(n note) bool { return n.Group == group })
		if len(c.ops) > 0 {
			r.w.submit(&c)
		}
	})
}

// shortRejections returns a prompt's remarks, the rejections among them cut to rejectionsMax together.
func shortRejections(notes []note) (texts []string) {
	left, dropped := rejectionsMax-64, 0
	for _, n := range notes {
		if n.Group != 0 {
			if left -= len(n.Text) + len("- \n"); left < 0 {
				dropped++
				continue
			}
		}
		texts = append(texts, n.Text)
	}
	if dropped > 0 {
		texts = append(texts, fmt.Sprintf("the user rejected %d more of your changes", dropped))
	}
	return texts
}
