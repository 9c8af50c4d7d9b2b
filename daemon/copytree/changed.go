package copytree

import (
	"context"
	"slices"
)

// Changed returns what the copy has changed since it was taken over, by path. Folders, files in a .git, and ignored files
// that were not taken over do not count.
func (c *Copy) Changed(ctx context.Context) ([]Change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := scanCopy(ctx, c.Path(), c.t.repos, c.o.MaxFiles)
	if err != nil {
		return nil, err
	}
	paths := make([]string, 0, len(s.files)+len(c.t.entries))
	for _, l := range s.files {
		paths = append(paths, l.path)
	}
	for p := range c.t.entries {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	stats, err := lstatAll(ctx, c.Path(), paths)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for i, p := range paths {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, st := c.t.entries[p], stats[i]
		if e != nil && (e.linked || st.Exists() && st == e.copied) || e == nil && !st.Exists() {
			continue
		}
		held, at, err := c.lookCopy(p)
		if err != nil && !held.Exists {
			return nil, err
		}
		var before State
		if e != nil {
			before = e.State
		}
		if err == nil && held.same(before) {
			if e != nil && e.copied != at {
				e.copied, c.changed = at, true
			}
			continue
		}
		if before.Mode.IsDir() {
			before = State{}
		}
		if held.Mode.IsDir() {
			held = State{}
		}
		if before.Exists || held.Exists {
			changes = append(changes, change(p, before, held))
		}
	}
	if c.changed && c.journal == nil {
		return changes, c.save()
	}
	return changes, nil
}

// TookIn tells the copy that a path is settled: the caller has made both sides equal, or has merged the real side's change
// into the copy. The real tree's present content counts as taken over.
func (c *Copy) TookIn(path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, real, err := c.lookReal(path)
	if err != nil {
		return err
	}
	held, copied, err := c.lookCopy(path)
	if err != nil {
		return err
	}
	if err := c.write(record{path: path, state: now, noted: true}); err != nil {
		return err
	}
	old := c.t.entries[path]
	c.forget(path)
	if !now.Exists || now.Mode.IsDir() {
		return nil
	}
	e := &entry{State: now, real: real}
	c.t.entries[path], c.changed = e, true
	if old != nil && old.same(now) {
		e.oid = old.oid
	}
	if held.same(now) {
		e.copied = copied
		return c.keepBase(path, e)
	}
	return c.keepReal(path, e)
}
