package review

import (
	"context"
	"errors"
	"time"

	"cursord/daemon/copytree"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/atomicfile"
	"cursord/diffs"
)

// This file prepares a session's copy when a turn begins there, and takes in its changes when the turn ends.

// BeginInCopy makes a session's copy, or brings it up to date with the work tree. Until then nobody else touches it. It runs
// in the turn's goroutine.
func (r *Reviewer) BeginInCopy(ctx context.Context, session, turn string) (t *Worktree, fresh bool, err error) {
	if t, fresh, err = r.beginInCopy(ctx, session, turn); errors.Is(err, apart.ErrUnsuited) {
		return r.beginInCopy(ctx, session, turn)
	}
	return t, fresh, err
}

func (r *Reviewer) beginInCopy(ctx context.Context, session, turn string) (t *Worktree, fresh bool, err error) {
	var known []string // what is or was under review in it
	stopped := r.call(func() {
		t = r.treeOf(session)
		t.busy = true
		t.turns++
		t.Source = diffs.Source{SessionID: session, TurnID: turn, Via: diffs.ViaTool}
		if t.Apart != nil && t.turns == 1 && !t.Apart.Valid() {
			t.Apart, t.Name = nil, ""
		}
		// A copy that cannot be opened is made anew, and its reviews are dropped.
		if err := r.open(t); err != nil && len(t.files) > 0 {
			r.lost(t, err)
			t.files = map[string]*file{}
			r.trees = append(r.trees, t)
		}
		for path, f := range t.files {
			if known = append(known, path); f.pending() && r.load(f) == nil && f.realPath() != path {
				known = append(known, f.realPath())
			}
		}
	})
	if stopped != nil {
		return nil, false, stopped
	}
	c := t.Apart
	if fresh = c == nil; fresh {
		c, err = apart.Make(ctx, r.PlacesOf(session))
	}
	var changes, left []string
	begun := false
	if err == nil {
		changes, err = c.Begin(ctx, known)
		begun = err == nil
	}
	if err == nil && !fresh {
		left, _, err = c.Changed(ctx)
	}
	stopped = r.call(func() {
		t.busy = false
		if c != nil {
			t.Apart, t.Name = c, c.Name()
			r.tookOver(t, changes, left)
			if err == nil {
				err = c.Begun()
			}
		}
		r.waiting.Retry()
		if err != nil {
			r.release(t, begun)
		}
	})
	return t, fresh, errors.Join(err, stopped)
}

// tookOver brings the reviews of a copy up to date after files were taken over into it (taken). It also puts other changed
// files (left) under review: a daemon that ended during a turn may have missed them.
func (r *Reviewer) tookOver(t *Worktree, taken, left []string) {
	changed := map[*file]bool{}
	for _, path := range taken {
		for _, f := range t.files {
			if f.path == path || f.realPath() == path {
				changed[f], f.tookOver = true, true
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
		if (f.pending() || f.away()) && !changed[f] {
			files = append(files, f)
		}
	}
	r.refreshAll(files)
}

// foundLeft puts changed files of a copy under review that have no review.
func (r *Reviewer) foundLeft(t *Worktree, left []string) (files []*file) {
	known := map[string]bool{}
	for path, f := range t.files {
		known[path] = true
		if r.load(f) == nil && f.pending() {
			known[f.realPath()] = true
		}
	}
	for _, path := range left {
		if f := t.files[path]; f != nil {
			files = append(files, f)
			continue
		}
		after := t.Read(path)
		if known[path] || after.Unreadable != "" {
			continue
		}
		before, _ := r.takenOver(t, path)
		if after.Same(atomicfile.State{Content: before}) {
			continue
		}
		f := r.add(t, path, r.setup.Large.New(before))
		f.mode = uint32(after.FileMode.Perm())
		t.made.Note(t.place(path), "", before, after.Content, &t.Source)
		f.Review.Observe(after.Content, &t.Source)
		files = append(files, f)
	}
	return files
}

// EndInCopy takes in the changes that a turn has left in its copy, and releases the copy.
func (r *Reviewer) EndInCopy(t *Worktree) {
	left := r.leftIn(t)
	_ = r.call(func() { // an error means that the daemon ends; the next turn looks again
		r.tookOver(t, nil, left)
		r.release(t, true)
	})
}

// leftIn lists the files of a copy that its agent has changed.
func (r *Reviewer) leftIn(t *Worktree) []string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	left, _, err := t.Apart.Changed(ctx)
	if err != nil {
		r.setup.Log.Warn("a copy could not be looked through", "session", t.Session, "err", err)
	}
	return left
}

// release ends a turn's use of a copy, which may have begun. The table of one that has one is closed unless something is under review.
func (r *Reviewer) release(t *Worktree, begun bool) {
	t.turns--
	if begun {
		t.Apart.End()
	}
	for _, f := range t.files {
		if f.pending() {
			return
		}
	}
	if t.turns == 0 && t.Apart != nil && t.Apart.Kind() == copytree.KindCopy {
		t.Apart = nil
	}
}
