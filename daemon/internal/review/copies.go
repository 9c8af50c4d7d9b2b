package review

import (
	"context"
	"fmt"
	"slices"

	"cursord/daemon/copytree"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/toolcalls"
	"cursord/diffs"
	"cursord/sessions"
)

// This file is the part of the reviewer that works with sessions' copies of the workspace.

// treeOf returns the tree of a session's copy, or, for "", the work tree.
func (r *Reviewer) treeOf(session string) *Worktree {
	for _, t := range r.trees {
		if t.Session == session {
			return t
		}
	}
	t := r.newWorktree(session)
	t.Source = diffs.Source{SessionID: session, Via: diffs.ViaTool}
	if last, err := r.setup.Store.LastTurn(session); err == nil {
		t.Source.TurnID = last.ID
	}
	r.trees = append(r.trees, t)
	return t
}

// open opens a copy, so that its files can be read.
func (r *Reviewer) open(t *Worktree) error {
	if !t.Isolated() || t.Apart != nil {
		return nil
	}
	c, err := apart.Open(r.PlacesOf(t.Session))
	if err != nil {
		return err
	}
	t.Apart, t.Name = c, c.Name()
	return nil
}

// refreshCopy is refresh for a file in a copy. A difference in the copy is the agent's, because nobody else works there. A
// difference in the work tree is a person's, and is written to the copy. If wait is true and the difference may be half a
// save, a later look takes it in.
func (r *Reviewer) refreshCopy(f *file, wait bool) (s sides, err error) {
	if err := r.open(f.tree); err != nil {
		return s, r.withoutCopy(f, err)
	}
	for try := 0; ; try++ {
		s.here = f.tree.Read(f.path)
		unknown := f.tree.Ledger.Pending(f.path)
		if unknown {
			r.deferred[f], s.here = true, atomicfile.State{Content: f.Review.Current()}
		}
		if !f.tree.Apart.Valid() {
			if f.tree.turns == 0 {
				f.tree.Apart, f.tree.Name = nil, ""
			}
			return s, r.withoutCopy(f, copytree.ErrNotACopy)
		}
		s.path, s.real = f.realPath(), atomicfile.State{}
		if f.claimed() == nil {
			s.real = r.readSaved(f)
			if s.real.Unreadable == "" && !s.real.Exists && r.movedThere(f) {
				s.path, s.real = f.realPath(), r.readSaved(f)
			}
		}
		then, planned := r.ahead.at(s.path)
		if planned {
			s.real = then
		}
		if s.path == f.path && f.claimed() == nil && !unknown && !planned && f.tree.Shows(f.path) {
			s.here = s.real // both were read from one file, which may have changed in between
		}
		for _, img := range []atomicfile.State{s.here, s.real} {
			if img.Unreadable != "" {
				return s, r.unreadable(f, img)
			}
		}
		moved := !s.real.Same(atomicfile.State{Content: f.Review.Baseline()})
		if !moved || !s.here.Same(s.real) || !f.brought() {
			if moved && s.here.Same(s.real) && !r.takeSave(f, s.real) {
				f.Review.ObserveBaseline(s.real.Content) // a person made the same change, or the copy has taken it over
			}
			r.observeCopy(f, s.here)
		}
		if s.real.Same(atomicfile.State{Content: f.Review.Baseline()}) {
			break
		}
		if f.tree.Ledger.Writing(f.path) {
			r.deferred[f] = true // if two write at once, lines are lost
			break
		}
		undo := f.keep()
		if planned {
			s.unplan = undo
			f.Review.ObserveBaseline(s.real.Content)
			s.brings = r.changeHere(f, s)
			s.here = atomicfile.State{Content: f.Review.Current()}
			break
		}
		if !r.takeSave(f, s.real) {
			saving := r.takePersons(f, s.real, s.path)
			if saving != attribution.NotSaving && wait {
				undo()
				r.lookLater(f)
				break
			}
			if saving == attribution.HalfSaved {
				undo()
				return s, r.unreadable(f, atomicfile.State{Unreadable: "it is just being saved, or was cut off"})
			}
		}
		if err = r.writeCopy(f, &s); err == nil {
			break
		}
		if undo(); try == 2 {
			return s, err
		}
	}
	f.tookOver = false
	r.syncBuffers(f)
	return s, nil
}

// brought reports whether the work tree has brought its content to a path of a copy that has none of its own. Then it is not what the
// agent has made of the file, and the agent's changes may be about to return.
func (f *file) brought() bool {
	return f.Review.Follows() && (f.tookOver || f.tree.turns == 0 || f.tree.Shows(f.path))
}

// movedThere takes in a person's move in the work tree that the agent has made in its copy too. It returns false if there is
// none.
func (r *Reviewer) movedThere(f *file) bool {
	if f.movedFrom() == "" {
		return false
	}
	if there := atomicfile.Read(r.setup.Root, f.path); there.Unreadable != "" || !there.Exists {
		return false
	}
	return f.Review.Rename(f.path, f.path, nil)
}

func (r *Reviewer) withoutCopy(f *file, err error) error {
	return r.conflictHint(f, fmt.Sprintf("the copy with the changes of %s cannot be used: %v", f.path, err), "delete the session, or start a turn in it")
}

