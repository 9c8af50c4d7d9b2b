package daemon

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cursord/agent"
	"cursord/diffs"
	"cursord/sessions"
)

// A turnWatch sees a turn's events before the loop does, and reads the files they name while that is still worth
// something: before a call writes, and right after it has. It lives in the turn's goroutine.
type turnWatch struct {
	r       *reviewer
	tree    *worktree // where the agent works
	session string
	turn    string
	dir     string
	start   *snapshot
	outside map[string]image          // control files outside of the workspace when the turn began
	heard   agent.Heard               // how far it has come
	stop    func()                    // ends the making of start
	looked  chan struct{}             // closed when what people have changed before the turn has been taken in
	open    map[string][]*watchedCall // by call id
	said    map[spot]*said            // what the latest call that named it has said to leave there
	odd     map[spot]bool             // people know that it cannot be reviewed

	// For what no call names; see shell.go.
	scans   bool // the turn may write
	say     func(string)
	runs    map[string][]*run // by call id; open ones
	past    []*run            // all that were not refused, open ones included, oldest first
	begun   []*run            // whose items are not known yet
	ended   []*run            // ended since the last scan
	arrived int64             // the moment at which the present events may have been said at the earliest
	asked   int64             // when the previous events came
	free    int64             // when they had been dealt with
	left    bool              // the last scan has left changes to the next one

	postponed map[string]diffs.Source // whose those are, at the least
	warned    bool
	long      bool // people know of a path that is too long
}

// A watchedCall is a tool call that may write the files it names.
type watchedCall struct {
	before map[spot]image         // at the call's start
	by     map[spot]*diffs.Source // whose that may be; nil: people's
	open   []openWindow
}

// A spot is a file that a call names. An agent in a copy may also name one of the work tree, or outside of both.
type spot struct {
	tree *worktree
	path string // canonical
}

type openWindow struct {
	tree   *worktree
	window *window
}

func (o openWindow) close() { o.tree.windows.close(o.window) }

// windowIn returns the call's window in a tree, or nil.
func (w *watchedCall) windowIn(in *worktree) *window {
	for _, o := range w.open {
		if o.tree == in {
			return o.window
		}
	}
	return nil
}

// A said is what a call says to have left at a path, which may be gone again before anybody looks.
type said struct {
	exists bool
	sum    [sha256.Size]byte // of what is decoded
	source diffs.Source
}

func (s *said) is(c diffs.Content) bool {
	return s != nil && s.exists == c.Exists && c.Target == "" && (!s.exists || s.sum == sha256.Sum256(decoded(c.Data)))
}

// watchTurn begins to watch a turn whose agent works in a tree; say tells people something in its transcript.
func (r *reviewer) watchTurn(turn *sessions.Turn, in *worktree, say func(string)) *turnWatch {
	t := &turnWatch{
		r: r, tree: in, session: turn.SessionID, turn: turn.ID, dir: in.root, open: map[string][]*watchedCall{}, said: map[spot]*said{},
		odd: map[spot]bool{}, looked: make(chan struct{}),
		scans: turn.Mode == sessions.ModeAgent, say: say, runs: map[string][]*run{},
		postponed: map[string]diffs.Source{},
	}
	t.start, t.stop = newSnapshot(in.root, r.w.d.stateDir, r.w.guardOf(in), in.isolated())
	if t.scans && !in.isolated() {
		t.outside = outsideControl(in.root)
	} else {
		r.w.claims.close()
	}
	// What people have changed since files under review were last looked at is theirs.
	r.do(func() {
		in.starts.add(t.start)
		r.refreshAll(r.sorted())
		r.headMoved(r.w.running.Load() <= 1) // the turn itself has done nothing yet
		in.hearings = append(in.hearings, &t.heard)
		close(t.looked)
	})
	return t
}

