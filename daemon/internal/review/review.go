package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/callchanges"
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/mailbox"
	"cursord/daemon/internal/origins"
	"cursord/daemon/internal/stored"
	"cursord/daemon/internal/unsaved"
	"cursord/daemon/internal/views"
	"cursord/daemon/internal/waiting"
	"cursord/daemon/internal/watch"
	"cursord/daemon/internal/wire"
	"cursord/diffs"
	"cursord/sessions"
)

// A Reviewer keeps what is under review in one workspace. Its goroutine owns the reviews and the log of decisions. It alone
// writes the work tree; copies are written by it and by their agents. It may wait for the disk and for the loop; the loop
// never waits for it.
type Reviewer struct {
	setup Setup
	inbox chan func()
	later mailbox.Box[func()] // messages of senders that must not block
	quit  chan struct{}
	done  chan struct{}

	owners *apart.Owners

	// Owned by the reviewer's goroutine.
	trees     []*Worktree               // the work tree first
	published map[string]*sessions.Diff // by path
	composed  map[string]string         // by path: the revisions that the published diff is made of
	views     views.Set
	log       decisionlog.Log
	intents   uint64            // the number of the latest intent
	saves     unsaved.CallSaves // by path of the work tree: saves of buffers while calls are open that name the path
	waiting   waiting.Queue     // requests that wait for an agent
	ops       []sessions.Op     // operations for the next commit
	made      callchanges.Log   // what the calls of running turns have changed
	cut       *stored.Cut       // turns that the next commit cuts off their session; or nil
	viewed    map[string]bool   // paths that some client may see differently now
	vacated   map[string]bool   // paths that files have left; to be published
	affected  map[*file]bool    // files that a decision about other files may have changed
	deferred  map[*file]bool    // files to read again once the calls of their agents have ended
	head      commits.Head
	answers   origins.Answers // what is known of commits
	ahead     ahead           // of the request that is being carried out
	watch     *watch.Files
	rewatch   bool // the set of pending files may have changed since watch was given its paths

	docs documents.Changed // documents that the reviewer has not looked at yet
}

// A file is a path under review.
type file struct {
	unsaved.File
	tree     *Worktree
	path     string
	n        uint64           // names the review in hunk ids; unique in the workspace
	diff     *sessions.Diff   // its part of the path's diff when it was last saved; nil before the first save
	unread   bool             // Review is nil, and may have something pending
	leaves   bool             // an undo that is under way brings it back to the place that another file has taken
	made     []string         // folders that the agent made for it
	accepted []string         // for a file in a copy: folders that were made for it in the work tree
	tookOver bool             // for a file in a copy: a turn has begun, which may have brought the work tree's content, and nobody has looked
	links    atomicfile.Links // the file and its number of names that decisions may write in place in the work tree
	mode     uint32           // permission bits as last seen, for writing a deleted file back
	stored   stored.File      // the form that the store has
	sources  int              // the number of sources after the review last dropped unused ones

	lookedAt int64         // a moment of package clock, not later than the latest reading of the disk; 0: not read yet
	is       filestat.Stat // of the file when the disk was read or the review stored last, in the work tree; zero: it was not there yet
	agents   uint64        // the review's revision after an agent's latest change that no call named
	cut      *diffs.Review // the review before a person was seen to shorten the file; the person may still be saving it
	cutRev   uint64        // the review's revision after the shortening
	waits    bool          // for a file in a copy: a later look is scheduled

	stashed   *stored.Stashed // hunks that a person has put away with git stash; nil: none, or the review is not loaded
	vanished  *diffs.Review   // the review before the file disappeared, while an open call may have moved it
	perhapsIn string          // a folder in which a person may have put the file; "" outside of seek and follow
	sought    bool            // seek has looked for it since it was gone
	gone      uint64          // the review's revision after the disappearance

	guess *guess // about the latest change, if its author was guessed from its time in a turn that still runs; else nil
}

