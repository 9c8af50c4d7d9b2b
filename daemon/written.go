package daemon

import (
	"bytes"

	"cursord/agent"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// A written is a file that a finished call says it changed.
type written struct {
	spot
	call   int // which ToolEnd of the batch
	change agent.FileChange
	before *image // the disk at the call's start, if it was read then
	after  image  // the disk at the call's end
	edit   bool   // a missing before-image means that there was no file, or an empty one
	start  *snapshot
	open   []openWindow  // to be closed behind it
	of     *window       // of its call, where before is from
	beside *diffs.Source // who may have changed the file since it was last looked at; nil: people
	says   *said         // nil if the call does not say what it left
	prior  *said         // by the call before on the same path; nil if there was none
}

// agentWrote takes a file that a tool call changed. The image before it is, in this order: our own look at the call's
// start, if the agent had not written then; the agent's own report, if its after-image is what the disk has; a file
// that was not there. Without any of them the baseline is unknown; in a copy it is what was taken over.
func (r *reviewer) agentWrote(wr written, src diffs.Source) {
	if wr.after.odd != "" {
		return // people are told
	}
	defer wr.start.note(wr.path, filestat.Stat{}, wr.after)
	f := wr.tree.files[wr.path]
	if f != nil {
		if err := r.load(f); err != nil {
			r.w.log.Error("a review cannot be read; it starts anew", "path", wr.path, "err", err)
			f = nil
		}
	}
	if wr.beside == nil {
		wr.beside = wr.tree.others()
	}
	before, known := wr.best(f, &wr.tree.windows)
	if known && wr.prior.is(before) {
		wr.beside = &wr.prior.source // nobody has seen it, but it is no person's
	}
	if before.Exists && before.Mode == 0 && before.Target == "" && wr.before != nil {
		before.Mode = wr.before.Mode // a report has none
	}
	if f == nil && !known {
		before, known = r.takenOver(wr.tree, wr.path)
	}
	switch {
	case f == nil && known:
		start, seen := wr.startAt()
		alone := wr.beside == nil || !seen || (image{Content: start}).same(image{Content: before})
		switch {
		case alone && (image{Content: before}).same(wr.after), !alone && (image{Content: start}).same(wr.after):
			return
		case alone:
			f = r.add(wr.tree, wr.path, r.w.d.config.Large.New(before))
		default: // what another call did that is still open, or what was not looked at since, comes first
			f = r.add(wr.tree, wr.path, r.w.d.config.Large.New(start))
			f.review.Observe(before, wr.beside)
		}
		f.review.Observe(wr.after.Content, &src)
	case f == nil:
		f = r.add(wr.tree, wr.path, r.w.d.config.Large.NewUnknown(wr.after.Content, src))
	default:
		if known && wr.beside != nil && !f.review.Pending() {
			if start, seen := wr.startAt(); seen {
				f.review.Observe(start, wr.tree.others()) // what people have done while nobody watched
			}
		}
		if known {
			f.review.Observe(before, wr.beside)
		}
		f.review.Observe(wr.after.Content, &src)
	}
	f.made = union(f.made, wr.start.missingDirs(wr.path))
	if wr.before != nil && wr.before.Exists {
		f.mode = uint32(wr.before.mode.Perm())
	}
	if wr.after.Exists {
		f.mode = uint32(wr.after.mode.Perm())
	}
	if r.stale(f) {
		r.save(f)
	}
}

// best returns what the file held before the call, if that is known; for a file under review only if it differs from
// what was last seen.
func (wr *written) best(f *file, open *windows) (_ diffs.Content, known bool) {
	reported, own := wr.reported(), wr.before
	if own != nil {
		if _, ok := open.claim(wr.of, wr.path); !ok {
			return diffs.Content{}, false // taken in already, and what has come of it
		}
	}
	if own != nil && (own.odd != "" || own.same(wr.after) || wr.late(own)) {
		own = nil // too late to tell
	}
	last, seen := wr.start.at(wr.path)
	if f != nil && f.review.Pending() {
		last, seen = f.review.Current(), true
	}
	if reported != nil && reported.Exists && seen && decodesTo(last, reported.Content) {
		reported = &image{Content: last} // the report has lost what is no text to it
	}
	// What the agent writes begins like this, or is not there for a moment: it may have been seen while it was written.
	replaced := reported == nil && seen && last.Exists && wr.after.Exists
	torn := own != nil && (!own.Exists && replaced || own.tornOf(wr.after) || seen && own.overlaid(last, wr.after) || wr.change.After != nil && bytes.HasPrefix(decoded([]byte(*wr.change.After)), decoded(own.Data)))
	if f != nil && f.review.Pending() {
		now := image{Content: f.review.Current()}
		switch {
		case own == nil && now.same(wr.after): // seen already
		case own != nil && !torn && !own.same(now):
			return own.Content, true
		case (own == nil || torn) && reported != nil && reported.Exists && !reported.same(now):
			return reported.Content, true
		}
		return diffs.Content{}, false
	}
	// Where nothing is pending, nobody has watched.
	switch {
	case own != nil && !torn:
		return own.Content, true
	case reported != nil:
		return reported.Content, true
	}
	switch start, seen := wr.startAt(); {
	case seen:
		return start, true
	case own != nil:
		return own.Content, true
	}
	return diffs.Content{}, false
}

// decoded returns a text as agents may have it who have read it.
func decoded(b []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimPrefix(b, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
}

// decodesTo reports whether a file is another but for its line ends and the mark at its beginning, which agents drop when
// they read it.
func decodesTo(file, text diffs.Content) bool {
	if !file.Exists || file.Target != "" || bytes.Contains(text.Data, []byte("\r\n")) {
		return false
	}
	return bytes.Equal(decoded(file.Data), decoded(text.Data))
}

// tornOf reports whether a file has the beginning of what it holds after, or nothing at all: what is about to be written
// is often cut off first.
func (a image) tornOf(after image) bool {
	return a.Exists && a.Target == "" && (len(a.Data) == 0 || after.Exists && bytes.HasPrefix(after.Data, a.Data))
}

// overlaid reports whether a file holds what it holds after and, behind that, the rest of what it held before: some
// programs write in place, and cut off what is too much in the end. A rest that begins with a line may be meant.
func (a image) overlaid(before diffs.Content, after image) bool {
	n := len(after.Data)
	return a.Exists && a.Target == "" && 0 < n && n < len(before.Data) && len(a.Data) == len(before.Data) &&
		bytes.Equal(a.Data[:n], after.Data) && bytes.Equal(a.Data[n:], before.Data[n:]) && before.Data[n-1] != after.Data[n-1]
}

// late reports whether an image is what the call says that it has made of the file.
func (wr *written) late(own *image) bool {
	if wr.change.Deleted {
		return !own.Exists
	}
	return own.Exists && wr.change.After != nil && bytes.Equal(decoded([]byte(*wr.change.After)), decoded(own.Data))
}

// reported returns the before-image in the call's result, if the after-image there is what the disk has.
func (wr *written) reported() *image {
	before, after := wr.change.Before, wr.change.After
	start, seen := wr.startAt()
	switch {
	case wr.change.Deleted && seen && start.Target != "" && !wr.after.Exists:
		return &image{Content: start} // the agent tells what the link led to
	case !wr.change.Deleted && seen && start.Target != "" && wr.after.Exists && wr.after.Target == "":
		return &image{Content: start} // likewise: a file has come in the link's place
	case wr.change.Deleted:
		if wr.after.Exists || before == nil {
			return nil
		}
	case !wr.after.Exists || after == nil && len(wr.after.Data) > 0 || after != nil && *after != string(wr.after.Data):
		return nil
	}
	if before != nil {
		return &image{Content: diffs.Content{Exists: true, Data: []byte(*before)}}
	}
	if !wr.edit {
		return nil
	}
	// The agent leaves out what is empty: there was no file, or one without content. Or it tells nothing at all.
	switch {
	case !seen || !start.Exists || start.Target != "":
	case len(start.Data) == 0:
		return &image{Content: start}
	case after == nil:
		return nil
	default: // a person has emptied it
		return &image{Content: diffs.Content{Exists: true, Mode: start.Mode}}
	}
	return &image{}
}

// startAt returns what the path held when the turn began, or was last looked at.
func (wr *written) startAt() (diffs.Content, bool) {
	c, known := wr.start.at(wr.path)
	return wr.tree.toldContent(c), known
}
