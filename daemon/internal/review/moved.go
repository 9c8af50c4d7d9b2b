package review

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/stored"
	"cursord/daemon/internal/toolcalls"
	"cursord/diffs"
	"cursord/sessions"
)

// onlyVanished reports whether a file disappeared and nothing has happened since. held is what the turn's snapshot has of it. It is the content
// that disappeared, unless a call wrote the file during the turn and the daemon heard of the call's end after the move.
func (f *file) onlyVanished(held diffs.Content, during bool) bool {
	return f.vanished != nil && f.Review.Rev() == f.gone && (during || (atomicfile.State{Content: held}).Same(atomicfile.State{Content: f.vanished.Current()}))
}

// takeMove takes in a move that a scan has found. It returns nil if the move cannot be reviewed as one.
func (r *Reviewer) takeMove(t *Worktree, s *snapshot.Snapshot, fd snapshot.Change) *file {
	from, to := fd.From.Path, fd.Path
	if !fd.From.Known || t.Ledger.Writing(from) || t.Ledger.Writing(to) {
		return nil
	}
	before, after := t.TranslatedContent(fd.From.Before), t.Translated(fd.After)
	if there := t.files[to]; there != nil && (there.pending() || len(there.Buffers) > 0) {
		return nil
	}
	by := fd.Source
	switch {
	case fd.From.Source != nil || by == nil:
	case fd.From.Was == fd.Is:
		by = nil // a file keeps its times when its folder gets another name
	default: // a person has moved it somewhere, and perhaps changed it there, before the agent did
		maybe := *by
		maybe.Via = diffs.ViaUnknown
		by = &maybe
	}
	f := t.files[from]
	switch {
	case f == nil && by == nil:
		return nil // nothing is known of it
	case f == nil:
		f = r.add(t, from, r.setup.Large.New(before))
	case len(f.Buffers) > 0 || r.load(f) != nil:
		return nil
	case fd.From.Source == nil && f.Review.Current().Exists:
		before = f.Review.Current()
	case fd.From.Source == nil:
		r.bringBack(f, before)
		f.Review.Observe(before, nil) // as it was before the person took it away
	case f.onlyVanished(before, s.TakenIn(*fd.From)):
		f.Review, before = f.vanished, f.vanished.Current()
	case f.pending() && !f.Review.Current().Exists:
		return nil
	}
	f.vanished = nil
	f.Review.Begin(before, t.Others())                      // with what a person has changed since the last decision
	t.made.TakeBack(t.place(from), before, diffs.Content{}) // that the file disappeared is a part of it
	t.made.Note(t.place(to), from, before, after.Content, by)
	f.Review.Rename(from, to, by)
	f.Review.Observe(after.Content, by)
	f.made = stored.Union(f.made, s.MissingDirs(to))
	r.rekey(f, to)
	f.lookedAt = fd.At
	return f
}

// broughtHere takes in that a person has put a file where a call names it, which nobody has seen there before, and returns it; nil if there is
// none. reports are those of the calls. The file is known by what the path held when a call began.
func (r *Reviewer) broughtHere(t *Worktree, wr *toolcalls.Written, looks []attribution.Look, reports []attribution.Report) (found *file) {
	if start, seen := wr.StartAt(); t.Isolated() || seen && start.Exists {
		return nil
	}
	var held []diffs.Content
	for _, l := range looks {
		held = append(held, l.Content)
	}
	if before := reports[0].Before; before != nil {
		held = append(held, diffs.Content{Exists: true, Data: []byte(*before)})
	}
	var review *diffs.Review
	for _, f := range r.gone(r.sorted()) {
		for _, c := range held {
			if was := f.asHeld(c); was == nil {
				continue
			} else if found != nil && found != f {
				return nil // nobody knows which one it is
			} else {
				found, review = f, was
			}
		}
	}
	if found == nil {
		return nil
	}
	by := wr.Beside // a command that has ended may have moved it, too
	if by != nil && found.vanished == nil {
		maybe := *by
		maybe.Via = diffs.ViaUnknown
		by = &maybe
	}
	found.Review, found.vanished = review, nil
	found.Review.Rename(found.path, wr.Path, by)
	t.UpdateSnapshots(found.path, atomicfile.State{})
	r.rekey(found, wr.Path)
	return found
}

