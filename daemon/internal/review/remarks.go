package review

import (
	"fmt"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/diffshape"
	"cursord/sessions"
)

// remark keeps a person's words about hunks for the agent.
func (r *Reviewer) remark(choices []*choice, text string) {
	for _, c := range choices {
		for _, h := range c.f.diff.Hunks {
			if c.prints == nil || slices.ContainsFunc(c.ids, func(id uint64) bool { return diffshape.HunkID(c.f.n, id) == h.ID }) {
				r.addRemark(c.f, h, text)
				return
			}
		}
	}
}

func (r *Reviewer) addRemark(f *file, h sessions.Hunk, text string) {
	session := ""
	if len(h.Sources) > 0 {
		session = h.Sources[len(h.Sources)-1].SessionID
	}
	text = fmt.Sprintf("on your change of %s, line %d: %s", f.path, diffshape.FirstChanged(h), text)
	r.setup.Loop.Remark(session, text)
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
			r.addRemark(f, f.diff.Hunks[max(i, 0)], text)
		}
	}); stopped != nil {
		return stopped
	}
	return err
}
