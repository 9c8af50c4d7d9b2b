package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"cursord/daemon/copytree"
	"cursord/daemon/internal/atomicfile"
	"cursord/diffs"
)

// This file is what the reviewer does with a session's copy when a turn begins there, and when it ends.

// begin makes a copy ready for a turn: it is made, or takes over what changed in the work tree. Until then nobody else
// may touch it. It runs in the turn's goroutine.
func (r *reviewer) begin(ctx context.Context, session, turn string) (t *worktree, fresh bool, err error) {
	stopped := r.call(func() {
		t = r.treeOf(session)
		t.busy = true
		t.turns++
		t.source = diffs.Source{SessionID: session, TurnID: turn, Via: diffs.ViaTool}
		// One that cannot be opened is made anew.
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
		c, err = copytree.Make(ctx, r.w.root, copytree.Dir(r.w.d.stateDir, session), r.w.copyOptions())
		if errors.Is(err, copytree.ErrDamaged) || errors.Is(err, copytree.ErrOtherRoot) {
			// Nothing in it is under review, and nothing can be.
			if err = os.RemoveAll(copytree.Dir(r.w.d.stateDir, session)); err == nil {
				c, err = copytree.Make(ctx, r.w.root, copytree.Dir(r.w.d.stateDir, session), r.w.copyOptions())
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
		r.retry()
		if err != nil {
			r.release(t)
		}
	})
	return t, fresh, errors.Join(err, stopped)
}

// tookOver brings the reviews of a copy up to date with what was taken over into it, and with what it holds that nobody
// has seen: the daemon may have ended in a turn.
func (r *reviewer) tookOver(t *worktree, taken, left []copytree.Change) {
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

// foundLeft puts under review what a copy holds otherwise than it was taken over, and no review knows of.
func (r *reviewer) foundLeft(t *worktree, left []copytree.Change) (files []*file) {
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
		f := r.add(t, ch.Path, r.w.d.config.Large.New(before))
		f.mode = uint32(after.FileMode.Perm())
		f.review.Observe(after.Content, &t.source)
		files = append(files, f)
	}
	return files
}

// end takes in what a turn has left in its copy.
func (r *reviewer) end(t *worktree) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	left, err := t.copy.Changed(ctx)
	if err != nil {
		r.w.log.Warn("a copy could not be looked through", "session", t.session, "err", err)
	}
	_ = r.call(func() { // an error says that the daemon ends; the next turn looks again
		r.tookOver(t, nil, left)
		r.release(t)
	})
}

// release ends a turn's use of a copy, whose table is let go unless something is under review.
func (r *reviewer) release(t *worktree) {
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
