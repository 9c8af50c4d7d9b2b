package daemon

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/daemon/internal/approvals"
	"cursord/daemon/internal/claims"
	"cursord/daemon/internal/mailbox"
	"cursord/daemon/internal/remarks"
	"cursord/daemon/internal/review"
	"cursord/daemon/internal/survivors"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// A workspace is one root. Its loop owns the sessions with unfinished turns, the turn queue, the items of running turns, the
// subscriptions and the seqs. The loop never waits for a connection, a process or the disk. While it rests, a turn's
// goroutine may do its work for a few words (sendEventsNow). Package review has the other side, which reads and writes
// files.
//
//	request, subscription ──── inbox ──┐
//	a turn's goroutine ─────── events ─┤          ┌─→ store (Submit) ─→ commits ─┐
//	reviewer ───────────────── inbox ──┼─→ loop ──┤                              │
//	store, after a commit ──── commits ┘          └─→ subscribers' sinks  ←──────┘
type workspace struct {
	d      *Daemon
	root   string
	log    *slog.Logger
	review *review.Reviewer
	claims *claims.Claims

	inbox   chan func()          // requests; bounded: a full one blocks the senders
	events  chan turnEvents      // output of agents; bounded: a full one blocks the agent
	commits mailbox.Box[*commit] // what is durable; never blocks the writer
	quit    chan struct{}        // closed to end the loop
	running atomic.Int32         // turns; written by the loop
	queued  atomic.Int32
	// background is the number of background commands for which turns only wait; written by the loop.
	background atomic.Int32
	done       chan struct{} // closed when the loop has ended
	busy       sync.Mutex    // held by the loop except while it rests, and by a goroutine that acts in its place

	subscribers atomic.Int32 // len(subs)
	users       int          // guarded by d.mu; see use
	touched     atomic.Int64 // when it was last used, since d.began
	unstored    atomic.Int64 // bytes of changes that are submitted but not stored
	survivors   survivors.Turns

	// Owned by the loop.
	seq       uint64 // the last one given out
	published uint64 // the last one that subscribers got
	trusted   bool
	sessions  map[string]*liveSession // sessions with unfinished turns or unstored changes
	turns     map[string]*liveTurn    // unfinished, or not stored yet
	queue     []*liveTurn             // in order of arrival, without running ones
	texts     map[string]*liveText    // growing text items, by item id
	awaited   map[*commit]struct{}    // submitted, not stored, and somebody waits for the answer
	subs      map[*Subscription]struct{}
	views     map[api.ClientID]map[string]*sessions.Diff // by path; the files that a client holds unsaved
	remarks   remarks.List                               // for the agent's next prompts
	questions map[string]*question                       // pending approvals, by id
	ending    map[string]*sessions.Approval              // answered or ended, and about to be stored as that, by id
	rules     *approvals.Rules
	tick      *time.Timer // runs while something waits for it
	ticking   bool
	stopping  bool
}

// How many bytes of a workspace may wait for the disk before its agents must wait. So memory stays bounded, and an agent
// that floods uses no more of the processors than the store can follow. While the disk takes nothing, agents may go on for
// longer.
const (
	maxUnstored          = 4 << 20
	maxUnstoredInTrouble = 64 << 20
)

// full reports whether the workspace's agents must wait.
func (w *workspace) full() bool {
	size := w.unstored.Load()
	return size > maxUnstoredInTrouble || size > maxUnstored && w.d.store.Trouble() == nil
}

// tickInterval is how long unfinished text may be only in memory.
const tickInterval = 250 * time.Millisecond

// turnEvents is a batch of one turn's goroutine. A turn's last batch carries its outcome.
type turnEvents struct {
	turn    *liveTurn
	events  []agent.Event
	items   chan review.Items // if not nil, gets the items of the calls in events
	build   string            // of the agent; "": nothing new
	outcome *agent.Outcome
}

// A commit is a set of changes that become durable together and are then published, in the order of its fields.
type commit struct {
	ops     []sessions.Op
	replies []func(error)   // answers that wait until the commit is durable
	notes   []*Notification // published to subscribers
	after   []func()        // run after the notifications
	err     error

	size               int64 // of ops, in memory
	submitted, durable time.Time
}

