package daemon

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cursord/diffs"
	"cursord/sessions"
)

// A reviewer keeps what is under review in one workspace: like a second clerk beside the loop, with the files on the
// desk. Its goroutine owns the reviews and the log of decisions and is the only one that writes the work tree. It may
// wait for the disk and for the loop; the loop never waits for it.
type reviewer struct {
	w       *workspace
	windows windows
	inbox   chan func()
	later   mailbox[func()] // what those have to say who cannot wait
	quit    chan struct{}
	done    chan struct{}

	// Owned by its goroutine.
	files   map[string]*file // by path
	log     []*group         // decisions, oldest first
	intents uint64           // the number of the last one
	parked  []*parked        // requests that wait for an agent
	ops     []sessions.Op    // to be stored with what is stored next
	starts  []*snapshot      // of the turns that run
	viewed  map[*file]bool   // what some client may see differently now
	left    []*sessions.Diff // of paths from which files have moved away, to be told
	head    gitHead
	watch   *fsWatch
	rewatch bool // what is pending may have changed since watch was told

	docs changedDocuments
}

// A file is a path under review.
type file struct {
	path   string
	n      uint64         // names the review in hunk ids; unique in the workspace
	review *diffs.Review  // nil until it is needed
	diff   *sessions.Diff // as last told; nil before
	made   []string       // folders that the agent made for it
	mode   uint32         // permission bits as last seen, for writing a deleted file back
	stored fileState      // what the store has
	moved  bool           // the store does not have it at this path

	vanished *diffs.Review // as it was before the file was seen to be gone while a call was open that may have moved it

	buffers map[ClientID]*buffer        // of clients that hold it unsaved
	views   map[ClientID]*sessions.Diff // as those were last told
}

// A fileState is a file's form in the store.
type fileState struct {
	N     uint64   `json:"n"`
	Mode  uint32   `json:"mode,omitempty"`
	Made  []string `json:"made,omitempty"`
	Base  string   `json:"base"` // blobs
	Now   string   `json:"now"`
	Weave []byte   `json:"weave"`
}

func newReviewer(w *workspace) (*reviewer, error) {
	r := &reviewer{
		w: w, windows: windows{paths: map[string][]*window{}}, inbox: make(chan func(), 16),
		quit: make(chan struct{}), done: make(chan struct{}), files: map[string]*file{}, viewed: map[*file]bool{},
	}
	recs, err := w.d.store.Reviews(w.root)
	if err != nil {
		return nil, err
	}
	for _, rec := range recs {
		f := &file{path: rec.Path}
		if err := decode(rec.State, &f.stored); err != nil {
			return nil, fmt.Errorf("review of %s: %w", rec.Path, err)
		}
		f.n, f.mode, f.made = f.stored.N, f.stored.Mode, f.stored.Made
		if f.diff, err = w.d.store.Diff(w.root, rec.Path); err != nil {
			f.diff = nil
		}
		r.files[rec.Path] = f
	}
	if err := r.loadLog(); err != nil {
		return nil, err
	}
	intents, err := w.d.store.Intents(w.root)
	if err != nil {
		return nil, err
	}
	r.later.init()
	r.windows.closed = func() { r.later.put(r.retry) }
	r.watch = &fsWatch{root: w.root, limits: w.d.watching, log: w.log, post: r.later.put, look: r.look, polls: w.polls}
	r.rewatch = true
	go r.loop()
	r.do(func() {
		r.resume(intents)
		// Nobody watched while the daemon was away: what changed since is a person's.
		r.refreshPending()
	})
	return r, nil
}

func (r *reviewer) loop() {
	defer close(r.done)
	defer r.watch.close()
	for {
		select {
		case f := <-r.inbox:
			r.w.guard(f)
		case <-r.later.ready:
			for _, f := range r.later.take() {
				r.w.guard(f)
			}
		case <-r.quit:
			for _, p := range r.parked {
				p.answer(Decided{}, errStopped)
			}
			return
		}
		if r.rewatch {
			r.w.guard(r.watchPending)
		}
	}
}

func (r *reviewer) do(f func()) bool {
	select {
	case r.inbox <- f:
		return true
	case <-r.done:
		return false
	}
}

func (r *reviewer) call(f func()) error {
	ran := make(chan struct{})
	if r.do(func() { defer close(ran); f() }) {
		select {
		case <-ran:
			return nil
		case <-r.done:
		}
	}
	return errStopped
}