// observeCopy takes in the present content of a file in a copy.
func (r *Reviewer) observeCopy(f *file, here atomicfile.State) {
	if here.Same(atomicfile.State{Content: f.Review.Current()}) {
		return
	}
	by := f.tree.Writer(f.path) // a call may have made the change and ended
	f.vanished = nil
	if !here.Exists {
		f.vanished = f.Review.Copy()
	}
	f.tree.made.Note(f.tree.place(f.path), "", f.Review.Current(), here.Content, by)
	f.Review.Observe(here.Content, by)
	f.gone = f.Review.Rev()
	f.tree.UpdateSnapshots(f.path, here)
}

// writeCopy writes the review's content to the copy.
func (r *Reviewer) writeCopy(f *file, s *sides) error {
	to := f.path
	if p := f.Review.Path(); p != "" {
		to = p
	}
	c := r.changeIn(f.tree, f, f.path, to, s.here, f.Review.Current())
	if err := r.write(f, c); err != nil {
		return err
	}
	s.here = atomicfile.State{Content: f.Review.Current()}
	r.markKnown(f, s.path)
	return nil
}

// follow brings people's later changes into the copies of files that an agent has just written.
func (t *Turn) follow(files []toolcalls.Written) {
	var list []*file
	for _, wr := range files {
		if f := t.worktree(wr.Tree).files[wr.Path]; f != nil && wr.Tree.Isolated() {
			list = append(list, f)
		}
	}
	t.r.refreshAll(list)
}

// markKnown records in the copy that the review has the work tree's present content at a file's paths.
func (r *Reviewer) markKnown(f *file, paths ...string) {
	if r.open(f.tree) != nil {
		return // the copy is gone, and its reviews will be dropped
	}
	paths = append(paths, f.path, f.realPath())
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if err := f.tree.Apart.TookIn(p); err != nil {
			r.setup.Log.Warn("a copy could not note a path", "path", p, "err", err)
		}
	}
}

// lags reports whether a file of the work tree has changed while its copy cannot follow, because the agent is writing the
// copy.
func (r *Reviewer) lags(f *file) bool {
	if !f.tree.Isolated() || !f.tree.Ledger.Writing(f.path) || r.load(f) != nil {
		return false
	}
	return !atomicfile.Read(r.setup.Root, f.realPath()).Same(atomicfile.State{Content: f.Review.Baseline()})
}

func (r *Reviewer) refreshLate() {
	var files []*file
	for f := range r.deferred {
		if !f.tree.Ledger.Writing(f.path) {
			files = append(files, f)
			r.affected[f] = true
			delete(r.deferred, f)
		}
	}
	r.refreshAll(files)
}

// takenOver returns the content that a path of a copy had before the agent's first change. known is false for paths of the
// work tree.
func (r *Reviewer) takenOver(t *Worktree, path string) (_ diffs.Content, known bool) {
	if !t.Isolated() || r.open(t) != nil {
		return diffs.Content{}, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	return t.Apart.Base(ctx, path)
}

// drop ends the reviews of a copy that is gone or about to be removed.
func (r *Reviewer) drop(t *Worktree) {
	for path, f := range t.files {
		r.ops = append(r.ops, sessions.DropReview{Path: path, Session: t.Session})
		r.vacated[path], r.viewed[path], r.rewatch = true, true, true
		delete(r.deferred, f)
		delete(r.affected, f)
		r.ops = append(r.ops, r.log.WithoutEverywhere(f.decidedIn)...)
	}
	r.trees = slices.DeleteFunc(r.trees, func(other *Worktree) bool { return other == t })
	r.save()
	r.waiting.Retry()
}

// dropSession is drop for a session that may have no copy.
func (r *Reviewer) dropSession(session string) {
	for _, t := range r.trees[1:] {
		if t.Session == session && t.turns == 0 {
			r.drop(t)
			return
		}
	}
}

// dropLost drops the reviews of copies that are gone.
func (r *Reviewer) dropLost() {
	for _, t := range slices.Clone(r.trees[1:]) {
		_, err := r.setup.Store.Session(t.Session)
		if err == nil {
			err = r.open(t)
		}
		if err != nil {
			r.lost(t, err)
		}
	}
}

// lost is drop for a copy that is gone unexpectedly.
func (r *Reviewer) lost(t *Worktree, err error) {
	r.setup.Log.Warn("a session's copy is gone, and what was to be reviewed in it", "session", t.Session, "files", len(t.files), "err", err)
	r.drop(t)
}

// PlacesOf says where the copy of a session is, or would be. Any goroutine may call it.
func (r *Reviewer) PlacesOf(session string) apart.Places {
	o := r.setup.Copy
	o.Git = r.setup.Git
	return apart.Places{Root: r.setup.Root, Dir: copytree.Dir(r.setup.StateDir, session), State: r.setup.StateDir, Copy: o, Overlays: r.setup.Overlays, Owners: r.owners}
}

// take begins to take the snapshot of a turn's tree. If only the agent's changes differ from the work tree, it is one of that.
func (r *Reviewer) take(in *Worktree, turn string) (s *snapshot.Snapshot, stop func()) {
	if in.Isolated() && in.Apart.Shift() != nil {
		return r.shared().Starts.Take(in.Work, r.setup.Killed.Dir, "", r.setup.Git, false, in.Apart.Shift())
	}
	return in.Starts.Take(in.Name, r.setup.Killed.Dir, turn, r.guardOf(in), in.Isolated(), nil)
}
