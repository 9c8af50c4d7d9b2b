package review

import (
	"path"
	"slices"
	"strings"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/stored"
	"cursord/diffs"
	"cursord/sessions"
)

// onlyVanished reports whether a file disappeared and nothing has happened since. held is what the turn's snapshot has of it. It is the content
// that disappeared, unless a call wrote the file during the turn and the daemon heard of the call's end after the move.
func (f *file) onlyVanished(held diffs.Content, during bool) bool {
	return f.vanished != nil && f.Review.Rev() == f.gone && (during || (atomicfile.State{Content: held}).Same(atomicfile.State{Content: f.vanished.Current()}))
}

// agentMoved takes in a move. It returns nil if the move cannot be reviewed as one.
func (r *Reviewer) agentMoved(t *Worktree, s *snapshot.Snapshot, fd snapshot.Change) *file {
	from, to := fd.From.Path, fd.Path
	if !fd.From.Known || t.Ledger.Writing(from) || t.Ledger.Writing(to) {
		return nil
	}
	before, after := t.TranslatedContent(fd.From.Before), t.Translated(fd.After)
	if there := t.files[to]; there != nil && (there.pending() || len(there.Buffers) > 0) {
		return nil
	}
	f := t.files[from]
	switch {
	case f == nil:
		f = r.add(t, from, r.setup.Large.New(before))
	case len(f.Buffers) > 0 || r.load(f) != nil:
		return nil
	case f.onlyVanished(before, s.TakenIn(*fd.From)):
		f.Review, before = f.vanished, f.vanished.Current()
	case f.pending() && !f.Review.Current().Exists:
		return nil
	}
	f.vanished = nil
	f.Review.Begin(before, t.Others())                      // with what a person has changed since the last decision
	t.made.TakeBack(t.place(from), before, diffs.Content{}) // that the file disappeared is a part of it
	t.made.Note(t.place(to), from, before, after.Content, fd.Source)
	f.Review.Rename(from, to, fd.Source)
	f.Review.Observe(after.Content, fd.Source)
	f.made = stored.Union(f.made, s.MissingDirs(to))
	r.rekey(f, to)
	f.lookedAt = fd.At
	return f
}

// followMoves looks for the new names of files that have a history and are gone: in their own folders, and in the folder of to.
func (r *Reviewer) followMoves(to string) {
	if there := r.shared().files[to]; there != nil && (r.load(there) != nil || there.Review.Current().Exists) {
		return
	}
	for _, f := range r.sorted() {
		if f.stored.Past != nil && !f.outside() && !f.tree.Isolated() && !filestat.Of(r.absolute(f)).Exists() && r.load(f) == nil {
			f.perhapsIn = path.Dir(to)
			_, _ = r.refresh(f)
			if f.perhapsIn = ""; r.stale(f) {
				r.affected[f] = true // it may have nothing pending now, which nobody has been told
			}
		}
	}
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
	there := f.tree.files[to]
	over := there != nil && there.pending()
	if to == "" || there != nil && len(there.Buffers) > 0 || over && (f.perhapsIn == "" || r.load(there) != nil || !there.Review.Deleted()) {
		return false
	}
	was := atomicfile.State{Content: f.Review.Current()}
	if there != nil && r.load(there) == nil && was.Same(atomicfile.State{Content: there.Review.Current()}) {
		return false // it was taken in there before
	}
	if f.Review.Rename(f.path, to, nil); over {
		f.Review.Succeed(there.Review)
	}
	f.tree.UpdateSnapshots(f.path, here) // so that no scan reports that the file is gone
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
		f.is = st
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