// ready is closed when the agent may begin: what there is before it does is known then, if it can be in time.
func (t *turnWatch) ready() <-chan struct{} {
	if !t.scans {
		return nil
	}
	both := make(chan struct{})
	late := time.After(snapshotWait)
	go func() {
		defer close(both)
		<-t.start.ready
		select {
		case <-t.looked:
		case <-late:
		case <-t.r.done:
		}
		t.r.w.claims.close()
	}()
	return both
}

// curious reports whether the items of the events just seen are of interest.
func (t *turnWatch) curious() bool { return len(t.begun) > 0 || len(t.ended) > 0 }

// writes reports whether calls of this tool write the files that they name.
func writes(tool string) bool { return tool == "edit" || tool == "write" || tool == "delete" }

// see reads the disk beside each event; what it returns goes to tell once the loop has numbered the items.
func (t *turnWatch) see(events []agent.Event) (files []written) {
	t.came()
	starts, ends := 0, 0
	for _, ev := range events {
		switch ev := ev.(type) {
		case agent.Init:
			if ev.Dir != "" && TooLong(ev.Dir) == "" {
				t.dir = ev.Dir
			}
		case agent.ToolStart:
			if writes(ev.Call.Name) || writesAnything(ev.Call.Name) {
				t.start.callBegins()
			}
			if writes(ev.Call.Name) {
				t.begin(&ev.Call)
			}
			if writesAnything(ev.Call.Name) {
				t.beginRun(&ev, starts)
			}
			starts++
		case agent.ToolEnd:
			files = append(files, t.finish(&ev.Call, ends)...)
			t.finishRun(&ev, ends)
			ends++
		}
	}
	return files
}

// spot returns the file that a call names; false if it names none.
func (t *turnWatch) spot(path, tool string) (spot, bool) {
	if why := tooLongIn(t.dir, path); why != "" {
		if !t.long {
			t.long = true
			t.say(fmt.Sprintf("A path that the agent named was not looked at, and nothing there is listed for review: %s: %s", cutPath(path), why))
		}
		return spot{}, false
	}
	p := canonicalOf(t.tree.root, t.dir, path, tool != "delete")
	in := t.tree
	if t.tree.isolated() && filepath.IsAbs(p) {
		in, p = t.r.shared(), canonicalOf(t.tree.work, t.dir, path, tool != "delete")
	}
	return spot{in, p}, p != ""
}

func (t *turnWatch) begin(call *agent.Call) {
	w := &watchedCall{before: map[spot]image{}, by: map[spot]*diffs.Source{}}
	paths := map[*worktree][]string{}
	for _, p := range call.Paths {
		if s, ok := t.spot(p, call.Name); ok {
			paths[s.tree] = append(paths[s.tree], s.path)
		}
	}
	src := diffs.Source{SessionID: t.session, TurnID: t.turn, Via: "edit"}
	for in, names := range paths {
		for _, name := range names {
			w.by[spot{in, name}] = in.writer(name)
		}
		o := openWindow{in, in.windows.open(names, src)}
		held := map[string]image{}
		for _, name := range names {
			held[name] = in.read(name)
			w.before[spot{in, name}] = held[name]
		}
		in.windows.hold(o.window, held)
		w.open = append(w.open, o)
	}
	t.open[call.ID] = append(t.open[call.ID], w)
}

