// Package copytree keeps a second tree of a workspace, in which an agent works while the first one stays unchanged.
//
// If the workspace lies in a git repository, the copy is a repository of its own: it borrows the objects and has the HEAD,
// refs and index of the original, so that git status says the same in both. It has no remotes, no upstreams and no hooks.
// Nothing is ever written into the original's .git. Files are copied byte for byte, without git's filters, and share their
// blocks if the file system can do that. Copied are all files that git tracks, and those that it neither tracks nor ignores.
// Ignored files stay behind, except for those that Options.Include names. Submodules and nested repositories become plain
// folders. If the workspace is a folder of a larger repository, only that folder is copied, and the rest is marked as not
// checked out. Without git, everything is copied.
//
// A copy has a folder of its own, with the tree and, beside it, a table of what was taken over. Each path has three states:
// what the real tree holds, what the copy holds, and what was last taken over. TakeOver brings changes of the real tree into
// the copy, Changed lists the copy's own changes, and Note says that a path is settled.
package copytree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

var (
	// ErrTooLarge is returned when a workspace has more files or bytes than Options allow.
	ErrTooLarge = errors.New("the workspace is too large to be copied")
	// ErrTooWide is returned for the root of a file system, and for a folder that is or contains the home directory.
	ErrTooWide = errors.New("the workspace cannot be copied")
	// ErrNotACopy is returned when a folder holds no copy, or one that was never finished.
	ErrNotACopy = errors.New("there is no copy of a workspace")
	// ErrDamaged is returned when the table of a copy cannot be read; the copy must be removed.
	ErrDamaged = errors.New("the copy is damaged")
	// ErrOtherRoot is returned by Make when the folder holds the copy of another workspace.
	ErrOtherRoot = errors.New("this is the copy of another workspace")
)

// Options say what is copied.
type Options struct {
	// Include names files and folders that are brought although git ignores them, by patterns as of path.Match. A pattern
	// matches the name alone or, if it has a slash, the path from the workspace: ".env", "web/node_modules". Files are
	// copied. Folders are linked: writing into one writes into the real tree.
	Include  []string
	MaxFiles int   // 0: 200,000
	MaxBytes int64 // 0: 8 GiB
	// Git opens the workspace's repositories; nil: nothing counts that they name.
	Git *askgit.Guard
}

const (
	metaName    = ".copytree" // beside the tree: the table, the journal, contents and unfinished files
	tableName   = "table"
	journalName = "journal"
	unfinished  = "unfinished"
	whyName     = "why"
)

// A Copy is a second tree of a workspace. It does one thing at a time; any goroutine may call its methods. No agent may run
// in it during TakeOver.
type Copy struct {
	dir   string
	o     Options
	plain atomic.Bool // the file system cannot share blocks

	mu       sync.Mutex // guards all below
	t        *table
	notes    []Note
	journal  *os.File // nil until something is to be written to it
	changed  bool     // the table was changed since it was saved
	baseSize int64    // total of the stored contents, in bytes
	settled  int64    // from this moment of package clock on, new stats differ from those of files written before
}

// Dir returns the folder of a session's copy in a state directory.
func Dir(stateDir, session string) string { return filepath.Join(stateDir, "copies", session) }

// Make creates the copy of a workspace in dir, or reopens it; an unfinished one is created anew. The tree is in dir, under
// the workspace's name. A reopened copy is unchanged; TakeOver updates it.
func Make(ctx context.Context, root, dir string, o Options) (*Copy, error) {
	root, dir, err := places(root, dir)
	if err != nil {
		return nil, err
	}
	c, err := Open(dir, o)
	if err == nil {
		if c.Root() != root {
			return nil, fmt.Errorf("%s: %w: %s", dir, ErrOtherRoot, c.Root())
		}
		return c, nil
	}
	if !errors.Is(err, ErrNotACopy) {
		return nil, err
	}
	if err := removeAll(dir); err != nil {
		return nil, err
	}
	c = &Copy{dir: dir, o: o.bounds()}
	if err := c.make(ctx, root); err != nil {
		removeAll(dir)
		return nil, err
	}
	return c, nil
}

func (o Options) bounds() Options {
	if o.MaxFiles <= 0 {
		o.MaxFiles = 200_000
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 8 << 30
	}
	o.Include = slices.Clone(o.Include)
	return o
}

func (o Options) tooManyBytes() error {
	return fmt.Errorf("%w: it has more than %d MiB; %s", ErrTooLarge, o.MaxBytes>>20, whatToDo)
}

func (o Options) tooManyFiles() error {
	return fmt.Errorf("%w: it has more than %d files; %s", ErrTooLarge, o.MaxFiles, whatToDo)
}

const whatToDo = "have git ignore what does not belong to the sources, open a folder further down, or work without a " +
	`copy (isolation "none")`

