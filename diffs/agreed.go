package diffs

import "bytes"

// Agreed lists the hunks that content now has and content old has not, and that can be accepted. Of a file that is not reviewed by
// lines, there is only all or nothing.
func (r *Review) Agreed(old, now Content) (ids []uint64) {
	current := r.Current()
	same := func(c Content) bool {
		return c.Exists == current.Exists && c.Target == current.Target && bytes.Equal(c.Data, current.Data)
	}
	kind := r.Kind()
	lines := kind == Modified || kind == Created || kind == Deleted
	if !lines && (!same(now) || same(old)) {
		return nil
	}
	has := func(c Content) map[uint64]string {
		copied := r.Copy()
		copied.Observe(c, nil)
		return copied.Fingerprints()
	}
	before, after := has(old), has(now)
	for _, h := range r.Hunks() {
		print := r.Fingerprint(h.ID)
		if (!lines || after[h.ID] == print && before[h.ID] != print) && r.Decidable(h.ID, true) == nil {
			ids = append(ids, h.ID)
		}
	}
	return ids
}