// asHeld returns the review of a file that is gone as it was when the file held a content, before somebody took it away; nil if it did not hold
// that last.
func (f *file) asHeld(c diffs.Content) *diffs.Review {
	if was := f.vanished; was != nil && f.Review.Rev() == f.gone && (atomicfile.State{Content: c}).Same(atomicfile.State{Content: was.Current()}) {
		return was
	}
	if now := f.Review.Current(); now.Exists {
		if (atomicfile.State{Content: c}).Same(atomicfile.State{Content: now}) {
			return f.Review
		}
		return nil
	}
	if f.stashed != nil && f.stashed.Rev == f.Review.Rev() {
		if was, _, ok := f.stashed.Back(c, f.Review); ok {
			return was
		}
	}
	review := f.Review.Copy()
	if !c.Exists || !review.Wakes(c) {
		return nil
	}
	review.Observe(c, nil)
	return review
}

// gone returns those of some files that have a history or something pending, and are not in the work tree any more.
func (r *Reviewer) gone(files []*file) (gone []*file) {
	for _, f := range files {
		known := f.stored.Past != nil || f.pending()
		if known && !f.outside() && !f.tree.Isolated() && len(f.Buffers) == 0 && !filestat.Of(r.absolute(f)).Exists() && r.load(f) == nil {
			gone = append(gone, f)
		}
	}
	return gone
}

// seek looks in all folders for files that are gone, so that refresh finds those that a person has moved. Only with again, it looks for
// those that it has looked for before.
func (r *Reviewer) seek(files []*file, again bool) {
	var lost []*file
	var is []filestat.Stat
	for _, f := range r.gone(files) {
		if f.is.Ino != 0 && (again || !f.sought) && f.Review.Current().Exists && !f.tree.Ledger.Pending(f.path) && f.tree.Writer(f.path) == nil {
			lost, is = append(lost, f), append(is, f.is)
		}
	}
	if len(lost) == 0 {
		return
	}
	for i, name := range atomicfile.Strayed(r.setup.Root, is) {
		lost[i].sought = true
		if there := lost[i].tree.files[name]; name != "" && (there == nil || !there.pending()) {
			lost[i].perhapsIn = path.Dir(name)
		}
	}
}

// followMoves looks for the new names of files that have a history and are gone: everywhere, and in the folder of to.
func (r *Reviewer) followMoves(to string) {
	if there := r.shared().files[to]; there != nil && (r.load(there) != nil || there.Review.Current().Exists) {
		return
	}
	gone := r.gone(r.sorted())
	r.seek(gone, true)
	for _, f := range gone {
		f.perhapsIn = cmp.Or(f.perhapsIn, path.Dir(to))
	}
	r.follow(gone)
}

// followFound is followMoves for those files that are found. The others may come back, for instance with another branch, and nothing of them has
// changed until then.
func (r *Reviewer) followFound(again bool) {
	gone := r.gone(r.sorted())
	r.seek(gone, again)
	r.follow(slices.DeleteFunc(gone, func(f *file) bool { return f.perhapsIn == "" }))
}

// follow takes in that files are gone, or where they are.
func (r *Reviewer) follow(gone []*file) {
	for _, f := range gone {
		_, _ = r.refresh(f)
		f.perhapsIn = ""
	}
	r.save(slices.DeleteFunc(gone, func(f *file) bool { return !r.stale(f) })...)
}

// followOver looks for files that people have moved to where agents have deleted others, and returns them.
func (r *Reviewer) followOver() (moved []*file) {
	for _, there := range r.sorted() {
		if there.pending() && !there.outside() && !there.tree.Isolated() && r.load(there) == nil && there.Review.Deleted() && filestat.Of(r.absolute(there)).Exists() {
			r.followMoves(there.path)
			if f := there.tree.files[there.path]; f != there {
				moved = append(moved, f)
			}
		}
	}
	return moved
}

