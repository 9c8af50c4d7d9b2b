package apart

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cursord/daemon/copytree"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/overlay"
	"cursord/daemon/paths"
)

// Names in the folder of a session. The agent sees nothing of it.
const (
	upperName  = "upper"             // what the agent has changed
	workName   = "work"              // the kernel's
	noneName   = ".overlay/none"     // an empty folder
	turnName   = ".overlay/turn"     // is as old as the begin of the last turn
	nextName   = ".overlay/turn.new" // the same for a turn that is beginning
	rulesName  = ".overlay/rules"    // ignore files of the tree, while git is asked
	recordName = ".overlay/record"   // what the work tree had where the agent has changed it; see hidden.go
	whyName    = copytree.OverlayWhy // why the workspace does not suit an overlay any more
)

// mountTime bounds a mount between turns.
const mountTime = 10 * time.Second

// An overlaid is a tree on an overlay. Only turns and writes mount it.
type overlaid struct {
	root, dir, state string
	guard            *askgit.Guard
	owners           *Owners

	mu      sync.Mutex
	turns   int           // guarded by mu
	mounted *overlay.Tree // guarded by mu; nil while there is no turn, except for a new tree, which waits for its first one
	asking  sync.Mutex    // held while the folder of rules is used
}

func openOverlaid(p Places) (Tree, error) {
	root, err := os.ReadFile(filepath.Join(p.Dir, copytree.OverlayMark))
	switch {
	case errors.Is(err, fs.ErrNotExist) || filestat.NotDirectory(err):
		return nil, nil
	case err != nil:
		return nil, err
	case string(root) != p.Root:
		return nil, fmt.Errorf("%w: %s", copytree.ErrOtherRoot, root)
	}
	return newOverlaid(p)
}

func newOverlaid(p Places) (*overlaid, error) {
	// The kernel wants no links in these paths.
	parent, err := filepath.EvalSymlinks(filepath.Dir(p.Dir))
	if err != nil {
		return nil, err
	}
	state, err := filepath.EvalSymlinks(p.State)
	if err != nil {
		return nil, err
	}
	return &overlaid{root: p.Root, dir: filepath.Join(parent, filepath.Base(p.Dir)), state: state, guard: p.guard(), owners: p.Owners}, nil
}

// mount mounts the tree. Processes in it see nothing of the daemon's folder but its images.
func (o *overlaid) mount(ctx context.Context) (*overlay.Tree, error) {
	l := overlay.Layout{Lower: o.root, Upper: o.in(upperName), Work: o.in(workName), At: o.root, Hide: []string{o.dir}}
	if _, in := paths.Within(o.state, o.root); !in {
		images := filepath.Join(o.state, "images")
		if err := os.MkdirAll(images, 0o700); err != nil {
			return nil, err
		}
		l.Hide, l.Keep = []string{o.state}, []string{images}
	}
	return overlay.Mount(ctx, l)
}

func (o *overlaid) in(name string) string    { return filepath.Join(o.dir, filepath.FromSlash(name)) }
func (o *overlaid) upper(path string) string { return o.in(upperName + "/" + path) }

// lower returns where the work tree has a path. If a link or a file of the work tree is in the way, it returns a path at which nothing is: the
// agent may have a folder there.
func (o *overlaid) lower(path string) string {
	if o.barred(path) {
		return filepath.Join(o.in(noneName), "none")
	}
	return filepath.Join(o.root, filepath.FromSlash(path))
}

// barred reports whether the work tree has a link or a file on the way to a path.
func (o *overlaid) barred(path string) bool {
	for at, c := range path {
		if c != '/' {
			continue
		}
		if is := filestat.Of(filepath.Join(o.root, path[:at])); is.Exists() && !is.Mode.IsDir() {
			return true
		}
	}
	return false
}

func (o *overlaid) Name() string                 { return o.root }
func (o *overlaid) Kind() string                 { return copytree.KindOverlay }
func (o *overlaid) Differences() []copytree.Note { return nil }

func (o *overlaid) Valid() bool { return filestat.Of(o.in(copytree.OverlayMark)).Exists() }

func (o *overlaid) Under(path string) string {
	own := false // a folder on the way shows nothing of the work tree's
	for at := 0; ; {
		next := strings.IndexByte(path[at:], '/')
		name := path
		if next >= 0 {
			name = path[:at+next]
		}
		info := lookFor(o.upper(name))
		switch {
		case info == nil && own, info != nil && overlay.IsWhiteout(info):
			return o.in(noneName)
		case info == nil:
			return o.root
		case next < 0 || !info.IsDir():
			return o.in(upperName)
		}
		if !own {
			own, _ = overlay.IsOpaque(o.upper(name))
		}
		at += next + 1
	}
}

// shows reports whether a path shows what the work tree holds.
func (o *overlaid) shows(path string) bool { return o.Under(path) == o.root }