func (t *turnWatch) finish(call *agent.Call, end int) (files []written) {
	var w *watchedCall
	if open := t.open[call.ID]; len(open) > 0 {
		w = open[len(open)-1]
		t.open[call.ID] = open[:len(open)-1]
	} else {
		w = &watchedCall{}
	}
	for _, ch := range call.Changes {
		s, ok := t.spot(ch.Path, call.Name)
		if !ok {
			continue
		}
		f := written{
			spot: s, call: end, change: ch, after: s.tree.told(readWritten(s.tree.root, s.path, ch.After)), edit: call.Name == "edit", start: t.start,
			beside: t.beside(), prior: t.said[s],
		}
		if s.tree != t.tree {
			f.start, f.beside = emptySnapshot(s.tree.root), nil
		}
		if ch.Deleted || ch.After != nil || call.Name == "edit" { // which leaves out what is empty
			says := &said{exists: !ch.Deleted, sum: sha256.Sum256(nil)}
			if ch.After != nil {
				says.sum = sha256.Sum256(decoded([]byte(*ch.After)))
			}
			t.said[s], f.says = says, says
		} else {
			delete(t.said, s)
		}
		if before, ok := w.before[s]; ok {
			f.before, f.of = &before, w.windowIn(s.tree)
			f.beside = cmp.Or(f.beside, w.by[s])
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		for _, o := range w.open {
			o.close()
		}
	} else {
		files[len(files)-1].open = w.open
	}
	return files
}

// tell hands what see found to the reviewer, with the items that the calls have become.
func (t *turnWatch) tell(files []written, items callItems) {
	t.nameRuns(items)
	if len(files) == 0 {
		return
	}
	sources := make([]diffs.Source, len(files))
	var left leftOut
	for i, f := range files {
		if f.after.odd != "" && !t.odd[f.spot] {
			t.odd[f.spot] = true
			left.odd = append(left.odd, f.after.oddAt(f.path))
		}
		sources[i] = diffs.Source{SessionID: t.session, TurnID: t.turn, Via: "edit"}
		if f.call < len(items.ended) {
			sources[i].ItemID = items.ended[f.call]
		}
		if f.says != nil {
			f.says.source = sources[i]
		}
	}
	if text := left.String(); text != "" {
		t.say(text)
	}
	t.r.do(func() {
		for i, f := range files {
			t.r.agentWrote(f, sources[i])
			for _, o := range f.open {
				o.close()
			}
		}
		t.r.follow(files)
	})
}

// end returns when the reviewer has seen all that the turn did.
func (t *turnWatch) end() {
	t.endCalls()
	t.lastScan()
	t.tellOutside()
	t.r.w.claims.look()
	if text := t.r.w.claims.take(); text != "" {
		t.say(text)
	}
	t.r.call(func() {
		t.tree.hearings = slices.DeleteFunc(t.tree.hearings, func(h *agent.Heard) bool { return h == &t.heard })
		t.tree.starts.remove(t.start)
		t.r.headMoved(false)
	})
	t.stop()
	t.start.close()
}

// endCalls ends the calls of whose end the agent has said nothing. What has changed since they began is theirs.
func (t *turnWatch) endCalls() {
	var files []written
	var open []openWindow
	for _, calls := range t.open {
		for _, c := range calls {
			files = append(files, t.unfinished(c)...)
			open = append(open, c.open...)
		}
	}
	if len(open) == 0 {
		return
	}
	src := diffs.Source{SessionID: t.session, TurnID: t.turn, Via: "edit"}
	t.r.call(func() {
		for _, f := range files {
			if t.r.w.d.docs.typed(f.tree.absolute(f.path), f.after) == nil {
				t.r.agentWrote(f, src)
			}
		}
		var left []*file
		for _, o := range open {
			o.tree.windows.giveUp(o.window)
			for _, p := range o.window.paths {
				if f := o.tree.files[p]; f != nil {
					left = append(left, f)
				}
			}
		}
		t.r.refreshAll(left)
	})
	for _, o := range open {
		o.close()
	}
}

// unfinished returns the files of a call that has not ended and that are not what they were when it began.
func (t *turnWatch) unfinished(c *watchedCall) (files []written) {
	for s, before := range c.before {
		f := written{
			spot: s, before: &before, after: s.tree.read(s.path), of: c.windowIn(s.tree), start: t.start,
			beside: cmp.Or(t.beside(), c.by[s]), prior: t.said[s],
		}
		if s.tree != t.tree {
			f.start, f.beside = emptySnapshot(s.tree.root), c.by[s]
		}
		if !f.after.same(before) {
			files = append(files, f)
		}
	}
	return files
}
