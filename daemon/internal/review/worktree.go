package review

import (
	"path/filepath"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/callchanges"
	"cursord/daemon/internal/worktree"
)

// A Worktree has the present side of files under review. The baseline of a file in a copy is in the work tree: people change it there, and
// an accept writes it.
type Worktree struct {
	worktree.Tree

	// Owned by the reviewer's goroutine.
	files map[string]*file // by path
	busy  bool             // it is being made or brought up to date; nobody else may write it
	turns int              // number of turns that run in it

	made *callchanges.Log
}

func (r *Reviewer) newWorktree(session string) *Worktree {
	t := &Worktree{files: map[string]*file{}, made: &r.made}
	t.Init(session, r.setup.Root, r.setup.Documents)
	return t
}

// place is a path of the tree for the log of what calls have changed.
func (t *Worktree) place(path string) callchanges.Place {
	return callchanges.Place{Session: t.Session, Path: path}
}

// realPath returns the path that a file with a loaded review has in the work tree. A file in a copy may have moved.
func (f *file) realPath() string {
	if f.tree.Isolated() && f.Review != nil {
		if old := f.Review.OldPath(); old != "" {
			return old
		}
	}
	return f.path
}

// movedFrom returns the path in the work tree of a file that its agent has moved in the copy; "" if the file has not moved.
func (f *file) movedFrom() string {
	if f.tree.Isolated() && f.Review != nil {
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
	if !f.tree.Isolated() {
		return nil
	}
	for _, other := range f.tree.files {
		if other != f && other.Review != nil && other.Review.OldPath() == f.path {
			return other
		}
	}
	return nil
}

// guardOf returns the guard that opens the repositories in a tree.
func (r *Reviewer) guardOf(t *Worktree) *askgit.Guard {
	if t.Name == t.Work {
		return r.setup.Git
	}
	return r.setup.Git.InCopy(r.setup.Root, t.Name)
}

// WorkTree returns the tree of the workspace itself.
func (r *Reviewer) WorkTree() *Worktree { return r.shared() }
