package copytree

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/daemon/internal/filestat"
)

// TakeOver brings into the copy what changed in the workspace since the last TakeOver, and returns the changes by path. If
// the copy has a change of its own at a path, it writes nothing there and marks the change as Pending, each time until Note
// is called. If it fails or is cancelled, what it has brought stays, and the next TakeOver continues.
func (c *Copy) TakeOver(ctx context.Context) ([]Change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changes, err := c.takeOver(ctx)
	if e := c.settle(ctx); err == nil {
		err = e
	}
	if c.changed || c.journal != nil {
		if e := c.save(); err == nil {
			err = e
		}
	}
	t := time.Now() // time of the last use
	os.Chtimes(filepath.Join(c.meta(), tableName), t, t)
	return changes, err
}

func (c *Copy) takeOver(ctx context.Context) ([]Change, error) {
	g, _ := findGit(ctx, c.guard(), c.t.root)
	if rel, err := filepath.Rel(g.tree, c.t.root); g.dir != "" && (err != nil || filepath.ToSlash(rel) != c.t.prefix) {
		g = git{} // a repository created since, further up, which does not exist for the copy
	}
	s, err := c.scanReal(ctx, g)
	if err != nil {
		return nil, err
	}
	found, err := c.changedReal(ctx, s)
	if err != nil {
		return nil, err
	}
	var changes []Change
	brought := false
	for _, ch := range found {
		if ctx.Err() != nil {
			return changes, ctx.Err()
		}
		ch, done, err := c.take(ch)
		if err != nil {
			return changes, err
		}
		if !done {
			changes = append(changes, ch)
			brought = brought || !ch.Pending
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	for _, l := range s.files {
		if e := c.t.entries[l.path]; e != nil && e.oid != l.oid {
			e.oid, c.changed = l.oid, true
		}
	}
	if brought {
		if err := c.dropBases(); err != nil {
			return changes, err
		}
	}
	_, err = c.takeGit(ctx, g, s)
	return changes, err
}

// changedReal returns what changed in the workspace: first what disappeared, the deepest paths first, then what appeared.
func (c *Copy) changedReal(ctx context.Context, s *scan) ([]Change, error) {
	wanted := make(map[string]bool, len(s.files)+len(s.empty)) // whether the path is wanted as a folder
	for _, l := range s.files {
		wanted[l.path] = false
	}
	for _, dir := range s.empty {
		wanted[dir] = true
	}
	for p := range c.t.entries {
		if _, found := wanted[p]; !found {
			wanted[p] = false
		}
	}
	paths := sorted(wanted)
	stats, err := lstatAll(ctx, c.t.root, paths)
	if err != nil {
		return nil, err
	}
	var bytes int64
	var gone, come []Change
	for i, p := range paths {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, st := c.t.entries[p], stats[i]
		if st.Mode.IsRegular() {
			bytes += st.Size
		}
		if bytes > c.o.MaxBytes {
			return nil, c.o.tooManyBytes()
		}
		if e != nil && (e.linked || st.Exists() && st == e.real) || e == nil && !st.Exists() {
			continue
		}
		now, at, err := c.lookReal(p)
		if err != nil {
			c.note(p, "left as it was: "+cause(err))
			continue
		}
		if now.Mode.IsDir() && !wanted[p] && (e == nil || !e.Mode.IsDir()) {
			now = State{} // the files in it are listed
		}
		var before State
		if e != nil {
			before = e.State
		}
		switch {
		case now.same(before):
			if e != nil && e.real != at {
				e.real, c.changed = at, true
			}
		case now.Exists:
			come = append(come, change(p, before, now))
		default:
			gone = append(gone, change(p, before, now))
		}
	}
	slices.Reverse(gone)
	return append(gone, come...), nil
}

// take brings one change into the copy; done reports whether the copy had it already.
func (c *Copy) take(ch Change) (_ Change, done bool, err error) {
	held, at, err := c.heldCopy(ch.Path)
	if err != nil || !held.same(ch.Before) && !held.same(ch.After) {
		ch.Pending = true
		return ch, false, nil
	}
	if held.same(ch.After) {
		_, real, err := c.lookReal(ch.Path)
		if err != nil {
			return ch, true, nil // the next TakeOver looks at it again
		}
		c.forget(ch.Path)
		if ch.After.Exists {
			e := c.record(ch.Path, ch.After, real, at)
			return ch, true, c.keepBase(ch.Path, e)
		}
		return ch, true, nil
	}
	// People are not shown folders, which come and go with their files.
	folder := ch.After.Mode.IsDir() || ch.Before.Mode.IsDir() && !ch.After.Exists
	if ch.After.Exists {
		err = c.put(&ch)
	} else {
		err = c.drop(ch.Path)
	}
	if err != nil && inTheWay(err) {
		ch.Pending = true
		return ch, folder, nil
	}
	return ch, folder || !ch.After.Exists && !ch.Before.Exists, err
}

// heldCopy returns what the copy holds at a path. It reads only what may differ from what was taken over.
func (c *Copy) heldCopy(p string) (State, filestat.Stat, error) {
	if e := c.t.entries[p]; e != nil && e.copied.Exists() {
		if (realDirs{c.Path(), map[string]bool{".": true}}).has(path.Dir(p)) && filestat.Of(c.inCopy(p)) == e.copied {
			return e.State, e.copied, nil
		}
	}
	return c.lookCopy(p)
}

// put writes into the copy what the workspace holds at a path.
func (c *Copy) put(ch *Change) error {
	tmp := filepath.Join(c.meta(), unfinished, "file")
	if err := removeAll(tmp); err != nil {
		return err
	}
	s, real, err := c.bring(c.inReal(ch.Path), tmp, ch.After.Mode.IsDir())
	if err != nil && !writeFailed(err) {
		c.note(ch.Path, "left as it was: "+cause(err))
		ch.Before, ch.After = State{}, State{}
		return nil
	}
	if err != nil {
		return err
	}
	if !s.Exists { // it has disappeared since; the next TakeOver sees that
		ch.Before, ch.After = State{}, State{}
		return nil
	}
	ch.After = s
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := c.write(record{path: ch.Path, state: s}); err != nil {
		return err
	}
	if err := c.mkdirsIn(root, path.Dir(ch.Path)); err != nil {
		return err
	}
	if ch.Before.Mode.IsDir() != ch.After.Mode.IsDir() && ch.Before.Exists {
		if err := root.Remove(c.name(ch.Path)); err != nil {
			return err
		}
	}
	if err := root.Rename(filepath.Join(metaName, unfinished, "file"), c.name(ch.Path)); err != nil {
		return err
	}
	e := c.record(ch.Path, s, real, filestat.Of(c.inCopy(ch.Path)))
	return c.keepBase(ch.Path, e)
}

// drop removes from the copy what the workspace no longer holds.
func (c *Copy) drop(p string) error {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := c.write(record{path: p}); err != nil {
		return err
	}
	if c.t.entries[p].Mode.IsDir() && filestat.Of(c.inReal(p)).Mode.IsDir() {
		c.forget(p)
		return nil
	}
	if err := root.Remove(c.name(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.forget(p)
	for dir := path.Dir(p); dir != "." && !filestat.Of(c.inReal(dir)).Mode.IsDir(); dir = path.Dir(dir) {
		if root.Remove(c.name(dir)) != nil {
			break // the agent has put something into it
		}
	}
	return nil
}

func (c *Copy) forget(p string) {
	if _, ok := c.t.entries[p]; ok {
		delete(c.t.entries, p)
		c.changed = true
	}
}

// name returns a path of the workspace relative to the copy's own folder.
func (c *Copy) name(p string) string {
	return filepath.Join(c.t.tree, filepath.FromSlash(c.t.prefix), filepath.FromSlash(p))
}

// mkdirsIn creates a folder of the copy and those above it; none of them may be a link.
func (c *Copy) mkdirsIn(root *os.Root, dir string) error {
	at := "."
	for name := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, name)
		switch is := filestat.Of(c.inCopy(at)); {
		case is.Mode.IsDir():
		case is.Exists():
			return &fs.PathError{Op: "mkdir", Path: at, Err: errNotDir}
		default:
			if err := root.Mkdir(c.name(at), filestat.Of(c.inReal(at)).Mode.Perm()|0o700); err != nil {
				return err
			}
		}
	}
	return nil
}