func newWorkspace(d *Daemon, rec sessions.WorkspaceRecord) (*workspace, error) {
	w := &workspace{
		d:         d,
		root:      rec.Root,
		log:       d.log.With("workspace", rec.Root),
		inbox:     make(chan func(), 64),
		events:    make(chan turnEvents, 16),
		quit:      make(chan struct{}),
		done:      make(chan struct{}),
		seq:       rec.Seq,
		published: rec.Seq,
		trusted:   rec.Trusted,
		sessions:  map[string]*liveSession{},
		turns:     map[string]*liveTurn{},
		texts:     map[string]*liveText{},
		awaited:   map[*commit]struct{}{},
		subs:      map[*Subscription]struct{}{},
		views:     map[api.ClientID]map[string]*sessions.Diff{},
		questions: map[string]*question{},
		ending:    map[string]*sessions.Approval{},
		tick:      time.NewTimer(time.Hour),
		survivors: survivors.Turns{Store: d.store.Epoch()},
	}
	w.tick.Stop()
	w.commits.Init()
	w.claims = claims.New(claims.Setup{
		Root: w.root, Home: d.gitHome(), Messages: d.messages, Running: func() bool { return w.running.Load() > 0 },
		Store: func(op sessions.Op) { go w.do(func() { w.submit(&commit{ops: []sessions.Op{op}}) }) },
	}, rec)
	notes, err := d.store.Notes(w.root)
	if err != nil {
		return nil, err
	}
	w.remarks = remarks.New(notes, func(n uint64, err error) {
		d.damagedRecord(w.root, fmt.Sprint("note ", n), err)
		d.store.Submit(w.root, []sessions.Op{sessions.DropNote{N: n}}, nil)
	})
	rules, err := d.store.Rules(w.root)
	if err != nil {
		return nil, err
	}
	w.rules = approvals.NewRules(w.root, rules, func(n uint64, err error) { d.damagedRecord(w.root, fmt.Sprint("rule ", n), err) })
	review, err := review.New(review.Setup{
		Root: w.root, StateDir: d.stateDir, Log: w.log, Store: d.store, Loop: reviewLoop{w}, Git: w.claims.Git(), Claims: w.claims,
		Documents: d.docs, Hooks: d.hooks, Saves: &d.saves, Survivors: &w.survivors, Killed: d.killed, Watching: d.watching,
		Large: d.config.Large, Copy: d.config.Copy, Settings: d.settings, Overlays: d.overlays.Refusal, Running: func() int { return int(w.running.Load()) },
		Fault: d.fault, Polls: w.polls, Post: func(topic string, level slog.Level, text string) { d.messages.Post(topic, w.root, level, text) },
		Damaged: func(what string, err error) { d.damagedRecord(w.root, what, err) },
	})
	if err != nil {
		return nil, err
	}
	w.review = review
	go w.loop()
	return w, nil
}

// close ends the reviewer and the loop; nothing may be under way.
func (w *workspace) close() {
	w.review.Close()
	close(w.quit)
	<-w.done
}

func (w *workspace) loop() {
	defer close(w.done)
	for {
		events := w.events
		if w.full() {
			events = nil
		}
		select {
		case f := <-w.inbox:
			w.busy.Lock()
			w.guard(f)
		case e := <-events:
			w.busy.Lock()
			w.turnSaid(e)
			e.turn.queued.Add(-1)
		case <-w.commits.Ready:
			w.busy.Lock()
			for _, c := range w.commits.Take() {
				w.guard(func() { w.committed(c) })
			}
		case <-w.tick.C:
			w.busy.Lock()
			w.ticking = false
			w.guard(w.ticked)
		case <-w.quit:
			w.busy.Lock() // for good
			return
		}
		w.busy.Unlock()
	}
}

// sendEvents hands the loop a batch of a turn's goroutine.
func (w *workspace) sendEvents(e turnEvents) {
	if w.sendEventsNow(e) {
		return
	}
	e.turn.queued.Add(1)
	select {
	case w.events <- e:
	case <-w.done:
	}
}

