package review

import (
	"fmt"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
	"cursord/sessions"
)

// comment returns what a person says about the first hunk of a decision, for the agent; nothing without a text.
func comment(choices []*choice, text string) []decisionlog.Rejection {
	for _, c := range choices {
		if c.f.diff == nil {
			continue
		}
		for _, h := range c.f.diff.Hunks {
			if text != "" && (c.prints == nil || slices.ContainsFunc(c.ids, func(id uint64) bool { return diffshape.HunkID(c.f.n, id) == h.ID })) {
				return []decisionlog.Rejection{remark(c.f, h, text)}
			}
		}
	}
	return nil
}

func remark(f *file, h sessions.Hunk, text string) decisionlog.Rejection {
	session := ""
	if len(h.Sources) > 0 {
		session = h.Sources[len(h.Sources)-1].SessionID
	}
	text = fmt.Sprintf("on your change of %s, line %d: %s", f.path, diffshape.FirstChanged(h), text)
	return decisionlog.Rejection{Session: session, Text: text, Comment: true}
}

// Comment keeps a remark about a hunk for the agent's next prompt.
func (r *Reviewer) Comment(hunk, text string) (err error) {
	if strings.TrimSpace(text) == "" {
		return api.Invalid("text", "must not be empty")
	}
	if err := api.NoNUL("text", text); err != nil {
		return err
	}
	if stopped := r.call(func() {
		var f *file
		if f, _, err = r.hunk(hunk, 0); err == nil {
			i := slices.IndexFunc(f.diff.Hunks, func(h sessions.Hunk) bool { return h.ID == hunk })
			said := remark(f, f.diff.Hunks[max(i, 0)], text)
			r.setup.Loop.Remark(said.Session, said.Text)
		}
	}); stopped != nil {
		return stopped
	}
	return err
}
