// Package apart has the trees of isolated sessions: where a session's agent works while the work tree stays as it is.
//
// Where the system has overlay file systems for everybody (package overlay), the agent finds its tree at the workspace's own path.
// Between turns nothing is mounted: what the agent has changed lies in a folder of the session, the upper folder, and everything else is
// the work tree's. Elsewhere, the tree is a copy (package copytree). A session keeps the kind of tree that it began with.
//
// In both kinds a path is either the agent's, with a content of its own, or shows what the work tree holds. In a copy this is brought
// when a turn begins. In an overlay it shows by itself, also while the agent works, but a file that the agent has looked at may go on
// showing what it was then. So the base of an agent's change is what the work tree held when the turn began, and people's later changes
// are merged into it.
package apart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cursord/daemon/copytree"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/overlay"
	"cursord/diffs"
)

// A Tree is where an isolated session's agent works. Paths are of the workspace, with slashes. Any goroutine may call its methods;
// a Begin and its End embrace each turn.
type Tree interface {
	// Name returns the path at which the agent finds the tree.
	Name() string
	// Kind returns copytree.KindCopy or copytree.KindOverlay.
	Kind() string
	// Under returns the folder below which a path's file lies, if the path has one. For a path that shows what the work tree
	// holds it may be the work tree.
	Under(path string) string
	// Open opens the tree for writing; fault is as in atomicfile.Open.
	Open(fault func(atomicfile.Step) error) (atomicfile.Root, error)
	// Valid reports whether the tree still exists; otherwise its contents mean nothing.
	Valid() bool
	// Base returns the content that a path had before the agent's first change that is not decided, as far as it is known. It is for
	// changes that nobody has seen being made.
	Base(ctx context.Context, path string) (_ diffs.Content, known bool)
	// TookIn tells the tree that the work tree's present content of a path is taken in.
	TookIn(path string) error
	// Hold lets a path that shows what the work tree holds become the agent's, with its present content, because the work tree's is about
	// to be written. It returns what is to be called afterwards.
	Hold(paths ...string) (written func(), err error)
	// Begin makes the tree ready for a turn. It returns those of the known paths of which the work tree's content has changed since the
	// last turn began, as far as can be told; perhaps others, too.
	Begin(ctx context.Context, known []string) (changed []string, err error)
	// Begun tells the tree that what Begin and Changed have returned is taken in.
	Begun() error
	// End ends a turn's use of the tree.
	End()
	// Changed lists the files that are the agent's, by path, and tells how many more there are that only ignore files of the agent's
	// hide. Ignored files and those of git's folders are not among them.
	Changed(ctx context.Context) (paths []string, hidden int, err error)
	// Shift returns what scans of the work tree have to know to find the agent's changes; nil if they look at the tree as it is.
	Shift() *snapshot.Shift
	// Enter makes a command, which has not been started, start in the tree, in a folder that its Dir names.
	Enter(cmd *overlay.Command) error
	// Differences lists where the tree could not be made like the work tree.
	Differences() []copytree.Note
}

// Places say where a session's tree is, and how it is made.
type Places struct {
	Root     string // the workspace
	Dir      string // the session's folder
	State    string // the daemon's folder, which has Dir; agents in overlays see nothing of it but its images
	Copy     copytree.Options
	Overlays func(ctx context.Context) error // returns why the system has no overlays; nil: it has
	Owners   *Owners                         // what is known of the workspace's files; nil: nothing
}

// Open opens the tree of a session. It returns copytree.ErrNotACopy if there is none, and otherwise the errors of copytree.Open.
func Open(p Places) (Tree, error) {
	if t, err := openOverlaid(p); t != nil || err != nil {
		return t, err
	}
	c, err := copytree.Open(p.Dir, p.Copy)
	if err == nil && c.Root() != p.Root {
		err = fmt.Errorf("%w: %s", copytree.ErrOtherRoot, c.Root())
	}
	if err != nil {
		return nil, err
	}
	return copied{c}, nil
}

// Make makes the tree of a session that has none: on an overlay where that is possible, otherwise a copy.
func Make(ctx context.Context, p Places) (Tree, error) {
	t, why := makeOverlaid(ctx, p)
	if why == nil {
		return t, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c, err := copytree.Make(ctx, p.Root, p.Dir, p.Copy)
	if errors.Is(err, copytree.ErrDamaged) || errors.Is(err, copytree.ErrOtherRoot) {
		// No file in it is under review, and none can be.
		if err = overlay.RemoveAll(p.Dir); err == nil {
			c, err = copytree.Make(ctx, p.Root, p.Dir, p.Copy)
		}
	}
	if err != nil {
		return nil, err
	}
	if errors.Is(why, ErrByConfiguration) {
		return copied{c}, nil // nobody asked for an overlay
	}
	return copied{c}, c.Explain(why.Error())
}

// copied is a tree that is a copy.
type copied struct{ *copytree.Copy }

func (c copied) Name() string                 { return c.Path() }
func (c copied) Kind() string                 { return copytree.KindCopy }
func (c copied) Under(string) string          { return c.Path() }
func (c copied) Begun() error                 { return nil }
func (c copied) End()                         {}
func (c copied) Shift() *snapshot.Shift       { return nil }
func (c copied) Enter(*overlay.Command) error { return nil }

func (c copied) Open(fault func(atomicfile.Step) error) (atomicfile.Root, error) {
	return atomicfile.Open(c.Path(), fault)
}

func (c copied) Hold(...string) (func(), error) { return func() {}, nil }

func (c copied) Base(ctx context.Context, path string) (diffs.Content, bool) {
	state, taken := c.Taken(path)
	switch {
	case !taken || !state.Exists:
		return diffs.Content{}, true
	case state.Target != "":
		return diffs.Content{Exists: true, Target: state.Target}, true
	}
	if data, err := c.Copy.Base(ctx, path); err == nil {
		return atomicfile.ContentOf(state.Mode, data), true
	}
	img := atomicfile.Read(c.Root(), path) // any content will do: an accept writes the difference from it
	return img.Content, img.Unreadable == ""
}

func (c copied) Begin(ctx context.Context, _ []string) (changed []string, err error) {
	list, err := c.TakeOver(ctx)
	for _, ch := range list {
		changed = append(changed, ch.Path)
	}
	return changed, err
}

func (c copied) Changed(ctx context.Context) (paths []string, hidden int, err error) {
	list, err := c.Copy.Changed(ctx)
	for _, ch := range list {
		paths = append(paths, ch.Path)
	}
	return paths, 0, err
}

// guard returns the guard that opens the workspace's repositories.
func (p Places) guard() *askgit.Guard {
	if p.Copy.Git != nil {
		return p.Copy.Git
	}
	return &askgit.Guard{Home: filepath.Join(p.Dir, "git"), Root: p.Root}
}

// lookFor returns what is at a path, without following a link; nil if nothing is.
func lookFor(full string) os.FileInfo {
	if info, err := os.Lstat(full); err == nil {
		return info
	}
	return nil
}
