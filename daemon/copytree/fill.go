package copytree

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cursord/daemon/internal/filestat"
)

// make creates the copy in an empty folder. It writes the table last, which makes the folder a copy.
func (c *Copy) make(ctx context.Context, root string) error {
	c.t = &table{root: root}
	g, _ := findGit(ctx, c.guard(), root)
	top := root
	if g.dir != "" {
		top = g.tree
	}
	rel, err := filepath.Rel(top, root)
	if err != nil {
		return err
	}
	c.t = &table{
		root: root, tree: treeName(top), prefix: filepath.ToSlash(rel), include: c.o.Include, entries: map[string]*entry{},
	}
	if err := os.MkdirAll(filepath.Join(c.meta(), unfinished), 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.Path()), 0o700); err != nil {
		return err
	}
	if err := mkdirLike(c.Path(), root); err != nil {
		return err
	}
	s, err := c.scanReal(ctx, g)
	if err != nil {
		return err
	}
	if err := c.fill(ctx, s); err != nil {
		return err
	}
	dirty, err := c.takeGit(ctx, g, s)
	if err != nil {
		return err
	}
	if err := c.keepBases(ctx, dirty); err != nil {
		return err
	}
	if err := c.settle(ctx); err != nil {
		return err
	}
	return c.save()
}

// scanReal lists the real tree, with the files to be included.
func (c *Copy) scanReal(ctx context.Context, g git) (*scan, error) {
	s, err := scanReal(ctx, c.guard(), c.t.root, g, c.o.MaxFiles)
	if err != nil {
		return nil, err
	}
	c.t.repos, c.notes = s.repos, nil
	for _, n := range s.notes {
		c.note(n.Path, n.Text)
	}
	return s, c.include(ctx, s)
}

// notesMax bounds the number of notes.
const notesMax = 200

func (c *Copy) note(p, text string) {
	switch {
	case len(c.notes) < notesMax:
		c.notes = append(c.notes, Note{p, text})
	case len(c.notes) == notesMax:
		c.notes = append(c.notes, Note{".", "there is more of this kind"})
	}
}

