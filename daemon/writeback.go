package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cursord/diffs"
)

// carryOut decides hunks of one file, and writes the disk if that is a reject. Nothing has changed if it returns
// an error.
func (r *reviewer) carryOut(c *choice, accept bool, lines *diffs.Range) (diffs.Decision, error) {
	undo := c.f.keep()
	done, err := c.f.review.Decide(c.ids, accept, lines)
	if err != nil {
		return done, r.decisionError(c.f, err)
	}
	if err := r.write(c.f, c.disk); err != nil {
		undo()
		return done, err
	}
	return done, nil
}

// write makes the disk, which held disk a moment ago, hold what the review says, where the review says.
func (r *reviewer) write(f *file, disk image) error {
	mode := fs.FileMode(f.mode)
	if mode == 0 {
		mode = 0o644
	}
	want, from, to := f.review.Current(), f.path, f.path
	if p := f.review.Path(); p != "" {
		to = p
	}
	var err error
	if want.Exists && (!disk.Exists || to != from) {
		f.makes(missingDirs(r.w.root, to)) // so that they go again if this is taken back
	}
	if to != from {
		if there := r.files[to]; there != nil && there.pending() {
			err = errOccupied
		} else if disk.Exists {
			err = move(r.w.root, from, to, disk)
		}
	}
	if err == nil {
		err = apply(r.w.root, to, disk, want, mode)
		if err != nil && to != from && disk.Exists {
			err = errors.Join(err, move(r.w.root, to, from, disk))
		}
	}
	switch {
	case err == nil:
		if to != from {
			r.rekey(f, to)
		}
		if disk.Exists && (to != from || !want.Exists) {
			r.tidy(from)
		}
		return nil
	case errors.Is(err, errOccupied):
		return &Error{
			Kind: KindConflict, Message: fmt.Sprintf("%s cannot go back to %s: %v", from, to, errOccupied),
			Hint: "move what is there and try again", Diff: f.diff,
		}
	case errors.Is(err, errChanged):
		return &Error{
			Kind: KindConflict, Message: f.path + " was written at the same moment", Hint: "try again", Diff: f.diff,
		}
	default:
		return &Error{
			Kind: KindConflict, Message: fmt.Sprintf("%s cannot be written: %v", f.path, pathCause(err)),
			Hint: "put the file or its folder right and try again", Diff: f.diff,
		}
	}
}

// tidy removes the folders of a path that is gone, as far as the agent made them and they are empty.
func (r *reviewer) tidy(name string) {
	made := map[string]bool{}
	for _, other := range r.files {
		for _, dir := range other.made {
			made[dir] = true
		}
	}
	root, err := os.OpenRoot(r.w.root)
	if err != nil {
		return
	}
	defer root.Close()
	for dir := path.Dir(name); made[dir]; dir = path.Dir(dir) {
		info, err := root.Lstat(filepath.FromSlash(dir))
		if err != nil || !info.IsDir() || root.Remove(filepath.FromSlash(dir)) != nil {
			return // it holds something
		}
	}
}

// keep returns a function that puts the review back as it is now.
func (f *file) keep() (restore func()) {
	state, base, now := f.review.Marshal(), f.review.Baseline().Data, f.review.Current().Data
	return func() {
		if was, err := diffs.Unmarshal(state, base, now); err == nil {
			f.review = was
		}
	}
}