// tree returns the mounted tree, mounted for the caller alone if no turn runs; release lets go of it.
func (o *overlaid) tree() (t *overlay.Tree, release func(), err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mounted != nil {
		return o.mounted, func() {}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), mountTime)
	defer cancel()
	if t, err = o.mount(ctx); err != nil {
		return nil, nil, err
	}
	return t, func() { t.Close() }, nil
}

// Open returns a folder that keeps the mount until it is closed.
func (o *overlaid) Open(fault func(atomicfile.Step) error) (atomicfile.Root, error) {
	t, release, err := o.tree()
	if err != nil {
		return atomicfile.Root{}, err
	}
	defer release()
	return atomicfile.Open(t.Root(), fault)
}

func (o *overlaid) Begin(ctx context.Context, known []string) (changed []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mounted == nil {
		suited := make(chan error, 1)
		go func() { suited <- suits(ctx, o.root, o.owners) }() // takes as long as a mount
		err := o.ready(ctx)
		if why := <-suited; why != nil && err == nil {
			err = o.unsuited(ctx, why)
		} else if why == nil {
			os.Remove(o.in(whyName))
		}
		if err != nil {
			if o.mounted != nil {
				o.mounted.Close()
				o.mounted = nil
			}
			return nil, err
		}
	}
	o.turns++
	for _, p := range known {
		if o.changedSince(p) {
			changed = append(changed, p)
		}
	}
	return changed, nil
}

// ready settles the tree and mounts it for a turn.
func (o *overlaid) ready(ctx context.Context) error {
	if err := o.settle(ctx); err != nil {
		return err
	}
	// What is changed from now on counts as changed since.
	err := os.WriteFile(o.in(nextName), nil, 0o600)
	if err == nil {
		o.mounted, err = o.mount(ctx)
	}
	if err != nil {
		return fmt.Errorf("the tree of the session cannot be mounted: %w", err)
	}
	return nil
}

// changedSince reports whether the work tree's file of a path may have changed since the last turn began.
func (o *overlaid) changedSince(path string) bool {
	turn, is := filestat.Of(o.in(turnName)), filestat.Of(o.lower(path))
	return !turn.Exists() || !is.Exists() || is.Ctime >= turn.Mtime-int64(is.Slack())
}

func (o *overlaid) Begun() error {
	now := time.Now() // the last use
	os.Chtimes(o.in(copytree.OverlayMark), now, now)
	err := os.Rename(o.in(nextName), o.in(turnName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another turn began it
	}
	return err
}

// TookIn lets a path show what people do there if the agent has the same. While a turn runs, the turn's end does that.
func (o *overlaid) TookIn(path string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mounted != nil {
		return nil
	}
	return o.settleAt(path)
}

func (o *overlaid) End() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turns--; o.turns > 0 {
		return
	}
	o.mounted.Close()
	o.mounted = nil
	ctx, cancel := context.WithTimeout(context.Background(), mountTime)
	defer cancel()
	_ = o.settleFiles(ctx) // the next turn tries again, and tells people why it fails
}

func (o *overlaid) Enter(cmd *overlay.Command) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mounted == nil {
		return fs.ErrClosed
	}
	return o.mounted.Enter(cmd)
}

func (o *overlaid) Hold(paths ...string) (written func(), err error) {
	o.mu.Lock()
	running := o.mounted != nil
	o.mu.Unlock()
	var gone []string // paths that must show nothing afterwards, either
	for _, p := range paths {
		if !o.shows(p) {
			continue
		}
		switch there := filestat.Of(o.lower(p)).Exists(); {
		case there:
			err = o.copyUp(p)
		case running:
			gone = append(gone, p)
		default: // while nothing is mounted, the path can be shut beforehand
			err = o.whiteout(p)
		}
		if err != nil {
			return nil, err
		}
	}
	return func() {
		for _, p := range gone {
			if o.shows(p) {
				o.remove(p)
			}
		}
	}, nil
}

// copyUp makes a path the agent's, with its content.
func (o *overlaid) copyUp(path string) error {
	t, release, err := o.tree()
	if err != nil {
		return err
	}
	defer release()
	root, err := os.OpenRoot(t.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Lchown(filepath.FromSlash(path), -1, -1) // any change of its state does it
}

// remove removes a file that the agent did not have.
func (o *overlaid) remove(path string) {
	t, release, err := o.tree()
	if err != nil {
		return
	}
	defer release()
	if root, err := os.OpenRoot(t.Root()); err == nil {
		root.Remove(filepath.FromSlash(path))
		root.Close()
	}
}

// whiteout makes that a path shows nothing, while nothing is mounted.
func (o *overlaid) whiteout(path string) error {
	upper, err := os.OpenRoot(o.in(upperName))
	if err != nil {
		return err
	}
	defer upper.Close()
	made := ""
	for dir := range strings.SplitSeq(paths.Parent(path), "/") {
		if made = filepath.Join(made, dir); made == "" {
			continue
		}
		mode := fs.FileMode(0o755)
		if info := lookFor(o.lower(made)); info != nil && info.IsDir() {
			mode = info.Mode().Perm()
		}
		if err := upper.Mkdir(made, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := overlay.Whiteout(upper, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
