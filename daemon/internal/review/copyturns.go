package review

import (
	"context"
	"errors"
	"os"
	"time"

	"cursord/daemon/copytree"
	"cursord/daemon/internal/atomicfile"
	"cursord/diffs"
)

// This file prepares a session's copy when a turn begins there, and takes in its changes when the turn ends.

// BeginInCopy makes a session's copy, or brings it up to date with the work tree. Until then nobody else touches it. It runs
// in the turn's goroutine.
func (r *Reviewer) BeginInCopy(ctx context.Context, session, turn string) (t *Worktree, fresh bool, err error) {
	stopped := r.call(func() {
		t = r.treeOf(session)
		t.busy = true
		t.turns++
		t.source = diffs.Source{SessionID: session, TurnID: turn, Via: diffs.ViaTool}
		// A copy that cannot be opened is made anew, and its reviews are dropped.
		if err := r.open(t); err != nil && len(t.files) > 0 {
			r.lost(t, err)
			t.files = map[string]*file{}
			r.trees = append(r.trees, t)
		}
	})
	if stopped != nil {
		return nil, false, stopped
	}
	c, changes := t.copy, []copytree.Change(nil)
	if fresh = c == nil; fresh {
		c, err = copytree.Make(ctx, r.setup.Root, copytree.Dir(r.setup.StateDir, session), r.copyOptions())
		if errors.Is(err, copytree.ErrDamaged) || errors.Is(err, copytree.ErrOtherRoot) {
			// No file in it is under review, and none can be.
			if err = os.RemoveAll(copytree.Dir(r.setup.StateDir, session)); err == nil {
				c, err = copytree.Make(ctx, r.setup.Root, copytree.Dir(r.setup.StateDir, session), r.copyOptions())
			}
		}
	}
	var left []copytree.Change
	if err == nil && !fresh {
		if changes, err = c.TakeOver(ctx); err == nil {
			left, err = c.Changed(ctx)
		}
	}
	stopped = r.call(func() {
		t.busy = false
		if c != nil {
			t.copy, t.root = c, c.Path()
			r.tookOver(t, changes, left)
		}
		r.waiting.Retry()
		if err != nil {
			r.release(t)
		}
	})
	return t, fresh, errors.Join(err, stopped)
}

// tookOver brings the reviews of a copy up to date after files were taken over into it (taken). It also puts other changed
// files (left) under review: a daemon that ended during a turn may have missed them.
func (r *Reviewer) tookOver(t *Worktree, taken, left []copytree.Change) {
	changed := map[*file]bool{}
	for _, ch := range taken {
		for _, f := range t.files {
			if f.path == ch.Path || f.realPath() == ch.Path {
				changed[f] = true
			}
		}
	}
	for _, f := range r.foundLeft(t, left) {
		changed[f] = true
	}
	var files []*file
	for f := range changed {
		r.affected[f] = true
		files = append(files, f)
	}
	for _, f := range t.files {
		if f.pending() && !changed[f] {
			files = append(files, f)
		}
	}
	r.refreshAll(files)
}

// foundLeft puts changed files of a copy under review that have no review.
func (r *Reviewer) foundLeft(t *Worktree, left []copytree.Change) (files []*file) {
	known := map[string]bool{}
	for path, f := range t.files {
		known[path] = true
		if r.load(f) == nil && f.pending() {
			known[f.realPath()] = true
		}
	}
	for _, ch := range left {
		if f := t.files[ch.Path]; f != nil {
			files = append(files, f)
			continue
		}
		after := t.read(ch.Path)
		if known[ch.Path] || after.Unreadable != "" {
			continue
		}
		before, _ := r.takenOver(t, ch.Path)
		if after.Same(atomicfile.State{Content: before}) {
			continue
		}
		f := r.add(t, ch.Path, r.setup.Large.New(before))
		f.mode = uint32(after.FileMode.Perm())
		f.Review.Observe(after.Content, &t.source)
		files = append(files, f)
	}
	return files
}

// EndInCopy takes in the changes that a turn has left in its copy, and releases the copy.
func (r *Reviewer) EndInCopy(t *Worktree) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	left, err := t.copy.Changed(ctx)
	if err != nil {
		r.setup.Log.Warn("a copy could not be looked through", "session", t.session, "err", err)
	}
	_ = r.call(func() { // an error means that the daemon ends; the next turn looks again
		r.tookOver(t, nil, left)
		r.release(t)
	})
}

// release ends a turn's use of a copy. The copy's table is closed unless something is under review.
func (r *Reviewer) release(t *Worktree) {
	t.turns--
	for _, f := range t.files {
		if f.pending() {
			return
		}
	}
	if t.turns == 0 {
		t.copy = nil
	}
}
