package review

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/internal/origins"
	"cursord/daemon/internal/wire"
	"cursord/diffs"
	"cursord/sessions"
)

// why is Why, in the reviewer's goroutine.
func (r *Reviewer) why(name string, from, to int) (t origins.Text, err error) {
	r.refreshPending() // a commit may have accepted the lines a moment ago
	f, review, err := r.reviewOf(name)
	if err != nil {
		return t, err
	}
	t.Path, t.Text, t.Forgotten = r.named(name), string(review.Current().Data), f != nil && f.stored.Dropped
	t.Lines = origins.Cut(r.moved(f, name, t.Text, review.Origins()), from, to)
	if to >= 0 {
		origins.Former(t.Lines, review)
	}
	return t, nil
}

// reviewOf returns the review of a file as it is on the disk. f is nil if nothing is known of it.
func (r *Reviewer) reviewOf(path string) (f *file, review *diffs.Review, err error) {
	name := r.named(path)
	r.followMoves(name)
	if f := r.shared().files[name]; f != nil && !f.outside() {
		if _, err := r.refresh(f); err != nil {
			return nil, nil, err
		}
		if r.stale(f) {
			r.save(f)
		}
		if f.Review.Current().Exists {
			return f, f.Review, nil
		}
	}
	img := atomicfile.Read(r.setup.Root, name)
	switch {
	case img.Unreadable != "":
		return nil, nil, api.Errorf(api.KindNotFound, "%s cannot be read: %s", path, img.Unreadable)
	case !img.Exists:
		return nil, nil, api.Errorf(api.KindNotFound, "there is no file %s in %s", path, r.setup.Root)
	}
	return nil, r.setup.Large.New(img.Content), nil
}

// known returns what is known of a text of a file, for instance of a commit, beside the file as it was last seen.
func (r *Reviewer) known(name, text string) (origins.Known, error) {
	r.followMoves(name)
	f, review := r.shared().files[name], r.setup.Large.New(diffs.Content{})
	if f != nil {
		if err := r.load(f); err != nil {
			return origins.Known{}, api.StoreError(err)
		}
		review = f.Review
	}
	return origins.Known{Lines: r.moved(f, name, text, review.OriginsOf(text)), Forgotten: f != nil && f.stored.Dropped}, nil
}

// knownNow is known, beside the file as it is on the disk now.
func (r *Reviewer) knownNow(name, text string) (known origins.Known, err error) {
	stopped := r.call(func() {
		if f := r.shared().files[name]; f != nil {
			_, err = r.refresh(f)
		}
		if err == nil {
			known, err = r.known(name, text)
		}
	})
	return known, cmp.Or(stopped, err)
}

// Answer returns what is known of the lines that a commit adds: what was kept of it, or else what the files' histories say now, which is
// kept unless an agent may change that.
func (r *Reviewer) Answer(ctx context.Context, c commits.Commit) (answer origins.Answer, err error) {
	kept := false
	stopped := r.call(func() {
		r.refreshPending()
		_ = r.setup.Loop.Persist()
		answer, kept = r.answers.Get(c.ID)
		for _, of := range c.Files {
			if f := r.shared().files[of.Path]; kept && f != nil && f.pending() && r.load(f) == nil {
				answer[c.Dir+of.Path].Pending(f.Review.Origins())
			}
		}
	})
	if stopped != nil || kept {
		return answer, stopped
	}
	if answer, err = origins.Work(ctx, c, r.knownNow); err != nil || !c.Made {
		return answer, err
	}
	return answer, r.call(func() {
		if r.setup.Running() == 0 {
			r.answers.Put(c.ID, answer)
		}
	})
}

// moved returns the origins of a text of a file with those that other files know. Hunks of a copy that were accepted by edits of an
// editor's text came with a person's save; the copy knows them. And a person may have moved the file: the text then has at least half of
// the known lines of a file with the same extension. Either that file is gone, or name is: an old commit has files at their former names. So
// it is with a file that an agent has moved and changed at once.
func (r *Reviewer) moved(f *file, name, text string, lines []diffs.Origin) []diffs.Origin {
	name = r.named(name)
	for _, other := range r.sorted() {
		if other.tree.Isolated() && (other.path == name || other.movedFrom() != "") && r.load(other) == nil && other.realPath() == name {
			known := slices.DeleteFunc(other.Review.OriginsOf(text), func(o diffs.Origin) bool { return o.Pending || o.ByText })
			lines = origins.Moved(lines, origins.OfACopy(known), false)
		}
	}
	exists := func(name string) bool {
		return filestat.Of(filepath.Join(r.setup.Root, filepath.FromSlash(name))).Exists()
	}
	var gone []*diffs.Review
	for _, other := range r.sorted() {
		if other != f && other.stored.Past != nil && !other.outside() && !other.tree.Isolated() && path.Ext(other.path) == path.Ext(name) &&
			!(exists(other.path) && exists(name)) && r.load(other) == nil {
			gone = append(gone, other.Review)
		}
	}
	return origins.FromGone(lines, text, gone)
}

