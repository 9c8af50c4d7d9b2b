package review

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/wire"
	"cursord/diffs"
	"cursord/sessions"
)

// This file is about the histories of files: which edits the lines come from, pending or accepted.

// why is Why, in the reviewer's goroutine.
func (r *Reviewer) why(path string, from, to int) ([]diffs.Origin, error) {
	name := r.named(path)
	if f := r.shared().files[name]; f != nil && !f.outside() {
		if _, err := r.refresh(f); err != nil {
			return nil, err
		}
		if r.stale(f) {
			r.save(f)
		}
		return cutOrigins(f.Review.Origins(), from, to), nil
	}
	img := atomicfile.Read(r.setup.Root, name)
	switch {
	case img.Unreadable != "":
		return nil, api.Errorf(api.KindNotFound, "%s cannot be read: %s", path, img.Unreadable)
	case !img.Exists:
		return nil, api.Errorf(api.KindNotFound, "there is no file %s in %s", path, r.setup.Root)
	}
	return cutOrigins(r.setup.Large.New(img.Content).Origins(), from, to), nil
}

// cutOrigins returns the part of origins that is about some lines.
func cutOrigins(origins []diffs.Origin, from, to int) []diffs.Origin {
	cut := []diffs.Origin{}
	for _, o := range origins {
		if o.From = max(o.From, from); to >= 0 {
			o.To = min(o.To, to)
		}
		if o.From < o.To {
			cut = append(cut, o)
		}
	}
	return cut
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
	what := dropped[0]
	if n := len(dropped); n > 1 {
		what = fmt.Sprintf("%s and %d other files", what, n-1)
	}
	r.setup.Log.Info("histories of files were dropped", "files", strings.Join(dropped, " "))
	r.setup.Post("history "+r.setup.Root, slog.LevelInfo, fmt.Sprintf(
		"What agents wrote in %s in %s and you accepted is not known any more, so that rewind and why cannot tell it: it was more than history_size keeps. "+
			"Set a larger one (cursord config set history_size 256MB) to keep more", what, r.setup.Root))
	return ops
}
