package review

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/stored"
	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// A treeChange is a change of one file in a tree.
type treeChange struct {
	atomicfile.Change
	in *Worktree
}

// A planned is the part of a request in one file. The review has decided it; the disk has not been written yet.
type planned struct {
	f          *file
	done       diffs.Decision
	rejections []decisionlog.Rejection // for agents, once the change is carried out
	change     *treeChange
	inCopy     *treeChange // what a decision that changes both sides of a file in a copy changes there; else nil
	brings     *treeChange // what earlier plans bring to a file in a copy, before the change; else nil
	undo       func()      // restores the review from before the decision
}

// plan makes a decision in a file's review, and computes the change of the disk that follows; s is the disk's present
// content. If it returns an error, nothing has changed.
func (r *Reviewer) plan(client api.ClientID, f *file, s sides, decide func(*diffs.Review) (diffs.Decision, error)) (*planned, error) {
	p := &planned{f: f, undo: f.keep(), brings: s.brings}
	if s.unplan != nil {
		p.undo = s.unplan
	}
	var err error
	if p.done, err = decide(f.Review); err != nil {
		p.undo()
		return nil, err
	}
	if p.change = r.change(f, s); p.done.Rewinds() && f.tree.Isolated() {
		p.change = r.changeHere(f, s) // the work tree has a review of its own
	}
	if p.done.ChangesBoth() && f.tree.Isolated() && p.change.in != f.tree {
		p.inCopy = r.changeHere(f, s)
	}
	if err = r.heldElsewhere(client, p.change); err != nil {
		p.undo()
		return nil, err
	}
	f.makes(p.change) // so that the folders are removed if the decision is taken back
	return p, nil
}

// change returns the change that brings the disk, last seen to hold s, to the review's content and path. For a file in a
// copy it changes one side: an accept writes the work tree, a reject the copy.
func (r *Reviewer) change(f *file, s sides) *treeChange {
	to := f.path
	if p := f.Review.Path(); p != "" {
		to = p
	}
	if f.tree.Isolated() {
		real := to
		if old := f.Review.OldPath(); old != "" {
			real = old
		}
		if c := r.changeIn(r.shared(), f, s.path, real, s.real, f.Review.Baseline()); c.Writes() {
			return c
		}
	}
	return r.changeHere(f, s)
}

// changeHere is change for the tree where the agent works.
func (r *Reviewer) changeHere(f *file, s sides) *treeChange {
	to := f.path
	if p := f.Review.Path(); p != "" {
		to = p
	}
	return r.changeIn(f.tree, f, f.path, to, s.here, f.Review.Current())
}

