package review

import (
	"cmp"
	"context"
	"log/slog"
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

// mostFormer bounds the former lines of an answer, in bytes.
const mostFormer = 64 << 10

// why is Why, in the reviewer's goroutine.
func (r *Reviewer) why(name string, from, to int) (lines []diffs.Origin, forgotten bool, err error) {
	f, review, err := r.reviewOf(name)
	if err != nil {
		return nil, false, err
	}
	lines = origins.Cut(r.moved(f, name, string(review.Current().Data), review.Origins()), from, to)
	left := mostFormer
	for i := range lines {
		if to < 0 {
			break
		}
		o := &lines[i]
		for _, was := range review.Former(*o) {
			if left -= len(was) + 1; left < 0 {
				o.WasMore++
			} else {
				o.Was = append(o.Was, was)
			}
		}
	}
	return lines, f != nil && f.stored.Dropped, nil
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

// WhyText is Why for all lines of another text of a file, for instance one of a commit.
func (r *Reviewer) WhyText(name, text string) (lines []diffs.Origin, forgotten bool, err error) {
	stopped := r.call(func() {
		f := r.shared().files[name]
		review := r.setup.Large.New(diffs.Content{})
		if f != nil {
			if _, err = r.refresh(f); err != nil {
				return
			}
			review, forgotten = f.Review, f.stored.Dropped
		}
		lines = r.moved(f, name, text, review.OriginsOf(text))
	})
	return lines, forgotten, cmp.Or(stopped, err)
}

// moved returns the origins of a text of a file with those that other files know. Hunks of a copy that were accepted by edits of an
// editor's text came with a person's save; the copy knows them. And a person may have moved the file: the text then has at least half of
// the known lines of a file with the same extension. Either that file is gone, or name is: an old commit has files at their former names.
func (r *Reviewer) moved(f *file, name, text string, lines []diffs.Origin) []diffs.Origin {
	name = r.named(name)
	for _, other := range r.sorted() {
		if other.tree.isolated() && (other.path == name || other.movedFrom() != "") && r.load(other) == nil && other.realPath() == name {
			known := slices.DeleteFunc(other.Review.OriginsOf(text), func(o diffs.Origin) bool { return o.Pending || o.ByText })
			lines = origins.Moved(lines, known, false)
		}
	}
	if !slices.ContainsFunc(lines, func(o diffs.Origin) bool { return o.Source == nil }) {
		return lines
	}
	exists := func(name string) bool {
		return filestat.Of(filepath.Join(r.setup.Root, filepath.FromSlash(name))).Exists()
	}
	var gone []*diffs.Review
	for _, other := range r.sorted() {
		if other != f && other.stored.Past != nil && !other.outside() && !other.tree.isolated() && path.Ext(other.path) == path.Ext(name) &&
			!(exists(other.path) && exists(name)) && r.load(other) == nil {
			gone = append(gone, other.Review)
		}
	}
	return diffs.Tell(origins.Moved(lines, origins.Nearest(text, gone), true), text)
}

// Commit reads a commit of the work tree, as commits.Read says.
func (r *Reviewer) Commit(ctx context.Context, rev string, amend bool) (commits.Commit, error) {
	return commits.Read(ctx, git.Tree{Dir: r.setup.Root, Guard: r.setup.Git}, rev, amend)
}

// inherit gives the history of a copy's file to the file of the work tree, whose content an accept has just written.
func (r *Reviewer) inherit(f *file, c *treeChange) {
	t := r.shared()
	real := t.files[c.From]
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
func (r *Reviewer) Written(session, after string) (files []*api.WrittenFile, more bool, err error) {
	size := 0
	stopped := r.call(func() {
		if after == "" {
			r.followMoves("")
		}
		for _, f := range r.sorted() {
			past := f.stored.Past
			if f.tree.isolated() || f.outside() || f.path <= after || past == nil || !slices.Contains(past.Sessions, session) || r.load(f) != nil {
				continue
			}
			if more = size > 1<<20; more {
				return
			}
			text := string(f.Review.Current().Data)
			if file := origins.Exported(f.path, text, f.Review.Written(session)); file != nil {
				files, size = append(files, file), size+len(text)
			}
		}
	})
	return files, more, stopped
}

// Recall tells the history of a file of the work tree who has written lines of it, as origins.Recall does.
func (r *Reviewer) Recall(path string, written []diffs.Written, sums []byte) {
	_ = r.call(func() {
		name := r.named(path)
		if api.DiffPath(path) != nil || filepath.IsAbs(name) {
			return
		}
		f, review, err := r.reviewOf(path)
		if err != nil || !origins.Recall(review, written, sums) {
			return
		}
		if f == nil {
			f = r.add(r.shared(), name, review)
		}
		f.Unstored = true
		r.save(f)
	})
}

// boundHistory drops the histories that were changed longest ago while all together are larger than the configuration
// allows, and returns the operations that store that. It tells people of it.
func (r *Reviewer) boundHistory() (ops []sessions.Op) {
	limit, total := r.setup.Settings().HistorySize, int64(0)
	for _, t := range r.trees {
		for _, f := range t.files {
			if f.stored.Past != nil {
				total += int64(f.stored.Past.Size)
			}
		}
	}
	if total <= limit {
		return nil
	}
	files := slices.DeleteFunc(r.sorted(), func(f *file) bool { return f.stored.Past == nil })
	slices.SortStableFunc(files, func(a, b *file) int { return cmp.Compare(a.stored.Past.At, b.stored.Past.At) })
	var dropped []string
	for _, f := range files {
		if total <= limit {
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
		ops = append(ops, sessions.PutReview{Path: f.path, Session: f.tree.session, State: wire.Encode(f.stored), Blobs: blobs})
		dropped = append(dropped, f.path)
	}
	if len(dropped) == 0 {
		return nil
	}
	r.setup.Log.Info("histories of files were dropped", "files", strings.Join(dropped, " "))
	r.setup.Post("history "+r.setup.Root, slog.LevelInfo, origins.Dropped(r.setup.Root, dropped))
	return ops
}