// New starts the reviewer of a workspace with its records in the store. The reviewer's goroutine first finishes the writes
// that the last daemon had begun.
func New(setup Setup) (*Reviewer, error) {
	r := &Reviewer{
		setup: setup, inbox: make(chan func(), 16), quit: make(chan struct{}), done: make(chan struct{}),
		published: map[string]*sessions.Diff{}, composed: map[string]string{},
		viewed: map[string]bool{}, vacated: map[string]bool{}, affected: map[*file]bool{},
		deferred: map[*file]bool{}, saves: unsaved.CallSaves{}, head: commits.Head{Root: setup.Root, Guard: setup.Git},
	}
	r.later.Init()
	r.made = callchanges.Log{Limits: setup.Large, Stored: func(id string) *sessions.Item { _ = setup.Loop.Persist(); it, _ := setup.Store.Item(id); return it }}
	r.made.Opened = func(path string) bool { return setup.Documents.HasAny(r.shared().Absolute(path)) }
	r.waiting = waiting.Queue{Call: r.call, Post: r.later.Put}
	r.trees = []*Worktree{r.newWorktree("")}
	r.owners = apart.NewOwners(r.shared().Starts.Watch)
	r.shared().Calls.Watch = setup.Saves
	r.answers = origins.Answers{
		Tree: r.Tree(), Store: setup.Store, Of: r.known, Log: setup.Log, Submit: func(ops ...sessions.Op) { r.submit(nil, ops, nil) },
		Any: func() bool {
			return slices.ContainsFunc(r.sorted(), func(f *file) bool { return f.stored.Past != nil })
		},
	}
	if err := cmp.Or(r.loadReviews(), r.loadLog(), r.answers.Load()); err != nil {
		return nil, err
	}
	intents, err := setup.Store.Intents(setup.Root)
	if err != nil {
		return nil, err
	}
	r.watch = &watch.Files{Root: setup.Root, Limits: setup.Watching, Log: setup.Log, Post: r.later.Put, Look: r.look, Polls: setup.Polls}
	r.rewatch = true
	go r.loop()
	r.do(func() {
		r.resume(intents)
		r.dropLost()
		r.save() // publishes diffs of damaged reviews
		setup.Killed.Take(setup.Root, setup.Git, r.takeUp)
		// Nobody watched while no daemon ran: changes since then are people's.
		r.refreshPending()
	})
	return r, nil
}

func (r *Reviewer) loadReviews() error {
	recs, err := r.setup.Store.Reviews(r.setup.Root)
	if err != nil {
		return err
	}
	for _, rec := range recs {
		f := r.newFile(r.treeOf(rec.Session), rec.Path)
		if err := json.Unmarshal(rec.State, &f.stored); err != nil {
			r.damagedReview(rec, err)
			continue
		}
		f.n, f.mode, f.made, f.accepted, f.links, f.is = f.stored.N, f.stored.Mode, f.stored.Made, f.stored.Accepted, f.stored.Links, f.stored.Is
		if published, err := r.setup.Store.Diff(r.setup.Root, rec.Path); err == nil {
			r.published[rec.Path] = published
			f.unread = published.State == "pending"
		}
		f.tree.files[rec.Path] = f
	}
	return nil
}

// windowClosed reports that a call that names files has ended; it does not block.
func (r *Reviewer) windowClosed() {
	r.later.Put(func() {
		r.takeInEnded()
		for name, b := range r.saves.Left(r.shared().Ledger.Pending) {
			if r.personSaved(name, b.Doc) {
				delete(r.saves, name)
			}
		}
		r.refreshLate()
		r.submit(nil, nil, nil)
		r.waiting.Retry()
	})
}

func (r *Reviewer) loop() {
	defer close(r.done)
	defer r.watch.Close()
	defer func() {
		for _, t := range r.trees {
			t.Starts.Close()
		}
	}()
	for {
		select {
		case f := <-r.inbox:
			r.takeLater() // an editor may have reported a save before f was sent
			r.setup.Loop.Guard(f)
		case <-r.later.Ready:
			r.takeLater()
		case <-r.quit:
			r.waiting.Close(api.ErrStopped)
			return
		}
		if r.rewatch {
			r.setup.Loop.Guard(r.watchPending)
		}
	}
}

func (r *Reviewer) takeLater() {
	for _, f := range r.later.Take() {
		r.setup.Loop.Guard(f)
	}
}

func (r *Reviewer) do(f func()) bool {
	select {
	case r.inbox <- f:
		return true
	case <-r.done:
		return false
	}
}

func (r *Reviewer) call(f func()) error {
	ran := make(chan struct{})
	if r.do(func() { defer close(ran); f() }) {
		select {
		case <-ran:
			return nil
		case <-r.done:
		}
	}
	return api.ErrStopped
}

// Close ends the reviewer. Requests that wait are answered with api.ErrStopped.
func (r *Reviewer) Close() {
	close(r.quit)
	<-r.done
}

// load makes f.Review from the store.
func (r *Reviewer) load(f *file) error {
	if f.Review != nil {
		return nil
	}
	base, err := r.setup.Store.Blob(f.stored.Base)
	if err != nil {
		return fmt.Errorf("the baseline of %s: %w", f.path, err)
	}
	now, err := r.setup.Store.Blob(f.stored.Now)
	if err != nil {
		return fmt.Errorf("the content of %s: %w", f.path, err)
	}
	if f.Review, err = diffs.Unmarshal(f.stored.Weave, base, now); err != nil {
		return err
	}
	if err := f.stored.Past.Restore(f.Review, r.setup.Store); err != nil {
		r.setup.Log.Warn("nothing is known any more of the accepted changes of a file", "path", f.path, "err", err)
	}
	f.unread = false
	r.loadStashed(f)
	if common, err := r.setup.Store.Blob(f.stored.Common); f.stored.Common != "" && err == nil {
		f.Apart = &unsaved.Apart{Base: string(common)}
	}
	if published := r.published[f.path]; published != nil && !hollow(published) {
		f.diff = r.diffOf(f, f.Review)
	}
	return nil
}