// personMoved takes in that a person has given a file with pending hunks, or with a history, another name in its folder or in perhapsIn, and
// reports whether that is so. The hunks stay pending there, and a rewind finds it. The old name may have another text by now. A file that a
// client holds unsaved keeps its name. Only followMoves takes it to where another one is pending as deleted: others may be about to look at
// that one.
func (r *Reviewer) personMoved(f *file, here atomicfile.State) bool {
	if here.Exists && !f.Review.Another(here.Content) || len(f.Buffers) > 0 || !f.Review.Pending() && f.stored.Past == nil {
		return false
	}
	to := atomicfile.Renamed(r.setup.Root, f.path, path.Dir(f.path), f.Review.Current(), f.is)
	if to == "" && f.perhapsIn != "" {
		to = atomicfile.Renamed(r.setup.Root, f.path, f.perhapsIn, f.Review.Current(), f.is)
	}
	if here.Exists && strings.Contains(path.Base(to), path.Base(f.path)) {
		return false // a save, for which an editor has made a backup
	}
	if now := filestat.Of(f.tree.Absolute(to)); to != "" && now != f.is && f.tree.Writer(to) != nil {
		return false // the agent may have moved it; with another name of its folder, a file keeps its times
	}
	there := f.tree.files[to]
	over := there != nil && there.pending()
	if to == "" || there != nil && len(there.Buffers) > 0 || over && (f.perhapsIn == "" || r.load(there) != nil || !there.Review.Deleted()) {
		return false
	}
	was := atomicfile.State{Content: f.Review.Current()}
	if there != nil && r.load(there) == nil && (was.Same(atomicfile.State{Content: there.Review.Current()}) || !over && there.Review.HeldLast(was.Content)) {
		return false // it was taken in there before, or the file that an agent has removed there is back
	}
	if f.Review.Rename(f.path, to, nil); over {
		f.Review.Succeed(there.Review)
	}
	f.tree.UpdateSnapshots(f.path, here) // so that no scan reports that the file is gone, or that it has come
	f.tree.UpdateSnapshots(to, was)
	r.rekey(f, to)
	return true
}

// cameBack takes in that a file that an agent has moved away, and that is gone, is where it was, with the content that it had there. The file
// itself may have come back or be written anew. It returns the file under review, or nil. now is what the path holds.
func (r *Reviewer) cameBack(t *Worktree, to string, now atomicfile.State) *file {
	if there := t.files[to]; !now.Exists || there != nil && (there.pending() || len(there.Buffers) > 0) {
		return nil
	}
	for _, f := range t.files {
		if f.pending() && len(f.Buffers) == 0 && r.load(f) == nil && f.Review.OldPath() == to && !f.Review.Current().Exists &&
			now.Same(atomicfile.State{Content: f.Review.Baseline()}) {
			f.Review.Rename(f.path, to, nil)
			f.vanished = nil
			t.UpdateSnapshots(f.path, atomicfile.State{})
			r.rekey(f, to)
			return f
		}
	}
	return nil
}

// copiedBack takes in that a file that an agent has moved, and that is still there, is also where it was. It returns the file under review, or nil.
func (r *Reviewer) copiedBack(t *Worktree, to string, now atomicfile.State) *file {
	for _, f := range t.files {
		if t.files[to] == nil && f.pending() && len(f.Buffers) == 0 && r.load(f) == nil && f.Review.OldPath() == to {
			if made := f.Review.Copied(now.Content); made != nil {
				from := f.path
				r.rekey(f, to)
				r.save(f, r.add(t, from, made))
				return f
			}
		}
	}
	return nil
}

// noteCarried has the files of a tree note which of their lines a turn has carried there from a file that is gone. That is so where a turn has
// moved a file and changed its text. changed are the files to look at again.
func (r *Reviewer) noteCarried(t *Worktree, changed ...*file) {
	var gone, there []*file
	for _, f := range t.files {
		if f.Review == nil || !f.Review.Pending() || f.outside() {
			continue
		}
		if f.Review.Deleted() {
			gone = append(gone, f)
		} else {
			there = append(there, f)
		}
	}
	for _, from := range gone {
		for _, f := range there {
			if path.Ext(f.path) == path.Ext(from.path) && (slices.Contains(changed, f) || slices.Contains(changed, from)) && f.Review.TakeOver(from.Review) {
				f.Unstored = true
				r.affected[f] = true
			}
		}
	}
}

// readable returns the review of a path that holds now, for taking in a change of it; nil if it has to start anew.
func (r *Reviewer) readable(t *Worktree, path string, now atomicfile.State) *file {
	f := t.files[path]
	if f == nil {
		return r.cameBack(t, path, now)
	}
	if err := r.load(f); err != nil {
		r.setup.Log.Error("a review cannot be read; it starts anew", "path", path, "err", err)
		return nil
	}
	return f
}

// recordFile records which file is at the path, so that a person's renaming of it is known as one.
func (f *file) recordFile() {
	if f.outside() || f.tree.Isolated() {
		return
	}
	if st := filestat.Of(f.tree.Absolute(f.path)); st.Exists() {
		f.is, f.sought = st, false
	}
}

// rekey moves a file's review to another path. The old path is left without a review.
func (r *Reviewer) rekey(f *file, to string) {
	delete(f.tree.files, f.path)
	r.ops = append(r.ops, sessions.DropReview{Path: f.path, Session: f.tree.Session})
	r.vacated[f.path], r.viewed[f.path], r.viewed[to] = true, true, true
	f.path, f.diff, f.Unstored = to, nil, true
	f.tree.files[to] = f
}