func (r *reviewer) close() {
	close(r.quit)
	<-r.done
}

// load makes f.review from the store.
func (r *reviewer) load(f *file) error {
	if f.review != nil {
		return nil
	}
	base, err := r.w.d.store.Blob(f.stored.Base)
	if err != nil {
		return fmt.Errorf("the baseline of %s: %w", f.path, err)
	}
	now, err := r.w.d.store.Blob(f.stored.Now)
	if err != nil {
		return fmt.Errorf("the content of %s: %w", f.path, err)
	}
	f.review, err = diffs.Unmarshal(f.stored.Weave, base, now)
	return err
}

func (f *file) outside() bool { return filepath.IsAbs(f.path) }

// pending reports whether f has anything to review.
func (f *file) pending() bool {
	if f.review != nil {
		return f.review.Pending()
	}
	return f.diff != nil && f.diff.State == "pending"
}

// agentWrote takes a file that a tool call changed. The image before it is, in this order: our own look at the call's
// start, if the agent had not written then; the agent's own report, if its after-image is what the disk has; a file
// that was not there. Without any of them the baseline is unknown.
func (r *reviewer) agentWrote(wr written, src diffs.Source) {
	if wr.after.odd != "" {
		r.w.log.Warn("a change cannot be reviewed", "path", wr.path, "why", wr.after.odd)
		return
	}
	defer wr.start.note(wr.path, fileStat{}, wr.after)
	f := r.files[wr.path]
	if f != nil {
		if err := r.load(f); err != nil {
			r.w.log.Error("a review cannot be read; it starts anew", "path", wr.path, "err", err)
			f = nil
		}
	}
	before, known := wr.best(f, &r.windows)
	if known && wr.prior.is(before) {
		wr.beside = &wr.prior.source // nobody has seen it, but it is no person's
	}
	if before.Exists && before.Mode == 0 && before.Target == "" && wr.before != nil {
		before.Mode = wr.before.Mode // a report has none
	}
	switch {
	case f == nil && known:
		start, seen := wr.start.at(wr.path)
		switch {
		case (image{Content: before}).same(wr.after):
			return
		case wr.beside == nil || !seen || (image{Content: start}).same(image{Content: before}):
			f = r.add(wr.path, diffs.New(before))
		case (image{Content: start}).same(wr.after):
			return
		default: // what another call did that is still open, or what was not looked at since, comes first
			f = r.add(wr.path, diffs.New(start))
			f.review.Observe(before, wr.beside)
		}
		f.review.Observe(wr.after.Content, &src)
	case f == nil:
		f = r.add(wr.path, diffs.NewUnknown(wr.after.Content, src))
	default:
		if known {
			f.review.Observe(before, wr.beside)
		}
		f.review.Observe(wr.after.Content, &src)
	}
	f.makes(wr.start.missingDirs(wr.path))
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
	// What the agent writes begins like this: it may have been seen while it was written.
	torn := own != nil && own.tornOf(wr.after)
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
	start, seen := wr.start.at(wr.path)
	switch {
	case seen:
		return start, true
	case own != nil:
		return own.Content, true
	}
	return diffs.Content{}, false
}

// tornOf reports whether a file has the beginning of what it holds after.
func (a image) tornOf(after image) bool {
	return a.Exists && a.Target == "" && after.Exists && bytes.HasPrefix(after.Data, a.Data)
}

// late reports whether an image is what the call says that it has made of the file.
func (wr *written) late(own *image) bool {
	if wr.change.Deleted {
		return !own.Exists
	}
	return own.Exists && wr.change.After != nil && *wr.change.After == string(own.Data)
}