func (r *Reviewer) changeIn(in *Worktree, f *file, from, to string, before atomicfile.State, after diffs.Content) *treeChange {
	before.Content = in.Held(before.Content)
	c := &treeChange{in: in, Change: atomicfile.Change{From: from, To: to, Temp: atomicfile.TempName(to), Before: before, After: in.Held(after), Mode: fs.FileMode(f.mode)}}
	if c.Mode == 0 {
		c.Mode = 0o644
	}
	if !in.Isolated() {
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

// makes records the folders that a change creates for the file.
func (f *file) makes(c *treeChange) {
	if c.in == f.tree {
		f.made = stored.Union(f.made, c.Dirs)
	} else {
		f.accepted = stored.Union(f.accepted, c.Dirs)
	}
}

// reverse returns the change that undoes a change that was carried out.
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

// folder opens a tree for writing.
func (r *Reviewer) folder(in *Worktree) (atomicfile.Root, error) {
	if err := r.open(in); err != nil {
		return atomicfile.Root{}, err
	}
	if in.Isolated() {
		return in.Apart.Open(r.setup.Fault)
	}
	return atomicfile.Open(in.Name, r.setup.Fault)
}

// write carries a change out on the disk and updates the reviews. If it returns an error, nothing has changed.
func (r *Reviewer) write(f *file, c *treeChange) error {
	var err error
	there := c.in.files[c.To]
	switch {
	case c.To != c.From && there != nil && there.pending() && !there.leaves && !c.Tried.Frees(c.in.Absolute(c.To), false):
		err = atomicfile.ErrOccupied
	case c.in != f.tree && f.claimed() != nil:
		err = fmt.Errorf("%w: the file there has moved to %s in the copy; decide that move first", atomicfile.ErrOccupied, f.claimed().path)
	case c.Writes():
		err = r.carry(f.tree, c)
	}
	switch {
	case err == nil:
		if c.Tried == nil {
			r.written(f, c)
		}
		return nil
	case errors.Is(err, atomicfile.ErrOccupied):
		return r.conflictHint(f, fmt.Sprintf("%s cannot go to %s: %v", c.From, c.To, err), "move it away and try again")
	case errors.Is(err, atomicfile.ErrCreated):
		return r.conflictHint(f, c.To+" is there by now: somebody, or another session, has created it", "look at what the change is now, and decide again")
	case errors.Is(err, atomicfile.ErrChanged):
		return r.conflictHint(f, f.path+" has just changed", "look at what the hunk is now, and decide again")
	default:
		return r.conflictHint(f, fmt.Sprintf("%s cannot be written: %v", f.path, paths.Cause(err)), "repair the file or its folder, and try again")
	}
}

// carryOut writes what was planned. If it returns an error, nothing has changed. A copy that cannot be written lags behind: what it has then
// is to be reviewed again.
func (r *Reviewer) carryOut(p *planned) error {
	delete(r.ahead.files, p.f)
	if p.brings != nil {
		if err := r.write(p.f, p.brings); err != nil {
			return err
		}
	}
	if err := r.write(p.f, p.change); err != nil || p.inCopy == nil {
		return err
	}
	if err := r.write(p.f, p.inCopy); err != nil {
		r.setup.Log.Warn("a decision could not be written to the copy", "path", p.f.path, "err", err)
	}
	return nil
}

// carry carries out a change for a file of a tree. If it changes the work tree, the tree goes on as it is.
func (r *Reviewer) carry(of *Worktree, c *treeChange) error {
	held := func() {}
	if of != c.in && of.Isolated() {
		err := r.open(of)
		if err == nil {
			held, err = of.Apart.Hold(c.From, c.To)
		}
		if err != nil {
			return err
		}
	}
	t, err := r.folder(c.in)
	if err == nil {
		err = t.Carry(&c.Change)
		t.Close()
	}
	held()
	return err
}

// written updates the reviews after a change was carried out.
func (r *Reviewer) written(f *file, c *treeChange) {
	f.Unstored = true // also if nobody was shown anything of it
	if c.To != c.From {
		c.in.UpdateSnapshots(c.From, atomicfile.State{})
	}
	c.in.UpdateSnapshots(c.To, atomicfile.State{Content: c.After})
	if c.in == f.tree && c.To != f.path {
		from, there := f.path, f.tree.files[c.To]
		if r.rekey(f, c.To); there != nil && r.load(there) == nil && (there.leaves || !there.Review.Current().Exists) {
			there.path, there.diff, there.Unstored = from, nil, true // an undo needs it, and brings it back
			f.tree.files[from], r.affected[there] = there, true
		}
	}
	if c.Vacates() {
		r.tidy(f, c)
	}
	if c.Writes() { // contents that open calls read before the write are outdated
		c.in.Ledger.Wrote(c.From)
		c.in.Ledger.Wrote(c.To)
	}
	if c.Writes() && !c.in.Isolated() {
		if f.tree.Isolated() {
			r.inherit(f, c)
		}
		r.setup.Documents.Wrote(c.in.Absolute(c.To), c.After)
		r.wroteReal(f, c)
	}
	if f.tree.Isolated() {
		r.markKnown(f, c.From, c.To)
	}
}

// tidy removes the empty folders that a path has left behind, if the agent made them. In the work tree, an accept also
// removes folders that the copy has no more.
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
			return slices.Contains(f.accepted, dir) || copied && !filestat.HasFolder(f.tree.Absolute, dir)
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

// wroteReal has all reviews but that of f take in a decision's write of the work tree as the person's who decided.
func (r *Reviewer) wroteReal(f *file, c *treeChange) {
	for _, name := range slices.Compact([]string{c.From, c.To}) {
		img := atomicfile.Read(r.setup.Root, name)
		for _, t := range r.trees {
			for _, other := range t.files {
				if other == f || other.leaves || other.realPath() != name || !other.pending() && !other.away() && len(other.Buffers) == 0 || r.load(other) != nil {
					continue
				}
				r.affected[other] = true
				switch {
				case r.ahead.files[other]: // it has what all plans leave there
				case !t.Isolated() && img.Unreadable == "":
					other.Review.Observe(img.Content, nil)
				case t.Isolated() && !t.busy:
					if _, err := r.refresh(other); err != nil {
						r.setup.Log.Warn("a file under review cannot be read", "path", other.path, "err", err)
					}
				}
			}
		}
	}
}

// keep returns a function that restores the review's present state.
func (f *file) keep() (restore func()) {
	review, made, accepted := f.Review.Copy(), slices.Clone(f.made), slices.Clone(f.accepted)
	cut, cutRev := f.cut, f.cutRev
	return func() { f.Review, f.made, f.accepted, f.cut, f.cutRev = review, made, accepted, cut, cutRev }
}

// state returns a file as the store has it, and the contents that this form refers to.
func (f *file) state() (s stored.File, blobs [][]byte) {
	s = stored.File{N: f.n, Mode: f.mode, Made: f.made, Accepted: f.accepted, Links: f.links, Is: f.is}
	s.Base, s.Now, s.Weave, blobs = stored.Review(f.Review)
	if f.Apart != nil {
		s.Common, blobs = sessions.BlobID([]byte(f.Apart.Base)), append(blobs, []byte(f.Apart.Base))
	}
	now := time.Now().UnixMilli()
	var more [][]byte
	if s.Formers, more = stored.NewFormers(f.Review, now); f.stashed != nil && f.away() {
		blobs = append(blobs, more...)
		s.Stashed, more = f.stashed.Stored(now)
	}
	blobs = append(blobs, more...)
	past, data := stored.PastOf(f.Review, now)
	if s.Past, s.Dropped = past, f.stored.Dropped && past == nil; past != nil {
		blobs = append(blobs, data)
	}
	return s, blobs
}

// recordLinks records the file, and its number of names, that decisions may write in place in the work tree: as it was
// before any running turn. It is called when a path with nothing under review comes under review.
func (f *file) recordLinks() {
	starts := f.tree.Starts.All()
	if len(starts) == 0 || f.outside() {
		return
	}
	f.links = atomicfile.Links{}
	if f.tree.Isolated() {
		// No snapshot has the work tree's links, but the file's change time says how long it has had its names.
		full := filepath.Join(f.tree.Work, filepath.FromSlash(f.realPath()))
		st, names := filestat.Linked(full)
		if filestat.ChangeTimes && names > 1 && clock.Known(st.Ctime) < starts[0].Began()-int64(st.Slack()) {
			f.links = atomicfile.Links{Dev: st.Dev, Ino: st.Ino, Names: names}
		}
		return
	}
	name := f.path
	if f.Review != nil && f.Review.OldPath() != "" {
		name = f.Review.OldPath()
	}
	l := starts[0].Linked(name)
	for _, s := range starts {
		if s.Linked(name) != l {
			return // one turn may have changed the names before another began
		}
	}
	f.links = l
}
