// Package worktree has the trees in which the present side of files under review lies: the work tree, and the copies in which isolated
// sessions' agents work. A [Tree] reads files there, and says which agent may have made a change. It knows no review, and writes nothing.
package worktree

import (
	"path/filepath"
	"slices"
	"sync/atomic"

	"cursord/agent"
	"cursord/daemon/copytree"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/callfiles"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/overlay"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// A Tree is the work tree, or the copy in which a session's agent works, of whichever kind that is (package apart). Any goroutine may use it,
// except for what its owner sets.
type Tree struct {
	Session string // whose copy it is; "" is the work tree
	Work    string // where the work tree is
	Ledger  attribution.Ledger
	Calls   callfiles.Files
	Starts  snapshot.List // snapshots of the turns that run in it
	docs    *documents.Set

	Unattended atomic.Int32        // turns that run in it and whose processes may write without a call
	Formatters attribution.Sources // the turns that run in it whose agents run programs after edits

	// Set by its owner, the reviewer's goroutine. A turn may read Name and Apart: they do not change while it runs.
	Name     string         // where an agent finds it; "" while a copy has not been opened, or is gone
	Apart    apart.Tree     // the copy; nil while nobody needs it
	Source   diffs.Source   // the agent: the author of changes in a copy while no call is open
	Hearings []*agent.Heard // how much output of the running agents has been processed
}

// Init prepares the tree of a session, or, for "", the work tree. docs has what editors hold unsaved.
func (t *Tree) Init(session, work string, docs *documents.Set) {
	t.Session, t.Work, t.docs = session, work, docs
	t.Calls.Ledger, t.Calls.Absolute, t.Calls.Read = &t.Ledger, t.Absolute, t.Read
	t.Calls.Raw = func(path string) atomicfile.State { return atomicfile.Read(t.Under(path), path) }
	if session == "" {
		t.Name = work
	}
}

// Isolated reports whether the tree is a session's copy.
func (t *Tree) Isolated() bool { return t.Session != "" }

// Under returns the folder below which a path's file lies.
func (t *Tree) Under(path string) string {
	if t.Apart == nil || filepath.IsAbs(path) {
		return t.Name
	}
	return t.Apart.Under(path)
}

// Shows reports whether a path of a copy has no content of its own: what the work tree holds shows there.
func (t *Tree) Shows(path string) bool { return t.Isolated() && t.Under(path) == t.Work }

// Read reads a path. If a link in a copy points into the copy, its target is returned as a path of the work tree.
func (t *Tree) Read(path string) atomicfile.State {
	return t.Translated(atomicfile.Read(t.Under(path), path))
}

// Translated returns a state as people name it: the target of a link is a path of the work tree.
func (t *Tree) Translated(img atomicfile.State) atomicfile.State {
	img.Content = t.TranslatedContent(img.Content)
	return img
}

// TranslatedContent is Translated for a content.
func (t *Tree) TranslatedContent(c diffs.Content) diffs.Content {
	if t.Isolated() {
		c.Target = paths.Rebase(c.Target, t.Name, t.Work)
	}
	return c
}

// Held returns a content as it is stored in the tree: in a copy, links point into the copy and not into the work tree.
func (t *Tree) Held(c diffs.Content) diffs.Content {
	if t.Isolated() {
		c.Target = paths.Rebase(c.Target, t.Work, t.Name)
	}
	return c
}

// UpdateSnapshots notes in the snapshots of running turns that a path's present content is known, so that their scans do not
// report it.
func (t *Tree) UpdateSnapshots(path string, img atomicfile.State) {
	img.Content = t.Held(img.Content)
	for _, s := range t.Starts.All() {
		s.Note(path, filestat.Stat{}, img)
	}
}

// TakenAway is UpdateSnapshots for a file that a person has removed, or moved to where nobody has followed it.
func (t *Tree) TakenAway(path string) {
	for _, s := range t.Starts.All() {
		s.TakenAway(path)
	}
	t.UpdateSnapshots(path, atomicfile.State{})
}

// NoteGone is UpdateSnapshots for a file that is gone. Scans may still find the file under a new name.
func (t *Tree) NoteGone(path string) {
	for _, s := range t.Starts.All() {
		s.NoteGone(path)
	}
}

// StartAt returns the content of a path at the latest running turn's begin, or at a later look; false if it is unknown.
func (t *Tree) StartAt(path string) (diffs.Content, bool) {
	for _, s := range slices.Backward(t.Starts.All()) {
		if s.Useless() != "" {
			continue
		}
		if c, known := s.At(path); known {
			return t.TranslatedContent(c), true
		}
	}
	return diffs.Content{}, false
}

// Others returns the author of changes that no call explains: in a copy, its agent; in the work tree nil, for people.
func (t *Tree) Others() *diffs.Source {
	if !t.Isolated() {
		return nil
	}
	src := t.Source
	return &src
}

// HeldElsewhere reports whether an editor that reports nothing may have a path open.
func (t *Tree) HeldElsewhere(path string) bool { return t.docs.HeldElsewhere(t.Absolute(path)) }

// Typed returns the document in which a person has typed the content of a path; nil if there is none.
func (t *Tree) Typed(path string, now atomicfile.State) *documents.Document {
	return t.docs.Typed(t.Absolute(path), now)
}

// ChangedAt returns the moment, by package clock, at which a path in state now was last changed. For a file that is gone it
// is the last change of its folder, which may be later.
func (t *Tree) ChangedAt(name string, now filestat.Stat) int64 {
	if starts := t.Starts.All(); len(starts) > 0 && !filepath.IsAbs(name) {
		return starts[0].ChangedAt(name, now)
	}
	if now.Exists() {
		return now.Changed()
	}
	if filepath.IsAbs(name) {
		return clock.Now()
	}
	return snapshot.GoneAt(t.Absolute, name)
}

// Root returns the path at which an agent finds the tree: the workspace's, or that of a copy elsewhere.
func (t *Tree) Root() string { return t.Name }

// Enter makes a command start where it finds the tree. It is nil if any process finds it there.
func (t *Tree) Enter() func(*overlay.Command) error {
	if !t.Isolated() {
		return nil
	}
	return t.Apart.Enter
}

// Notes lists the differences between a copy and the work tree that making the copy could not avoid.
func (t *Tree) Notes() []copytree.Note { return t.Apart.Differences() }