// reported returns the before-image in the call's result, if the after-image there is what the disk has.
func (wr *written) reported() *image {
	before, after := wr.change.Before, wr.change.After
	start, seen := wr.start.at(wr.path)
	switch {
	case wr.change.Deleted && seen && start.Target != "" && !wr.after.Exists:
		return &image{Content: start} // the agent tells what the link led to
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
	// The agent leaves out what is empty: there was no file, or one without content.
	if seen && start.Exists && start.Target == "" && len(start.Data) == 0 {
		return &image{Content: start}
	}
	return &image{}
}

// add puts a path under review.
func (r *reviewer) add(path string, review *diffs.Review) *file {
	f := &file{path: path, review: review}
	r.w.call(func() {
		r.w.seq++
		f.n = r.w.seq
	})
	r.files[path] = f
	return f
}

// refresh takes in what the disk holds now; a difference is a person's, or that of an agent whose call is open.
func (r *reviewer) refresh(f *file) (img image, err error) {
	if err := r.load(f); err != nil {
		return img, storeError(err)
	}
	img = r.readSaved(f)
	if img.odd != "" {
		return img, &Error{
			Kind: KindConflict, Message: fmt.Sprintf("%s cannot be read: %s", f.path, img.odd),
			Hint: "put the file right and try again", Diff: f.diff,
		}
	}
	if !img.same(image{Content: f.review.Current()}) && !r.adopt(f, img) {
		by := r.windows.author(f.path)
		f.vanished = nil
		if before, ok := r.windows.claim(nil, f.path); ok && by != nil && before.odd == "" && !before.same(img) && !before.tornOf(img) {
			f.review.Observe(before.Content, nil) // what people have done until the call began
		}
		if by != nil && !img.Exists {
			if f.vanished, err = f.review.Copy(); err != nil {
				r.w.log.Error("a review cannot be copied", "path", f.path, "err", err)
			}
		}
		f.review.Observe(img.Content, by)
		r.noteAll(f.path, img)
	}
	r.syncBuffers(f)
	return img, nil
}

// noteAll lets the turns that run know what a path holds now, which is not theirs to find.
func (r *reviewer) noteAll(path string, img image) {
	for _, s := range r.starts {
		s.note(path, fileStat{}, img)
	}
}

// refreshPending takes in what the disk holds of every file with something to review.
func (r *reviewer) refreshPending() {
	r.refreshAll(r.sorted())
	r.headMoved(r.w.running.Load() == 0)
}

// refreshAll is refreshPending for some files.
func (r *reviewer) refreshAll(files []*file) {
	var changed []*file
	for _, f := range files {
		if !f.pending() && len(f.buffers) == 0 {
			continue
		}
		if _, err := r.refresh(f); err != nil {
			r.w.log.Warn("a file under review cannot be read", "path", f.path, "err", err)
			continue
		}
		if r.stale(f) {
			changed = append(changed, f)
		}
	}
	r.save(changed...)
}

// stale reports whether the review has changed since it was told.
func (r *reviewer) stale(f *file) bool {
	return f.review != nil && (f.moved || f.diff == nil && f.review.Pending() || f.diff != nil && f.diff.Rev != f.review.Rev())
}

func (r *reviewer) sorted() []*file {
	files := make([]*file, 0, len(r.files))
	for _, f := range r.files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return files
}

// save stores and tells reviews.
func (r *reviewer) save(files ...*file) {
	told, ops := r.render(files)
	r.submit(told, ops, nil)
}

// render returns the files' diffs, as they are to be told, and what is to be stored of their reviews.
func (r *reviewer) render(files []*file) (told []*sessions.Diff, ops []sessions.Op) {
	for _, f := range files {
		r.rewatch = true
		r.syncBuffers(f)
		var blobs [][]byte
		f.stored, blobs = f.state()
		f.moved = false
		ops = append(ops, sessions.PutReview{Path: f.path, State: encode(f.stored), Blobs: blobs})
		if f.diff != nil || f.review.Pending() {
			f.diff = r.diffOf(f)
			told = append(told, f.diff)
		}
		r.ops = slices.DeleteFunc(r.ops, func(op sessions.Op) bool { return op == sessions.Op(sessions.DropReview{Path: f.path}) })
	}
	return append(told, r.takeLeft()...), ops
}

// submit stores ops and tells diffs; then, if any, is called by the loop once all is durable and before it is told.
func (r *reviewer) submit(told []*sessions.Diff, ops []sessions.Op, then func(error)) {
	r.submitThen(told, ops, func() {}, then)
}

// submitThen is submit, and calls numbered when what is told has its seq.
func (r *reviewer) submitThen(told []*sessions.Diff, ops []sessions.Op, numbered func(), then func(error)) {
	views := r.takeViews()
	ops, r.ops = append(ops, r.ops...), nil
	if len(ops) == 0 && len(told) == 0 && len(views) == 0 {
		numbered()
		if then != nil {
			then(nil)
		}
		return
	}
	err := r.w.call(func() {
		c := &commit{ops: ops}
		for _, diff := range told {
			r.w.put(c, diff, nil)
		}
		r.w.putViews(c, views, told)
		numbered()
		if then != nil {
			c.replies = append(c.replies, then)
		}
		r.w.submit(c)
	})
	if err != nil && then != nil {
		then(err)
	}
}
