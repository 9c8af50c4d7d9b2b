package review

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/stored"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// A treeChange is a change of a tree.
type treeChange struct {
	atomicfile.Change
	in *Worktree
}

// A planned is a file's part of a request: decided in the review, and not yet on the disk.
type planned struct {
	f          *file
	done       diffs.Decision
	rejections []decisionlog.Rejection // to agents, once it is carried out
	change     *treeChange
	undo       func() // puts the review back as it was
}

// plan decides in a file's review, whose disk holds s, and says what is to be written for that. Nothing has changed
// if it returns an error.
func (r *Reviewer) plan(f *file, s sides, decide func(*diffs.Review) (diffs.Decision, error)) (*planned, error) {
	p := &planned{f: f, undo: f.keep()}
	var err error
	if p.done, err = decide(f.review); err != nil {
		p.undo()
		return nil, err
	}
	p.change = r.change(f, s)
	f.makes(p.change) // so that they go again if this is taken back
	return p, nil
}

// change returns what makes the disk, which held s a moment ago, hold what the review says, where the review says. Of
// a file in a copy that is one of two sides: an accept does not change the copy, nor a reject the work tree.
func (r *Reviewer) change(f *file, s sides) *treeChange {
	to := f.path
	if p := f.review.Path(); p != "" {
		to = p
	}
	if f.tree.isolated() {
		real := to
		if old := f.review.OldPath(); old != "" {
			real = old
		}
		if c := r.changeIn(r.shared(), f, s.path, real, s.real, f.review.Baseline()); c.Writes() {
			return c
		}
	}
	return r.changeIn(f.tree, f, f.path, to, s.here, f.review.Current())
}

func (r *Reviewer) changeIn(in *Worktree, f *file, from, to string, before atomicfile.State, after diffs.Content) *treeChange {
	before.Content = in.held(before.Content)
	c := &treeChange{in: in, Change: atomicfile.Change{From: from, To: to, Temp: atomicfile.TempName(to), Before: before, After: in.held(after), Mode: fs.FileMode(f.mode)}}
	if c.Mode == 0 {
		c.Mode = 0o644
	}
	if !in.isolated() {
		c.Links = f.links
	}
	if c.After.Exists && (!before.Exists || to != from) {
		c.Dirs = r.missingDirs(in, to)
	}
	return c
}

func (r *Reviewer) missingDirs(in *Worktree, name string) []string {
	t, err := r.folder(in)
	if err != nil {
		return nil
	}
	defer t.Close()
	return t.MissingDirs(name)
}

// makes notes the folders that a change makes for the file.
func (f *file) makes(c *treeChange) {
	if c.in == f.tree {
		f.made = union(f.made, c.Dirs)
	} else {
		f.accepted = union(f.accepted, c.Dirs)
	}
}

func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// reverse returns what takes back a change that was carried out.
func (r *Reviewer) reverse(c *treeChange) *treeChange {
	back := &treeChange{in: c.in, Change: atomicfile.Change{
		From: c.To, To: c.From, Temp: atomicfile.TempName(c.From), Before: atomicfile.State{Content: c.After}, After: c.Before.Content, Mode: c.Mode,
		Links: c.Links,
	}}
	if c.Vacates() {
		back.Dirs = r.missingDirs(c.in, c.From)
	}
	return back
}

// folder opens what decisions write.
func (r *Reviewer) folder(in *Worktree) (atomicfile.Root, error) {
	if err := r.open(in); err != nil {
		return atomicfile.Root{}, err
	}
	return atomicfile.Open(in.root, r.setup.Fault)
}

// write carries a change out on the disk, and has the file's review follow it. Nothing has changed if it returns an
// error.
func (r *Reviewer) write(f *file, c *treeChange) error {
	var err error
	there := c.in.files[c.To]
	switch {
	case c.To != c.From && there != nil && there.pending():
		err = atomicfile.ErrOccupied
	case c.in != f.tree && f.claimed() != nil:
		err = fmt.Errorf("%w: it has moved to %s in the copy: decide about that first", atomicfile.ErrOccupied, f.claimed().path)
	case c.Writes():
		var t atomicfile.Root
		if t, err = r.folder(c.in); err == nil {
			err = t.Carry(&c.Change)
			t.Close()
		}
	}
	switch {
	case err == nil:
		r.written(f, c)
		return nil
	case errors.Is(err, atomicfile.ErrOccupied):
		return &api.Error{
			Kind: api.KindConflict, Message: fmt.Sprintf("%s cannot go to %s: %v", c.From, c.To, err),
			Hint: "move it away and try again", Diff: r.published[f.path],
		}
	case errors.Is(err, atomicfile.ErrChanged):
		return &api.Error{
			Kind: api.KindConflict, Message: f.path + " was written at the same moment", Hint: "try again", Diff: r.published[f.path],
		}
	default:
		return &api.Error{
			Kind: api.KindConflict, Message: fmt.Sprintf("%s cannot be written: %v", f.path, paths.Cause(err)),
			Hint: "repair the file or its folder, and try again", Diff: r.published[f.path],
		}
	}
}

