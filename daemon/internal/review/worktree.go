package review

import (
	"path/filepath"
	"slices"
	"sync/atomic"

	"cursord/agent"
	"cursord/daemon/copytree"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/callchanges"
	"cursord/daemon/internal/callfiles"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/overlay"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// A Worktree has the present side of files under review: it is the work tree, or the copy in which a session's agent works, of whichever
// kind that is (package apart). The baseline of a file in a copy is in the work tree: people change it there, and an accept writes it.
type Worktree struct {
	session string // whose copy it is; "" is the work tree
	work    string // where the work tree is
	ledger  attribution.Ledger
	docs    *documents.Set
	calls   callfiles.Files
	made    *callchanges.Log
	closed  func() // called when a call has ended that names files; must not block

	// Owned by the reviewer's goroutine. A turn may read name and apart: they do not change while it runs.
	name     string           // where an agent finds it; "" while a copy has not been opened, or is gone
	files    map[string]*file // by path
	apart    apart.Tree       // the copy; nil while nobody needs it
	busy     bool             // it is being made or brought up to date; nobody else may write it
	turns    int              // number of turns that run in it
	source   diffs.Source     // the agent: the author of changes in a copy while no call is open
	starts   snapshot.List    // snapshots of the turns that run in it; any goroutine may read them
	hearings []*agent.Heard   // how much output of the running agents has been processed

	unattended atomic.Int32 // turns that run in it and whose processes may write without a call

	formatters attribution.Sources // the turns that run in it whose agents run programs after edits; any goroutine may read them
}

func (t *Worktree) isolated() bool { return t.session != "" }

func (r *Reviewer) newWorktree(session string) *Worktree {
	t := &Worktree{session: session, work: r.setup.Root, docs: r.setup.Documents, files: map[string]*file{}, made: &r.made, closed: r.windowClosed}
	t.calls.Ledger, t.calls.Absolute, t.calls.Read = &t.ledger, t.absolute, t.read
	t.calls.Raw = func(path string) atomicfile.State { return atomicfile.Read(t.under(path), path) }
	if session == "" {
		t.name = t.work
	}
	return t
}

// place is a path of the tree for the log of what calls have changed.
func (t *Worktree) place(path string) callchanges.Place {
	return callchanges.Place{Session: t.session, Path: path}
}

// under returns the folder below which a path's file lies.
func (t *Worktree) under(path string) string {
	if t.apart == nil || filepath.IsAbs(path) {
		return t.name
	}
	return t.apart.Under(path)
}

// shows reports whether a path of a copy has no content of its own: what the work tree holds shows there.
func (t *Worktree) shows(path string) bool { return t.isolated() && t.under(path) == t.work }

// read reads a path. If a link in a copy points into the copy, its target is returned as a path of the work tree.
func (t *Worktree) read(path string) atomicfile.State {
	return t.translated(atomicfile.Read(t.under(path), path))
}

func (t *Worktree) translated(img atomicfile.State) atomicfile.State {
	img.Content = t.translatedContent(img.Content)
	return img
}

func (t *Worktree) translatedContent(c diffs.Content) diffs.Content {
	if t.isolated() {
		c.Target = paths.Rebase(c.Target, t.name, t.work)
	}
	return c
}

// held returns a content as it is stored in the tree: in a copy, links point into the copy and not into the work tree.
func (t *Worktree) held(c diffs.Content) diffs.Content {
	if t.isolated() {
		c.Target = paths.Rebase(c.Target, t.work, t.name)
	}
	return c
}

// updateSnapshots notes in the snapshots of running turns that a path's present content is known, so that their scans do not
// report it.
func (t *Worktree) updateSnapshots(path string, img atomicfile.State) {
	img.Content = t.held(img.Content)
	for _, s := range t.starts.All() {
		s.Note(path, filestat.Stat{}, img)
	}
}

// goneAll is updateSnapshots for a file that is gone. Scans may still find the file under a new name.
func (t *Worktree) goneAll(path string) {
	for _, s := range t.starts.All() {
		s.NoteGone(path)
	}
}

// startAt returns the content of a path at the latest running turn's begin, or at a later look; false if it is unknown.
func (t *Worktree) startAt(path string) (diffs.Content, bool) {
	for _, s := range slices.Backward(t.starts.All()) {
		if s.Useless() != "" {
			continue
		}
		if c, known := s.At(path); known {
			return t.translatedContent(c), true
		}
	}
	return diffs.Content{}, false
}

// others returns the author of changes that no call explains: in a copy, its agent; in the work tree nil, for people.
func (t *Worktree) others() *diffs.Source {
	if !t.isolated() {
		return nil
	}
	src := t.source
	return &src
}

// realPath returns the path that a file with a loaded review has in the work tree. A file in a copy may have moved.
func (f *file) realPath() string {
	if f.tree.isolated() && f.Review != nil {
		if old := f.Review.OldPath(); old != "" {
			return old
		}
	}
	return f.path
}

// movedFrom returns the path in the work tree of a file that its agent has moved in the copy; "" if the file has not moved.
func (f *file) movedFrom() string {
	if f.tree.isolated() && f.Review != nil {
		return f.Review.OldPath()
	}
	return ""
}

// absolute returns the absolute path of a file in the work tree.
func (r *Reviewer) absolute(f *file) string {
	if f.outside() {
		return f.path
	}
	return filepath.Join(r.setup.Root, filepath.FromSlash(f.realPath()))
}

// at lists the files that have a path, the work tree's first.
func (r *Reviewer) at(path string) (files []*file) {
	for _, t := range r.trees {
		if f := t.files[path]; f != nil {
			files = append(files, f)
		}
	}
	return files
}

// shared returns the work tree.
func (r *Reviewer) shared() *Worktree { return r.trees[0] }

// claimed returns another file of the copy that its agent has moved away from the path of f; nil if there is none. Until the
// move is decided, the work tree's content at that path belongs to the other file.
func (f *file) claimed() *file {
	if !f.tree.isolated() {
		return nil
	}
	for _, other := range f.tree.files {
		if other != f && other.Review != nil && other.Review.OldPath() == f.path {
			return other
		}
	}
	return nil
}

// changedAt returns the moment, by package clock, at which a path in state now was last changed. For a file that is gone it
// is the last change of its folder, which may be later.
func (t *Worktree) changedAt(name string, now filestat.Stat) int64 {
	if starts := t.starts.All(); len(starts) > 0 && !filepath.IsAbs(name) {
		return starts[0].ChangedAt(name, now)
	}
	if now.Exists() {
		return now.Changed()
	}
	if filepath.IsAbs(name) {
		return clock.Now()
	}
	return snapshot.GoneAt(t.absolute, name)
}

// guardOf returns the guard that opens the repositories in a tree.
func (r *Reviewer) guardOf(t *Worktree) *askgit.Guard {
	if t.name == t.work {
		return r.setup.Git
	}
	return r.setup.Git.InCopy(r.setup.Root, t.name)
}

// Root returns the path at which an agent finds the tree: the workspace's, or that of a copy elsewhere.
func (t *Worktree) Root() string { return t.name }

// Enter makes a command start where it finds the tree. It is nil if any process finds it there.
func (t *Worktree) Enter() func(*overlay.Command) error {
	if !t.isolated() {
		return nil
	}
	return t.apart.Enter
}

// Notes lists the differences between a copy and the work tree that making the copy could not avoid.
func (t *Worktree) Notes() []copytree.Note { return t.apart.Differences() }

// WorkTree returns the tree of the workspace itself.
func (r *Reviewer) WorkTree() *Worktree { return r.shared() }
