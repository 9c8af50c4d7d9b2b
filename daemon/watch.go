package daemon

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cursord/agent"
	"cursord/daemon/internal/filestat"
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
	heard   agent.Heard               // how far it has come
	stop    func()                    // ends the making of start
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
	arrived time.Time         // when the present events may have been said at the earliest
	asked   time.Time         // when the previous events came
	free    time.Time         // when they had been dealt with
	left    bool              // the last scan has left changes to the next one

	postponed map[string]diffs.Source // whose those are, at the least
	warned    bool
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
		odd:   map[spot]bool{},
		scans: turn.Mode == sessions.ModeAgent, say: say, runs: map[string][]*run{},
		postponed: map[string]diffs.Source{},
	}
	t.start, t.stop = newSnapshot(in.root, r.w.d.stateDir)
	// What people have changed since files under review were last looked at is theirs.
	r.do(func() {
		in.starts, in.hearings = append(in.starts, t.start), append(in.hearings, &t.heard)
		r.refreshAll(r.sorted())
		r.headMoved(r.w.running.Load() <= 1) // the turn itself has done nothing yet
	})
	return t
}

// ready is closed when the agent may begin: what there is before it does is known then, if it can be in time.
func (t *turnWatch) ready() <-chan struct{} {
	if !t.scans {
		return nil
	}
	return t.start.ready
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
			if ev.Dir != "" {
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
	t.r.call(func() {
		t.tree.hearings = slices.DeleteFunc(t.tree.hearings, func(h *agent.Heard) bool { return h == &t.heard })
		t.tree.starts = slices.DeleteFunc(t.tree.starts, func(s *snapshot) bool { return s == t.start })
		t.r.headMoved(false)
	})
	t.stop()
	t.start.close()
}

// endCalls closes the windows of calls of whose end the agent has said nothing.
func (t *turnWatch) endCalls() {
	var open []openWindow
	for _, calls := range t.open {
		for _, c := range calls {
			open = append(open, c.open...)
		}
	}
	if len(open) == 0 {
		return
	}
	for _, o := range open {
		o.tree.windows.giveUp(o.window)
	}
	t.r.call(func() {
		var files []*file
		for _, o := range open {
			for _, p := range o.window.paths {
				if f := o.tree.files[p]; f != nil {
					files = append(files, f)
				}
			}
		}
		t.r.refreshAll(files)
	})
	for _, o := range open {
		o.close()
	}
}

// windows are the times in which a change to a path is the agent's: from a call's start until its end was observed.
// They are shared by the turns' goroutines, which open them, and the reviewer, which asks.
type windows struct {
	closed func() // called when one with paths has been closed; must not block

	mu    sync.Mutex
	paths map[string][]*window // guarded by mu
	all   []*window            // guarded by mu; those of calls that may write anything
}

type window struct {
	paths  []string
	source diffs.Source
	before map[string]image // guarded by windows.mu; what paths held when the call was seen to begin, less what was asked for; nil until read
	silent bool             // guarded by windows.mu; the agent will not say what the call has done

	from, margin int64 // of a run, as there
}

func (ws *windows) open(paths []string, src diffs.Source) *window {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := &window{paths: paths, source: src}
	for _, p := range paths {
		ws.paths[p] = append(ws.paths[p], w)
	}
	return w
}

func (ws *windows) close(w *window) {
	if len(w.paths) > 0 && ws.closed != nil {
		defer ws.closed()
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.all = slices.DeleteFunc(ws.all, func(open *window) bool { return open == w })
	for _, p := range w.paths {
		open := ws.paths[p]
		for i := range open {
			if open[i] == w {
				open = append(open[:i:i], open[i+1:]...)
				break
			}
		}
		if len(open) == 0 {
			delete(ws.paths, p)
		} else {
			ws.paths[p] = open
		}
	}
}

// openAll opens a window for every path, which one for the path itself goes before, from a moment on that is certain to a
// margin.
func (ws *windows) openAll(src diffs.Source, from, margin int64) *window {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := &window{source: src, from: from, margin: margin}
	ws.all = append(ws.all, w)
	return w
}

// name says which item a window's call has become.
func (ws *windows) name(w *window, item string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.source.ItemID = item
}

// hold keeps what paths held when a window was opened.
func (ws *windows) hold(w *window, before map[string]image) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.before = maps.Clone(before)
}

// claim returns, once, what a path held when its call began: that of a window, or, where w is nil, the first of those
// for the path that are open; what the others found is then of no use any more.
func (ws *windows) claim(w *window, path string) (before image, ok bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w != nil {
		before, ok = w.before[path]
		delete(w.before, path)
		return before, ok
	}
	for _, open := range ws.paths[path] {
		if b, held := open.before[path]; held && !ok {
			before, ok = b, true
		}
		delete(open.before, path)
	}
	return before, ok
}

// unsaid reports whether only the end of an open call can tell whose it is what a path holds: when the call was seen to
// begin, that was not what has been seen of it. It may have been a person's by then, or the agent's already.
func (ws *windows) unsaid(path string, seen image) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.ContainsFunc(ws.paths[path], func(w *window) bool {
		before, held := w.before[path]
		return !w.silent && (w.before == nil || held && before.odd == "" && !before.same(seen))
	})
}

// giveUp says that the end of a window's call will not be told.
func (ws *windows) giveUp(w *window) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.silent = true
}

// editing reports whether a call is open that names a path.
func (ws *windows) editing(path string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.paths[path]) > 0
}

// author returns who a change to a path is by that is seen now and was made at a time, in Unix ns: an agent whose call is
// open, or nil, a person.
func (ws *windows) author(path string, when int64) *diffs.Source {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if open := ws.paths[path]; len(open) > 0 {
		src := open[len(open)-1].source
		return &src
	}
	for i := len(ws.all) - 1; i >= 0; i-- {
		w := ws.all[i]
		if !filestat.ChangeTimes || when >= w.from-w.margin {
			src := w.source
			if filestat.ChangeTimes && when < w.from {
				src.Via = "unknown"
			}
			return &src
		}
	}
	return nil
}
