package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"cursord/diffs"
	"cursord/sessions"
)

// A planned is a file's part of a request: decided in the review, and not yet on the disk.
type planned struct {
	f      *file
	done   diffs.Decision
	told   []rejection // to agents, once it is carried out
	change *change
	undo   func() // puts the review back as it was
}

// plan decides in a file's review, whose disk holds disk, and says what is to be written for that. Nothing has changed
// if it returns an error.
func (r *reviewer) plan(f *file, disk image, decide func(*diffs.Review) (diffs.Decision, error)) (*planned, error) {
	p := &planned{f: f, undo: f.keep()}
	var err error
	if p.done, err = decide(f.review); err != nil {
		p.undo()
		return nil, err
	}
	p.change = r.change(f, disk)
	f.makes(p.change.dirs) // so that they go again if this is taken back
	return p, nil
}

// change returns what makes the disk, which held disk a moment ago, hold what the review says, where the review says.
func (r *reviewer) change(f *file, disk image) *change {
	c := &change{
		from: f.path, to: f.path, before: disk, after: f.review.Current(), mode: fs.FileMode(f.mode),
	}
	if c.mode == 0 {
		c.mode = 0o644
	}
	if p := f.review.Path(); p != "" {
		c.to = p
	}
	c.temp = tempName(c.to)
	if c.after.Exists && (!disk.Exists || c.to != c.from) {
		if t, err := r.tree(); err == nil {
			c.dirs = t.missingDirs(c.to)
			t.close()
		}
	}
	return c
}

// reverse returns what takes back a change that was carried out.
func (r *reviewer) reverse(c *change) *change {
	back := &change{from: c.to, to: c.from, temp: tempName(c.from), before: image{Content: c.after}, after: c.before.Content, mode: c.mode}
	if c.vacates() {
		if t, err := r.tree(); err == nil {
			back.dirs = t.missingDirs(c.from)
			t.close()
		}
	}
	return back
}

// tree opens what decisions write.
func (r *reviewer) tree() (tree, error) { return openTree(r.w.root, r.w.d.fault) }

// write carries a change out on the disk, and has the file's review follow it. Nothing has changed if it returns an
// error.
func (r *reviewer) write(f *file, c *change) error {
	var err error
	if there := r.files[c.to]; c.to != c.from && there != nil && there.pending() {
		err = errOccupied
	} else if c.writes() {
		var t tree
		if t, err = r.tree(); err == nil {
			err = t.carry(c)
			t.close()
		}
	}
	switch {
	case err == nil:
		r.written(f, c)
		return nil
	case errors.Is(err, errOccupied):
		return &Error{
			Kind: KindConflict, Message: fmt.Sprintf("%s cannot go back to %s: %v", c.from, c.to, errOccupied),
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

// written has a file's review follow a change that was carried out.
func (r *reviewer) written(f *file, c *change) {
	if c.to != c.from {
		r.noteAll(c.from, image{})
	}
	r.noteAll(c.to, image{Content: c.after})
	if c.to != f.path {
		r.rekey(f, c.to)
	}
	if c.vacates() {
		r.tidy(c.from)
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
	var dirs []string
	for dir := path.Dir(name); made[dir]; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	if t, err := r.tree(); err == nil {
		t.removeEmpty(dirs)
		t.close()
	}
}

// keep returns a function that puts the review back as it is now.
func (f *file) keep() (restore func()) {
	state, base, now := f.review.Marshal(), f.review.Baseline().Data, f.review.Current().Data
	made := slices.Clone(f.made)
	return func() {
		if was, err := diffs.Unmarshal(state, base, now); err == nil {
			f.review, f.made = was, made
		}
	}
}

// state returns the form of a file in the store, and the contents that it refers to.
func (f *file) state() (s fileState, blobs [][]byte) {
	base, now := f.review.Baseline().Data, f.review.Current().Data
	return fileState{
		N: f.n, Mode: f.mode, Made: f.made, Base: sessions.BlobID(base), Now: sessions.BlobID(now), Weave: f.review.Marshal(),
	}, [][]byte{base, now}
}