// sendEventsNow handles a few words in the loop's place if the loop rests, because waking it would take longer. It returns
// false if it cannot.
func (w *workspace) sendEventsNow(e turnEvents) bool {
	const few = 16
	if e.outcome != nil || len(e.events) > few || e.turn.queued.Load() > 0 || w.full() || !w.busy.TryLock() {
		return false
	}
	defer w.busy.Unlock()
	w.turnSaid(e)
	return true
}

// guard contains a panic: only the message that caused it is lost, never the daemon. It reports whether there was one.
func (w *workspace) guard(f func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("panic in a workspace", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			panicked = true
		}
	}()
	f()
	return false
}

// do makes the loop run f. It returns false, without running f, if the workspace has ended.
func (w *workspace) do(f func()) bool {
	select {
	case w.inbox <- f:
		return true
	case <-w.done:
		return false
	}
}

// call runs f in the loop and waits until it has returned.
func (w *workspace) call(f func()) error {
	ran := make(chan struct{})
	if w.do(func() { defer close(ran); f() }) {
		select {
		case <-ran:
			return nil
		case <-w.done:
		}
	}
	return api.ErrStopped
}

// put gives obj, which must be new and not change afterwards, the next seq and adds it to c.
func (w *workspace) put(c *commit, obj sessions.Object, detail []byte) {
	w.seq++
	switch o := obj.(type) {
	case *sessions.Session:
		o.Seq = w.seq
	case *sessions.Turn:
		o.Seq = w.seq
	case *sessions.Item:
		o.Seq = w.seq
	case *sessions.Approval:
		o.Seq = w.seq
	case *sessions.Diff:
		o.Seq = w.seq
		if o.Rev == 0 { // a new state; its number never comes again
			o.Rev = w.seq
		}
	}
	kind, id := obj.Key()
	enc := wire.Encode(obj)
	c.ops = append(c.ops, sessions.Put{Object: obj, JSON: enc, Detail: detail})
	c.notes = append(c.notes, &Notification{Workspace: w.root, Kind: kind, ID: id, Seq: w.seq, JSON: enc})
}

// submit hands c to the store; committed runs in the loop once c is durable.
func (w *workspace) submit(c *commit) {
	if len(c.replies) > 0 {
		w.awaited[c] = struct{}{}
	}
	ops := c.ops
	c.ops, c.size = nil, sessions.SizeOf(ops)
	w.unstored.Add(c.size)
	c.submitted = time.Now()
	w.d.store.Submit(w.root, ops, func(err error) {
		c.err, c.durable = err, time.Now()
		w.commits.Put(c)
	})
}

// committed answers the requests of a durable commit and publishes its changes.
func (w *workspace) committed(c *commit) {
	w.d.lag.commit.Measured(c.durable.Sub(c.submitted))
	w.d.lag.loop.Measured(time.Since(c.durable))
	w.unstored.Add(-c.size)
	w.answer(c, c.err)
	if c.err != nil {
		w.log.Error("a change was not stored", "err", c.err)
		return
	}
	for _, n := range c.notes {
		if n.stored {
			e, err := w.d.store.Entry(w.root, n.Kind, n.ID)
			if err != nil || e.Seq != n.Seq {
				continue
			}
			n.JSON = e.JSON
		}
		w.publish(n)
		if n.published != nil {
			n.published()
		}
	}
	for _, f := range c.after {
		f()
	}
}

func (w *workspace) answer(c *commit, err error) {
	delete(w.awaited, c)
	for _, reply := range c.replies {
		reply(api.StoreError(err))
	}
	c.replies = nil
}

// storageTrouble answers, with the storage error, every request that waits for a disk which takes nothing. The changes stay
// queued and are published once they are stored.
func (w *workspace) storageTrouble(err error) {
	for c := range w.awaited {
		w.answer(c, err)
	}
}

// publish sends n to every subscriber that is not behind.
func (w *workspace) publish(n *Notification) {
	if n.Seq > 0 {
		w.published = n.Seq
	}
	for s := range w.subs {
		s.push(n)
	}
}

// wake makes ticked run within tickInterval.
func (w *workspace) wake() {
	if !w.ticking {
		w.ticking = true
		w.tick.Reset(tickInterval)
	}
}

// ticked stores unfinished text.
func (w *workspace) ticked() {
	var c commit
	w.checkpoint(&c)
	if len(c.ops) > 0 {
		w.submit(&c)
	}
}
