package review

import (
	"cmp"
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
				session, said := diffshape.Remark(c.f.path, h, text)
				return []decisionlog.Rejection{{Session: session, Text: said, Comment: true}}
			}
		}
	}
	return nil
}

// Comment keeps a remark about a hunk for the agent's next prompt.
func (r *Reviewer) Comment(hunk, text string) (err error) {
	if strings.TrimSpace(text) == "" {
		return api.Invalid("text", "must not be empty")
	}
	if err := api.NoNUL("text", text); err != nil {
		return err
	}
	stopped := r.call(func() {
		var f *file
		if f, _, err = r.hunk(hunk, 0); err == nil {
			i := slices.IndexFunc(f.diff.Hunks, func(h sessions.Hunk) bool { return h.ID == hunk })
			session, said := diffshape.Remark(f.path, f.diff.Hunks[max(i, 0)], text)
			r.tell([]decisionlog.Rejection{{Session: session, Text: said, Comment: true}})
		}
	})
	return cmp.Or(stopped, err)
}

// Tell keeps what sessions were told elsewhere of decisions for their next prompts. No undo takes it back.
func (r *Reviewer) Tell(told []decisionlog.Rejection) { _ = r.call(func() { r.tell(told) }) }

func (r *Reviewer) tell(told []decisionlog.Rejection) {
	g := &decisionlog.Group{Accept: true, Rejections: told}
	r.submit(nil, r.log.Push(g), nil)
	r.keepRejections(g)
}