// places resolves and checks the workspace's path and the copy's path.
func places(root, dir string) (string, string, error) {
	root, err := filepath.Abs(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", "", err
	}
	if !filestat.Of(root).Mode.IsDir() {
		return "", "", fmt.Errorf("%s: it is not a folder", root)
	}
	if filepath.Dir(root) == root {
		return "", "", fmt.Errorf("%w: %s is the root of the file system; open a folder further down", ErrTooWide, root)
	}
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		if resolved, err := filepath.EvalSymlinks(home); err == nil {
			home = resolved
		}
		if inside(root, home) {
			return "", "", fmt.Errorf("%w: the home directory is in %s; open a folder further down", ErrTooWide, root)
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", "", err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return "", "", err
	}
	dir = filepath.Join(parent, filepath.Base(dir))
	if inside(root, dir) {
		return "", "", fmt.Errorf("%w: its copies would be in it, at %s", ErrTooWide, dir)
	}
	return root, dir, nil
}

// inside reports whether a path is dir or lies in it.
func inside(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// Open opens the copy in dir. It returns ErrNotACopy if there is none.
func Open(dir string, o Options) (*Copy, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, filepath.Base(dir))
	}
	t, err := readTable(dir, true)
	if err != nil {
		return nil, err
	}
	c := &Copy{dir: dir, o: o.bounds(), t: t}
	if err := c.replay(); err != nil {
		return nil, err
	}
	c.t.include = c.o.Include
	for at, g := range c.t.repos {
		g.guard = c.guard()
		c.t.repos[at] = g
	}
	return c, nil
}

// guard returns the guard that opens the workspace's repositories.
func (c *Copy) guard() *askgit.Guard {
	if c.o.Git != nil {
		return c.o.Git
	}
	return &askgit.Guard{Home: filepath.Join(c.meta(), "git"), Root: c.t.root}
}

// Root returns the workspace.
func (c *Copy) Root() string { return c.t.root }

// Path returns the workspace's path in the copy, where the agent works. It never changes.
func (c *Copy) Path() string { return filepath.Join(c.top(), filepath.FromSlash(c.t.prefix)) }

// Repository returns the folder of the copy's repository. There may be none.
func (c *Copy) Repository() string { return filepath.Join(c.top(), ".git") }

// Differences returns where the copy lacks something or differs from the real tree, as the latest Make or TakeOver found it.
func (c *Copy) Differences() []Note {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notes)
}

// Valid reports whether the copy still exists; otherwise its contents mean nothing. Removing a copy makes it invalid first.
func (c *Copy) Valid() bool { return filestat.Of(filepath.Join(c.meta(), tableName)).Exists() }

// Taken returns what was last taken over at a path, or false.
func (c *Copy) Taken(path string) (State, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.t.entries[path]
	if e == nil || e.linked || e.Mode.IsDir() {
		return State{}, false
	}
	return e.State, true
}

// Remove removes the copy with everything in it.
func (c *Copy) Remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.journal != nil {
		c.journal.Close()
		c.journal = nil
	}
	return remove(c.dir)
}

// remove removes the folder of a copy. It removes the table first: without it, a folder that is only partly removed is no
// copy.
func remove(dir string) error {
	for _, name := range []string{filepath.Join(metaName, tableName), OverlayMark} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return removeAll(dir)
}

func (c *Copy) meta() string { return filepath.Join(c.dir, metaName) }
func (c *Copy) top() string  { return filepath.Join(c.dir, c.t.tree) }

func (c *Copy) inReal(p string) string { return filepath.Join(c.t.root, filepath.FromSlash(p)) }
func (c *Copy) inCopy(p string) string { return filepath.Join(c.Path(), filepath.FromSlash(p)) }

// lookReal returns the state of a path in the workspace. The stat is zero if it is racy.
func (c *Copy) lookReal(p string) (State, filestat.Stat, error) { return lookBelow(c.t.root, p) }

// lookCopy returns the state of a path in the copy, with links in terms of the workspace. The stat is zero if it is racy.
func (c *Copy) lookCopy(p string) (State, filestat.Stat, error) {
	s, st, err := lookBelow(c.Path(), p)
	s.Target = moved(s.Target, c.Path(), c.t.root)
	return s, st, err
}

func lookBelow(base, p string) (State, filestat.Stat, error) {
	if !(realDirs{base: base, known: map[string]bool{".": true}}).has(path.Dir(p)) {
		return State{}, filestat.Stat{}, nil
	}
	moment := now()
	s, st, err := look(filepath.Join(base, filepath.FromSlash(p)))
	if st.Racy(moment) {
		st = filestat.Stat{}
	}
	return s, st, err
}

// removeAll removes a folder, even if folders in it are write-protected.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// treeName returns the name of a workspace's tree in its copy's folder.
func treeName(top string) string {
	name := filepath.Base(top)
	if strings.EqualFold(name, metaName) {
		name += "_"
	}
	return name
}
