package review

import (
	"slices"

	"cursord/daemon/internal/commits"
	"cursord/diffs"
)

// bring gives the lines that the turn's commands have brought by git to whoever wrote them. With all, it looks at all the turn's commits again.
func (t *Turn) bring(all bool) {
	of := func(s diffs.Source) bool { return s.TurnID == t.TurnID && s.Via != diffs.ViaEdit }
	each := func(f func(*file)) {
		t.r.call(func() {
			for _, one := range t.tree.files {
				if past := one.stored.Past; past != nil && past.At >= t.Commits.Began() && !one.outside() && t.r.load(one) == nil {
					f(one)
				}
			}
		})
	}
	texts, err := t.Commits.Texts(all, func() (changed []commits.Changed) {
		each(func(f *file) {
			if slices.Contains(f.Review.Wrote(of), true) {
				changed = append(changed, commits.Changed{Path: f.path, Rev: f.Review.Rev(), Size: len(f.Review.Current().Data)})
			}
		})
		return changed
	})
	if err != nil {
		t.r.setup.Log.Warn("the commits that a turn has brought cannot be read; their lines count as the agent's", "err", err)
	}
	if len(texts) == 0 {
		return
	}
	each(func(f *file) {
		for _, v := range texts[f.path] {
			if f.Review.Brought(v, of) {
				f.Unstored = true
				t.r.save(f)
			}
		}
	})
}