// written has the reviews follow a change that was carried out.
func (r *Reviewer) written(f *file, c *treeChange) {
	if c.To != c.From {
		c.in.updateSnapshots(c.From, atomicfile.State{})
	}
	c.in.updateSnapshots(c.To, atomicfile.State{Content: c.After})
	if c.in == f.tree && c.To != f.path {
		r.rekey(f, c.To)
	}
	if c.Vacates() {
		r.tidy(f, c)
	}
	if c.Writes() { // what a call has read just before is not there any more
		c.in.ledger.Wrote(c.From)
		c.in.ledger.Wrote(c.To)
	}
	if c.Writes() && !c.in.isolated() {
		r.wroteReal(f, c)
	}
	if f.tree.isolated() {
		r.markKnown(f, c.From, c.To)
	}
}

// tidy removes the folders of a path that is gone, as far as the agent made them and they are empty. In the work tree,
// an accept removes those that are not in the copy any more.
func (r *Reviewer) tidy(f *file, c *treeChange) {
	made := map[string]bool{}
	for _, f := range c.in.files {
		for _, dir := range f.made {
			made[dir] = true
		}
	}
	may := func(dir string) bool { return made[dir] }
	if c.in != f.tree {
		copied := r.open(f.tree) == nil
		may = func(dir string) bool {
			return slices.Contains(f.accepted, dir) || copied && !f.tree.hasFolder(dir)
		}
	}
	var dirs []string
	for dir := paths.Parent(c.From); dir != "." && may(dir); dir = paths.Parent(dir) {
		dirs = append(dirs, dir)
	}
	if t, err := r.folder(c.in); err == nil {
		t.RemoveEmpty(dirs)
		t.Close()
	}
}

// wroteReal takes in, for all but f, that the work tree was written: nobody's doing but the person's who decided.
func (r *Reviewer) wroteReal(f *file, c *treeChange) {
	for _, name := range slices.Compact([]string{c.From, c.To}) {
		img := atomicfile.Read(r.setup.Root, name)
		for _, t := range r.trees {
			for _, other := range t.files {
				if other == f || other.realPath() != name || !other.pending() && len(other.buffers) == 0 || r.load(other) != nil {
					continue
				}
				r.affected[other] = true
				switch {
				case !t.isolated() && img.Unreadable == "":
					other.review.Observe(img.Content, nil)
				case t.isolated() && !t.busy:
					if _, err := r.refresh(other); err != nil {
						r.setup.Log.Warn("a file under review cannot be read", "path", other.path, "err", err)
					}
				}
			}
		}
	}
}

// keep returns a function that puts the review back as it is now.
func (f *file) keep() (restore func()) {
	review, made, accepted := f.review.Copy(), slices.Clone(f.made), slices.Clone(f.accepted)
	cut, cutRev := f.cut, f.cutRev
	return func() { f.review, f.made, f.accepted, f.cut, f.cutRev = review, made, accepted, cut, cutRev }
}

// state returns the form of a file in the store, and the contents that it refers to.
func (f *file) state() (s stored.File, blobs [][]byte) {
	s = stored.File{N: f.n, Mode: f.mode, Made: f.made, Accepted: f.accepted, Links: f.links}
	s.Base, s.Now, s.Weave, blobs = stored.Review(f.review)
	if f.stashed != nil && f.stashed.rev == f.review.Rev() {
		var more [][]byte
		s.Stashed, more = f.stashed.state()
		blobs = append(blobs, more...)
	}
	return s, blobs
}

// recordLinks notes through which links the file may be written in the work tree. It is called when something of the file comes
// under review of which nothing was, as far as a turn can have done that.
func (f *file) recordLinks() {
	starts := f.tree.starts.All()
	if len(starts) == 0 || f.outside() {
		return
	}
	f.links = atomicfile.Links{}
	if f.tree.isolated() {
		// Nobody has looked at the work tree when the turn began, but the file says when it was given a name.
		full := filepath.Join(f.tree.work, filepath.FromSlash(f.realPath()))
		st, names := filestat.Linked(full)
		if filestat.ChangeTimes && names > 1 && clock.Known(st.Ctime) < starts[0].Began()-int64(st.Slack()) {
			f.links = atomicfile.Links{Dev: st.Dev, Ino: st.Ino, Names: names}
		}
		return
	}
	name := f.path
	if f.review != nil && f.review.OldPath() != "" {
		name = f.review.OldPath()
	}
	l := starts[0].Linked(name)
	for _, s := range starts {
		if s.Linked(name) != l {
			return // a turn may have done that in which another has begun
		}
	}
	f.links = l
}
