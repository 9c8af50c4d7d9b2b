package review

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/killed"
	"cursord/daemon/internal/stored"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// resume finishes the writes that the last daemon had begun. It drops those that it had not begun: their hunks are still
// pending.
func (r *Reviewer) resume(intents []sessions.Numbered) {
	for _, rec := range intents {
		r.intents = max(r.intents, rec.N)
		var in stored.Intent
		err := json.Unmarshal(rec.Data, &in)
		var published []*sessions.Diff
		var ops []sessions.Op
		if err == nil {
			published, ops, err = r.finishIntent(&in)
		}
		if err != nil {
			// It cannot be resumed, and a later start must not try: by then newer decisions would contradict it.
			r.setup.Log.Error("an unfinished decision of the last daemon cannot be read", "err", err)
		}
		r.submit(published, append(ops, sessions.DropIntent{N: rec.N}), nil)
	}
}

// finishIntent finishes an intent that was partly carried out. A new decision keeps only the files that were written; later
// changes of these files are a person's. A rewind, an undo or a redo is finished in all of its files.
func (r *Reviewer) finishIntent(in *stored.Intent) (published []*sessions.Diff, ops []sessions.Op, err error) {
	changes, at := make([]*treeChange, len(in.Files)), make([]atomicfile.Progress, len(in.Files))
	begun := false
	for i := range in.Files {
		if changes[i], err = r.intended(&in.Files[i]); err != nil {
			return nil, nil, err
		}
		err := r.within(changes[i], func(t atomicfile.Root) (err error) {
			at[i], err = t.Resume(&changes[i].Change)
			return err
		})
		if err != nil {
			at[i] = atomicfile.Foreign
			r.setup.Log.Error("a decision cannot be finished", "path", in.Files[i].To, "err", err)
		}
	}
	chained(changes, at)
	for i, c := range changes {
		begun = begun || at[i] == atomicfile.Carried && c.Writes()
	}
	g := in.Group
	var files []*file
	for i, c := range changes {
		if begun && at[i] == atomicfile.Untouched && (in.N != 0 || in.Cut != nil) {
			if err := r.carry(r.treeOf(in.Files[i].Session), c); err != nil {
				r.setup.Log.Error("a decision cannot be finished", "path", c.To, "err", err)
			} else {
				at[i] = atomicfile.Carried
			}
		}
		if at[i] == atomicfile.Foreign && r.isHalfWritten(c) {
			// The decision stands, and the file's present content is a person's. Undo brings back the earlier content.
			r.halfWritten(c)
			at[i], begun = atomicfile.Carried, true
		}
		if !begun || at[i] != atomicfile.Carried {
			_ = r.within(c, func(t atomicfile.Root) error { // a folder that cannot be opened has nothing to remove
				t.RemoveEmpty(c.Dirs)
				return nil
			})
			continue
		}
		f, err := r.adoptIntended(&in.Files[i], c)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
		g.Files = append(g.Files, decisionlog.File{Path: f.path, N: f.n, Decision: in.Files[i].Decision})
		g.Rejections = append(g.Rejections, in.Files[i].Rejections...)
	}
	if len(files) == 0 {
		return nil, nil, nil
	}
	r.setup.Log.Warn("a decision was finished that the last daemon had begun", "files", len(files), "of", len(in.Files))
	if in.N == 0 {
		ops = r.log.Push(&g)
	} else if old := r.log.Numbered(in.N); old != nil {
		g.N, g.Rejections = in.N, old.Rejections
		ops = []sessions.Op{r.log.Replace(&g)}
	}
	if g.Undone {
		r.setup.Loop.ForgetRejections(g.N)
	} else if !r.setup.Loop.KeepsRejections(g.N) {
		r.keepRejections(&g)
	}
	r.cut = in.Cut
	published, more := r.render(files)
	return published, append(ops, more...), nil
}

// isHalfWritten reports whether the folder shows that a change was cut short.
func (r *Reviewer) isHalfWritten(c *treeChange) (half bool) {
	_ = r.within(c, func(t atomicfile.Root) error { // a folder that cannot be opened is no evidence
		half = t.HalfWritten(&c.Change)
		return nil
	})
	return half
}

// halfWritten tells people of a file whose write was cut short and that has been changed since.
func (r *Reviewer) halfWritten(c *treeChange) {
	r.setup.Log.Warn("a file was half written when the last daemon ended, and has been changed since", "path", c.To)
	r.setup.Post("half written "+r.setup.Root+"\x00"+c.To, slog.LevelWarn, fmt.Sprintf(
		"%s in %s was half written by a decision when the daemon was killed, and has been changed since; look at it. Undo (cursord undo) brings back what it held before",
		paths.Shown(c.To), r.setup.Root))
}

// within calls do with the tree of a change, opened for writing.
func (r *Reviewer) within(c *treeChange, do func(atomicfile.Root) error) error {
	t, err := r.folder(c.in)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t)
}

// adoptIntended brings a file's review to the state after a change that was carried out.
func (r *Reviewer) adoptIntended(x *stored.IntendedFile, c *treeChange) (*file, error) {
	f := r.decided(decisionlog.File{Path: x.From, N: x.State.N})
	if f == nil {
		f = r.newFile(r.treeOf(x.Session), x.From)
		f.n = x.State.N
		f.tree.files[f.path] = f
	}
	f.stored, f.Review = x.State, nil
	f.mode, f.made, f.accepted, f.links = x.State.Mode, x.State.Made, x.State.Accepted, x.State.Links
	if err := r.load(f); err != nil {
		return nil, err
	}
	r.written(f, c)
	return f, nil
}

// intended returns the change that an intent has for one file.
func (r *Reviewer) intended(x *stored.IntendedFile) (*treeChange, error) {
	c, err := x.Change(r.setup.Store)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.To, err)
	}
	in := r.shared()
	if x.Copy {
		in = r.treeOf(x.Session)
	}
	return &treeChange{in: in, Change: c}, nil
}

// takeUp takes in what a turn had changed when the last daemon was killed, and publishes the turn again: its end is the last of it.
func (r *Reviewer) takeUp(k killed.Taken) {
	r.made.Resume(k.Turn.ID)
	if t := r.treeOf(k.By.SessionID); k.Snapshot != nil {
		t.Starts.Add(k.Snapshot)
		r.takeInScan(t, k.Snapshot, k.Changes)
		t.Starts.Remove(k.Snapshot)
	} else if r.open(t) == nil { // else the turn had not made it
		t.Source, t.turns = k.By, t.turns+1
		r.tookOver(t, nil, r.leftIn(t))
		r.release(t, false)
	}
	r.made.EndTurn(k.Turn.ID)
	_ = r.setup.Loop.Commit(&Commit{Items: k.Notices, Calls: r.made.Take(), Turn: k.Turn, Numbered: func() {}}) // an error means that the loop has ended
	_ = r.setup.Loop.Persist()                                                                                  // it is published when clients may see the workspace
}