// include adds to a listing the ignored files that the options name. It links folders at once.
func (c *Copy) include(ctx context.Context, s *scan) error {
	if len(c.t.include) == 0 {
		return nil
	}
	for dir, g := range s.repos {
		out, err := g.run(ctx, nil, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
		if err != nil {
			return err
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			name, isDir := strings.CutSuffix(name, "/")
			p := path.Join(dir, name)
			switch {
			case name == "" || !c.wanted(p):
			case !isDir:
				if err := s.add(listed{path: p}); err != nil {
					return err
				}
			case c.t.entries[p] == nil:
				if err := c.link(p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *Copy) wanted(p string) bool {
	return slices.ContainsFunc(c.t.include, func(pattern string) bool {
		name := p
		if !strings.Contains(pattern, "/") {
			name = path.Base(p)
		}
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// link links a folder of the copy to the real one.
func (c *Copy) link(p string) error {
	to := c.inCopy(p)
	if filestat.Of(to).Exists() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Symlink(c.inReal(p), to); err != nil {
		return err
	}
	c.note(p, "a link to the real folder")
	c.t.entries[p] = &entry{State: State{Exists: true, Mode: fs.ModeSymlink, Target: c.inReal(p)}, linked: true}
	return nil
}

// fill copies everything that was listed into the empty tree.
func (c *Copy) fill(ctx context.Context, s *scan) error {
	paths := make([]string, 0, len(s.files)+len(s.empty))
	for _, l := range s.files {
		paths = append(paths, l.path)
	}
	paths = append(paths, s.empty...)
	stats, err := lstatAll(ctx, c.t.root, paths)
	if err != nil {
		return err
	}
	var bytes int64
	made := map[string]bool{".": true}
	for i, p := range paths {
		if stats[i].Mode.IsRegular() {
			bytes += stats[i].Size
		}
		if bytes > c.o.MaxBytes {
			return c.o.tooManyBytes()
		}
		if stats[i].Exists() {
			if err := c.mkdirs(path.Dir(p), made); err != nil {
				return err
			}
		}
	}
	type result struct {
		state        State
		real, copied filestat.Stat
		err          error
	}
	results := make([]result, len(paths))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(2*runtime.GOMAXPROCS(0), 8) {
		wg.Go(func() {
			for i := range next {
				r := &results[i]
				to := c.inCopy(paths[i])
				if r.state, r.real, r.err = c.bring(c.inReal(paths[i]), to, i >= len(s.files)); r.err == nil {
					r.copied = filestat.Of(to)
				}
			}
		})
	}
	for i := 0; i < len(paths) && ctx.Err() == nil; i++ {
		if stats[i].Exists() {
			next <- i
		}
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, r := range results {
		switch {
		case writeFailed(r.err):
			return r.err
		case r.err != nil:
			c.note(paths[i], "left out: "+cause(r.err))
		case r.state.Exists:
			if r.state.Mode&fs.ModeSymlink != 0 && leaves(c.t.root, paths[i], r.state.Target) {
				c.note(paths[i], "a link that leads outside: the same in both trees")
			}
			e := c.record(paths[i], r.state, r.real, r.copied)
			if i < len(s.files) {
				e.oid = s.files[i].oid
			}
		}
	}
	return nil
}

// mkdirs creates a folder of the copy and those above it, with the permissions of the real tree.
func (c *Copy) mkdirs(dir string, made map[string]bool) error {
	if made[dir] {
		return nil
	}
	if err := c.mkdirs(path.Dir(dir), made); err != nil {
		return err
	}
	made[dir] = true
	return mkdirLike(c.inCopy(dir), c.inReal(dir))
}

// mkdirLike creates a folder with the permissions of another; its owner can always write to it.
func mkdirLike(dir, like string) error {
	perm := filestat.Of(like).Mode.Perm() | 0o700
	if err := os.Mkdir(dir, perm); err != nil && !(errors.Is(err, fs.ErrExist) && filestat.Of(dir).Mode.IsDir()) {
		return err
	}
	return nil
}

// A writeError says that the copy could not be written. It ends the copying, unlike a file that cannot be read.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

func writeFailed(err error) bool {
	var w writeError
	return errors.As(err, &w)
}

// bring copies what is at from to the free path to; if folder is set, it creates a folder. It returns the new state, and its
// stat (zero if that is racy). If there is nothing at from, it creates nothing.
func (c *Copy) bring(from, to string, folder bool) (State, filestat.Stat, error) {
	for try := 0; ; try++ {
		moment := now()
		before := filestat.Of(from)
		s, err := c.bringOnce(from, to, before, folder)
		after := filestat.Of(from)
		if err != nil || before == after || try == 3 {
			if after != before || after.Racy(moment) {
				after = filestat.Stat{}
			}
			return s, after, err
		}
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, filestat.Stat{}, writeError{err}
		}
	}
}

func (c *Copy) bringOnce(from, to string, st filestat.Stat, folder bool) (State, error) {
	s := State{Exists: true, Mode: st.Mode}
	switch {
	case !st.Exists() || st.Mode.IsDir() && !folder:
		return State{}, nil
	case st.Mode.IsDir():
		return s, wrote(mkdirLike(to, from))
	case st.Mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return s, err
		}
		s.Target = target
		return s, wrote(os.Symlink(moved(target, c.t.root, c.Path()), to))
	case !st.Mode.IsRegular():
		return s, errOdd
	}
	f, err := openFile(from)
	if err != nil {
		return s, err
	}
	defer f.Close()
	s.Size = st.Size
	if err := c.copyFile(&s, f, to); err != nil {
		os.Remove(to)
		return s, err
	}
	if filestat.Of(to).Mode.Perm() != st.Mode.Perm() { // the mode lacks what the umask removes
		if err := os.Chmod(to, st.Mode.Perm()); err != nil {
			return s, writeError{err}
		}
	}
	t := time.Unix(0, st.Mtime)
	return s, wrote(os.Chtimes(to, t, t))
}

// copyFile copies a content, or shares its blocks, and notes its size and hash.
func (c *Copy) copyFile(s *State, f *os.File, to string) error {
	if !c.plain.Load() && s.Size > 0 {
		err := reflink(f, to)
		if err == nil {
			shared, err := os.Open(to)
			if err != nil {
				return writeError{err}
			}
			defer shared.Close()
			return s.read(shared, io.Discard)
		}
		c.plain.Store(true)
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return writeError{err}
		}
	}
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(s.Mode.Perm(), 0o600))
	if err != nil {
		return writeError{err}
	}
	err = s.read(f, target{w})
	if e := w.Close(); err == nil {
		err = wrote(e)
	}
	return err
}

// A target marks errors of writing, in contrast to those of reading.
type target struct{ f *os.File }

func (t target) Write(p []byte) (int, error) {
	n, err := t.f.Write(p)
	return n, wrote(err)
}

func wrote(err error) error {
	if err == nil {
		return nil
	}
	return writeError{err}
}

// record notes what both sides now hold, and their stats.
func (c *Copy) record(p string, s State, real, copied filestat.Stat) *entry {
	if copied.Slack() != filestat.RacyTime {
		copied = filestat.Stat{} // waiting until a later write has another time would take too long
	}
	c.settled = max(c.settled, copied.Changed()+int64(copied.Slack()))
	e := &entry{State: s, real: real, copied: copied}
	c.t.entries[p], c.changed = e, true
	return e
}

// settle waits until files that are written to the copy from now on have other times than those written before.
func (c *Copy) settle(ctx context.Context) error {
	wait := time.Duration(c.settled - now() + 1)
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(min(wait, 2*filestat.RacyTime))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
