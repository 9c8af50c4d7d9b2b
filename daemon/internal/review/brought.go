package review

import (
	"slices"

	"cursord/diffs"
)

// bring gives the lines that the turn's commands have brought by commits which the turn has not made to those commits. With all, it looks at
// all such commits of the turn again, because some changes are found late.
func (t *Turn) bring(all bool) {
	each := func(f func(*file)) {
		t.r.call(func() {
			for _, one := range t.tree.files {
				if past := one.stored.Past; past != nil && slices.Contains(past.Sessions, t.session) && !one.outside() && t.r.load(one) == nil {
					f(one)
				}
			}
		})
	}
	texts, err := t.head.Texts(all, func(add func(path string)) { each(func(f *file) { add(f.path) }) })
	if err != nil {
		t.r.setup.Log.Warn("the commits that a turn has brought cannot be read; their lines count as the agent's", "err", err)
	}
	if len(texts) == 0 {
		return
	}
	each(func(f *file) {
		for _, b := range texts[f.path] {
			if f.Review.Brought(b.Commit, b.Text, b.Was, func(s diffs.Source) bool { return s.TurnID == t.turn && s.Via != diffs.ViaEdit }) {
				f.Unstored = true
				t.r.save(f)
			}
		}
	})
}