// Tree asks git about the work tree.
func (r *Reviewer) Tree() git.Tree { return git.Tree{Dir: r.setup.Root, Guard: r.setup.Git} }

// inherit gives the history of a copy's file to the file of the work tree, whose content an accept has just written.
func (r *Reviewer) inherit(f *file, c *treeChange) {
	t := r.shared()
	real := t.files[c.From]
	if r.ahead.files[real] {
		return // it has it already
	}
	if real != nil && r.load(real) != nil {
		return // it starts anew
	}
	if real == nil {
		real = r.add(t, c.From, r.setup.Large.New(c.Before.Content))
	}
	real.Review.Observe(c.Before.Content, nil) // with what people have changed while nobody watched
	if c.From != c.To && c.Before.Exists && c.After.Exists {
		real.Review.Rename(c.From, c.To, nil)
		r.rekey(real, c.To)
	}
	real.Review.ObserveFrom(c.After, f.Review)
	real.Unstored, r.affected[real] = true, true
}

// Written returns what the edits of a session have written in files of the work tree, in the order of their paths, from behind the path
// after on, for some 1 MiB of texts. more says that there are others behind these.
func (r *Reviewer) Written(of *origins.Exporter, after string) (files []*api.WrittenFile, more bool, err error) {
	size := 0
	stopped := r.call(func() {
		if after == "" {
			r.followMoves("")
		}
		for _, f := range r.sorted() {
			past := f.stored.Past
			if f.tree.Isolated() || f.outside() || f.path <= after || past == nil || !of.Knows(past.Sessions) || r.load(f) != nil {
				continue
			}
			if more = size > 1<<20; more {
				return
			}
			if file := of.File(f.path, f.Review); file != nil {
				files, size = append(files, file), size+len(f.Review.Current().Data)
			}
		}
	})
	return files, more, stopped
}

// Recall tells the history of a file of the work tree who has written lines of it, as origins.Recall does.
func (r *Reviewer) Recall(path string, written []diffs.Written, sums []byte, over func(known, told diffs.Source) bool) {
	_ = r.call(func() {
		name := r.named(path)
		if api.DiffPath(path) != nil || filepath.IsAbs(name) {
			return
		}
		f, review, err := r.reviewOf(path)
		if err != nil || !origins.Recall(review, written, sums, over) {
			return
		}
		if f == nil {
			f = r.add(r.shared(), name, review)
		}
		r.answers.Reconsider()
		f.Unstored = true
		r.save(f)
	})
}

// boundHistory drops the histories that were changed longest ago, and the answers that were kept longest ago, while all together are larger than
// the configuration allows, and returns the operations that store that. It tells people of the histories.
func (r *Reviewer) boundHistory() (ops []sessions.Op) {
	limit, total := r.setup.Settings().HistorySize, r.answers.Total()
	files := slices.DeleteFunc(r.sorted(), func(f *file) bool { return f.stored.Past == nil })
	for _, f := range files {
		total += int64(f.stored.Past.Size)
	}
	if total <= limit {
		return nil
	}
	slices.SortStableFunc(files, func(a, b *file) int { return cmp.Compare(a.stored.Past.At, b.stored.Past.At) })
	var dropped []string
	for _, f := range files {
		freed, drops := r.answers.Shorten(f.stored.Past.At, total-limit)
		if ops, total = append(ops, drops...), total-freed; total <= limit {
			break
		}
		total -= int64(f.stored.Past.Size)
		if r.load(f) != nil {
			continue
		}
		f.Review.ForgetHistory()
		f.stored.Dropped = true
		var blobs [][]byte
		f.stored, blobs = f.state()
		ops = append(ops, sessions.PutReview{Path: f.path, Session: f.tree.Session, State: wire.Encode(f.stored), Blobs: blobs})
		dropped = append(dropped, f.path)
	}
	_, drops := r.answers.Shorten(math.MaxInt64, total-limit)
	if len(dropped) > 0 {
		r.setup.Log.Info("histories of files were dropped", "files", strings.Join(dropped, " "))
		r.setup.Post("history "+r.setup.Root, slog.LevelInfo, origins.Dropped(r.setup.Root, dropped))
	}
	return append(ops, drops...)
}
