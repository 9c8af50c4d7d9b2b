package review

import (
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/stored"
	"cursord/diffs"
)

// takeInScan takes in changes that no call named: the agent's, and people's changes that the same scan found.
func (r *Reviewer) takeInScan(t *Worktree, s *snapshot.Snapshot, list []snapshot.Change) {
	var changed, away []*file
	for _, fd := range list {
		if f := t.files[fd.Path]; f != nil && fd.Source == nil && !fd.After.Exists {
			away = append(away, f)
		}
	}
	r.seek(away, false)
	take := func(fd snapshot.Change) {
		if t.Ledger.LeftBeside(fd.Path, fd.Source) {
			return
		}
		takenAway := fd.Source == nil && !fd.After.Exists
		if takenAway {
			s.TakenAway(fd.Path)
		}
		// The file has changed again since the scan, or a person may have given it another name.
		if f := t.files[fd.Path]; f != nil && (takenAway || filestat.Of(s.Where(fd.Path)) != fd.Is) {
			_, err := r.refresh(f)
			if f.perhapsIn = ""; err == nil {
				if changed = append(changed, f); takenAway {
					s.Note(fd.Path, fd.Is, fd.After)
				}
				return
			}
		}
		if f := r.takeScanned(t, s, fd); f != nil {
			changed = append(changed, f)
		}
		s.Note(fd.Path, fd.Is, fd.After)
	}
	for _, fd := range list {
		if fd.From == nil {
			take(fd)
		} else if f := r.takeMove(t, s, fd); f != nil {
			changed = append(changed, f)
			s.Note(fd.From.Path, filestat.Stat{}, atomicfile.State{})
			s.Note(fd.Path, fd.Is, fd.After)
		} else {
			take(*fd.From)
			take(fd)
		}
	}
	if t.Isolated() { // the copy gets changes that people have made since
		for _, f := range changed {
			if _, err := r.refresh(f); err != nil {
				r.setup.Log.Warn("a file under review cannot be read", "path", f.path, "err", err)
			}
		}
	}
	r.noteCarried(t, changed...)
	r.save(changed...)
}

// takeScanned takes one change into review. It returns nil if the change is known.
func (r *Reviewer) takeScanned(t *Worktree, s *snapshot.Snapshot, fd snapshot.Change) *file {
	fd.Before, fd.After = t.TranslatedContent(fd.Before), t.Translated(fd.After)
	f := r.readable(t, fd.Path, fd.After)
	if f == nil && fd.Source != nil {
		if f = r.copiedBack(t, fd.Path, fd.After); f != nil {
			fd.Known = false // the review knows what the file was before the move; the scan, that it was gone
		}
	}
	fd.Known = fd.Known && !(fd.Doubt && f != nil) // the review knows better
	if f != nil && fd.After.Same(atomicfile.State{Content: f.Review.Current()}) && (f.pending() || !fd.Known || s.TakenIn(fd)) {
		return nil // a person had reverted a decision by hand, and an agent has made the change again
	}
	if f != nil && fd.Source == nil { // another turn may have made it
		fd.Source = t.Writer(fd.Path)
	}
	if doc := r.setup.Documents.Typed(s.Where(fd.Path), fd.After); doc != nil && !t.Isolated() {
		return r.takeTyped(f, doc, fd)
	}
	if f == nil && !fd.Known {
		fd.Before, fd.Known = r.takenOver(t, fd.Path)
	}
	if ours, ok := s.Noted(fd.Path, fd.Was); ok && f == nil {
		fd.Before, fd.Known = t.TranslatedContent(ours), true // an accept has written the file since the scan began
	}
	before := atomicfile.State{Content: fd.Before}
	var guess *diffs.Review
	switch {
	case f == nil && (fd.Source == nil || fd.Known && before.Same(fd.After)):
		return nil
	case f == nil && fd.Known:
		f = r.add(t, fd.Path, r.setup.Large.New(fd.Before))
		guess = f.Review.Copy()
		f.Review.Observe(fd.After.Content, fd.Source)
	case f == nil:
		f = r.add(t, fd.Path, r.setup.Large.NewUnknown(fd.After.Content, *fd.Source))
	default:
		if fd.Source != nil && fd.Known {
			f.Review.Begin(fd.Before, t.Others()) // with what a person has changed since the last decision
		}
		guess = f.Review.Copy()
		f.Review.Observe(fd.After.Content, fd.Source)
	}
	if f.lookedAt = fd.At; fd.Is.Exists() && !t.Isolated() {
		f.is = fd.Is // a person may give it another name before the next look
	}
	if fd.Source != nil {
		t.made.Found(t.place(fd.Path), guess, fd.After.Content, fd.Source)
		f.agents = f.Review.Rev()
		f.guessed(guess, *fd.Source)
	}
	if fd.Source != nil && !fd.Was.Exists() {
		f.made = stored.Union(f.made, s.MissingDirs(fd.Path))
	}
	for _, st := range []filestat.Stat{fd.Was, fd.Is} {
		if st.Mode.IsRegular() && st.Exists() {
			f.mode = uint32(st.Mode.Perm())
		}
	}
	return f
}

// takeTyped takes in a change after which a file has the text that a person has typed. The text is the person's, and the mode is the
// change's: typing changes no mode.
func (r *Reviewer) takeTyped(f *file, doc *documents.Document, fd snapshot.Change) *file {
	typed := fd.After
	if f != nil {
		if was := f.Review.Current(); was.Exists && was.Mode != 0 {
			typed.Mode = was.Mode
		}
	}
	f = r.typedInto(fd.Path, doc, typed, typed)
	if f != nil && fd.Source != nil && typed.Mode != fd.After.Mode && typed.Same(atomicfile.State{Content: f.Review.Current()}) {
		f.Review.Observe(fd.After.Content, fd.Source)
		f.agents = f.Review.Rev()
	}
	return f
}
