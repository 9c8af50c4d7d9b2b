package daemon

import (
	"fmt"
	"io/fs"
	"slices"

	"cursord/diffs"
	"cursord/sessions"
)

// resume finishes what the last daemon had begun to write, and forgets what it was only about to: that is pending still.
func (r *reviewer) resume(intents []sessions.Numbered) {
	for _, rec := range intents {
		r.intents = max(r.intents, rec.N)
		var in intent
		err := decode(rec.Data, &in)
		var told []*sessions.Diff
		var ops []sessions.Op
		if err == nil {
			told, ops, err = r.finishIntent(&in)
		}
		if err != nil {
			// What comes next is decided from what the disk shows; later, this intent would be a lie.
			r.w.log.Error("what the last daemon was about to write is not known", "err", err)
		}
		r.submit(told, append(ops, sessions.DropIntent{N: rec.N}), nil)
	}
}

// finishIntent finishes what was begun of an intent. The group of decisions keeps the files in which it is carried out:
// where somebody has written since, the difference is theirs. Of a group that is taken back, or made again, all files go
// together.
func (r *reviewer) finishIntent(in *intent) (told []*sessions.Diff, ops []sessions.Op, err error) {
	changes, at := make([]*change, len(in.Files)), make([]progress, len(in.Files))
	begun := false
	for i := range in.Files {
		if changes[i], err = r.intended(&in.Files[i]); err != nil {
			return nil, nil, err
		}
		err := r.within(changes[i], func(t tree) (err error) {
			at[i], err = t.resume(changes[i])
			return err
		})
		if err != nil {
			at[i] = foreign
			r.w.log.Error("a decision cannot be finished", "path", in.Files[i].To, "err", err)
		}
		begun = begun || at[i] == carried && changes[i].writes()
	}
	g := in.Group
	var files []*file
	for i, c := range changes {
		if begun && at[i] == untouched && in.N != 0 {
			if err := r.within(c, func(t tree) error { return t.carry(c) }); err != nil {
				r.w.log.Error("a decision cannot be finished", "path", c.to, "err", err)
			} else {
				at[i] = carried
			}
		}
		if !begun || at[i] != carried {
			_ = r.within(c, func(t tree) error { // what cannot be opened has no folders
				t.removeEmpty(c.dirs)
				return nil
			})
			continue
		}
		f, err := r.adoptIntended(&in.Files[i], c)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
		g.Files = append(g.Files, groupFile{Path: f.path, N: f.n, Decision: in.Files[i].Decision})
		g.Told = append(g.Told, in.Files[i].Told...)
	}
	if len(files) == 0 {
		return nil, nil, nil
	}
	r.w.log.Warn("a decision was finished that the last daemon had begun", "files", len(files), "of", len(in.Files))
	if in.N == 0 {
		ops = r.push(&g)
	} else if i := slices.IndexFunc(r.log, func(g *group) bool { return g.n == in.N }); i >= 0 {
		g.n, g.Told = in.N, r.log[i].Told
		r.log[i] = &g
		ops = []sessions.Op{sessions.PutDecision{N: g.n, Data: encode(&g)}}
	}
	if g.Undone {
		r.takeBackRejections(g.n)
	} else if !r.toldRejections(g.n) {
		r.tellRejections(&g)
	}
	told, more := r.render(files)
	return told, append(ops, more...), nil
}

// within runs do in the folder that a change is in.
func (r *reviewer) within(c *change, do func(tree) error) error {
	t, err := r.folder(c.in)
	if err != nil {
		return err
	}
	defer t.close()
	return do(t)
}

// adoptIntended has the review of a file be what it is once its change is carried out.
func (r *reviewer) adoptIntended(x *intendedFile, c *change) (*file, error) {
	f := r.decided(groupFile{Path: x.From, N: x.State.N})
	if f == nil {
		f = &file{tree: r.treeOf(x.Session), path: x.From, n: x.State.N}
		f.tree.files[f.path] = f
	}
	f.stored, f.review = x.State, nil
	f.mode, f.made, f.accepted, f.links = x.State.Mode, x.State.Made, x.State.Accepted, x.State.Links
	if err := r.load(f); err != nil {
		return nil, err
	}
	r.written(f, c)
	return f, nil
}

// intended returns the change of a file of an intent.
func (r *reviewer) intended(x *intendedFile) (*change, error) {
	before, err := r.content(x.Before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.From, err)
	}
	after, err := r.content(x.After)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.To, err)
	}
	in := r.shared()
	if x.Copy {
		in = r.treeOf(x.Session)
	}
	return &change{
		in: in, from: x.From, to: x.To, temp: x.Temp, before: image{Content: before}, after: after, mode: fs.FileMode(x.Mode), dirs: x.Dirs,
		links: x.Links,
	}, nil
}

// content returns what heldOf has described.
func (r *reviewer) content(h held) (c diffs.Content, err error) {
	c = diffs.Content{Exists: h.Exists, Target: string(h.Target), Mode: h.Mode}
	if h.Blob != "" {
		c.Data, err = r.w.d.store.Blob(h.Blob)
	}
	return c, err
}