func (f *file) outside() bool { return filepath.IsAbs(f.path) }

// followed reports whether changes of f's content matter at once: something is to be reviewed, or may be again.
func (f *file) followed() bool { return f.pending() || f.away() || len(f.Buffers) > 0 }

// pending reports whether f has hunks to review.
func (f *file) pending() bool {
	if f.Review != nil {
		return f.Review.Pending()
	}
	return f.unread
}

func (r *Reviewer) newFile(t *Worktree, path string) *file {
	f := &file{tree: t, path: path}
	f.Isolated, f.Owner = t.Isolated(), owner{r, f}
	return f
}

// add puts a path under review.
func (r *Reviewer) add(t *Worktree, path string, review *diffs.Review) *file {
	f := r.newFile(t, path)
	f.Review, f.n = review, r.setup.Loop.Number()
	t.files[path] = f
	f.recordLinks()
	return f
}

// sorted lists the files by path, those of the work tree first.
func (r *Reviewer) sorted() (files []*file) {
	for _, t := range r.trees {
		for _, f := range t.files {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b *file) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.tree.Session, b.tree.Session))
	})
	return files
}

// save stores the reviews of files and publishes their diffs.
func (r *Reviewer) save(files ...*file) {
	published, ops := r.render(files)
	r.submit(published, ops, nil)
}

// diffOf returns the diff of a review of a file in the form for clients.
func (r *Reviewer) diffOf(f *file, review *diffs.Review) *sessions.Diff {
	return diffshape.File{Workspace: r.setup.Root, Path: f.path, N: f.n, Isolated: f.tree.Isolated()}.Diff(review)
}

// render returns the diffs to publish for the paths of files, and the operations that store the files' reviews.
func (r *Reviewer) render(files []*file) (published []*sessions.Diff, ops []sessions.Op) {
	if len(r.watch.Paths) == 0 && slices.ContainsFunc(files, (*file).pending) {
		r.lookAtHead(false) // a commit from before these hunks does not accept them
	}
	var paths []string
	for _, f := range files {
		r.rewatch = true
		r.syncBuffers(f)
		r.forgetSources(f)
		f.recordFile()
		if f.diff != nil && f.diff.State != "pending" && f.Review.Pending() {
			f.recordLinks()
		}
		if !f.Review.Pending() {
			f.Apart = nil
		}
		var blobs [][]byte
		f.stored, blobs = f.state()
		f.Unstored = false
		ops = append(ops, sessions.PutReview{Path: f.path, Session: f.tree.Session, State: wire.Encode(f.stored), Blobs: blobs})
		if r.published[f.path] != nil || f.Review.Pending() {
			f.diff = r.diffOf(f, f.Review)
			paths = append(paths, f.path)
		}
		drop := sessions.Op(sessions.DropReview{Path: f.path, Session: f.tree.Session})
		r.ops = slices.DeleteFunc(r.ops, func(op sessions.Op) bool { return op == drop })
	}
	ops = append(ops, r.boundHistory()...)
	paths = append(paths, slices.Sorted(maps.Keys(r.vacated))...)
	clear(r.vacated)
	done := map[string]bool{}
	for _, path := range paths {
		if done[path] {
			continue
		}
		done[path] = true
		if d := r.compose(path); d != nil {
			published = append(published, d)
		}
	}
	return published, ops
}

// submit stores ops and publishes diffs. If then is not nil, the loop calls it when all is durable, before publishing.
func (r *Reviewer) submit(published []*sessions.Diff, ops []sessions.Op, then func(error)) {
	r.submitThen(published, ops, func() {}, then)
}

// submitThen is submit, and has the loop call numbered when the diffs have their seqs.
func (r *Reviewer) submitThen(published []*sessions.Diff, ops []sessions.Op, numbered func(), then func(error)) {
	views := r.takeViews()
	ops, r.ops = append(ops, r.ops...), nil
	cut, calls := r.cut, append(r.made.Open(), r.made.Take()...)
	r.cut = nil
	if len(ops) == 0 && len(published) == 0 && len(views) == 0 && cut == nil && len(calls) == 0 {
		numbered()
		if then != nil {
			then(nil)
		}
		return
	}
	err := r.setup.Loop.Commit(&Commit{Ops: ops, Cut: cut, Calls: calls, Diffs: published, Views: views, Stored: then, Numbered: func() {
		for _, v := range views {
			r.published[v.Path], v.Published = v.Published, nil
		}
		numbered()
	}})
	if err != nil && then != nil {
		then(err)
	}
}
