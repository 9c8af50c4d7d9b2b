package daemon

import (
	"sync"

	"cursord/agent"
	"cursord/diffs"
)

// A turnWatch sees a turn's events before the loop does, and reads the files they name while that is still worth
// something: before a call writes, and right after it has. It lives in the turn's goroutine.
type turnWatch struct {
	r       *reviewer
	session string
	turn    string
	dir     string
	start   *startImage
	open    map[string][]*watchedCall // by call id
}

// A watchedCall is a tool call that may write the files it names.
type watchedCall struct {
	before map[string]image // by canonical path; at the call's start
	window *window
}

// A written is a file that a finished call says it changed.
type written struct {
	path   string
	call   int // which ToolEnd of the batch
	change agent.FileChange
	before *image // the disk at the call's start, if it was read then
	after  image  // the disk at the call's end
	edit   bool   // a missing before-image means that there was no file, or an empty one
	start  *startImage
	window *window
}

func (r *reviewer) watchTurn(session, turn string) *turnWatch {
	return &turnWatch{
		r: r, session: session, turn: turn, dir: r.w.root, start: newStartImage(r.w.root), open: map[string][]*watchedCall{},
	}
}

// writes reports whether calls of this tool write the files that they name.
func writes(tool string) bool { return tool == "edit" || tool == "write" || tool == "delete" }

// see reads the disk beside each event; what it returns goes to tell once the loop has numbered the items.
func (t *turnWatch) see(events []agent.Event) (files []written) {
	ends := 0
	for _, ev := range events {
		switch ev := ev.(type) {
		case agent.Init:
			if ev.Dir != "" {
				t.dir = ev.Dir
			}
		case agent.ToolStart:
			if writes(ev.Call.Name) {
				t.begin(&ev.Call)
			}
		case agent.ToolEnd:
			files = append(files, t.finish(&ev.Call, ends)...)
			ends++
		}
	}
	return files
}

func (t *turnWatch) begin(call *agent.Call) {
	w := &watchedCall{before: map[string]image{}}
	var paths []string
	for _, p := range call.Paths {
		if p = canonical(t.r.w.root, t.dir, p); p != "" {
			paths = append(paths, p)
		}
	}
	w.window = t.r.windows.open(paths, diffs.Source{SessionID: t.session, TurnID: t.turn, Via: "edit"})
	for _, p := range paths {
		w.before[p] = readImage(t.r.w.root, p)
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
		p := canonical(t.r.w.root, t.dir, ch.Path)
		if p == "" {
			continue
		}
		f := written{
			path: p, call: end, change: ch, after: readImage(t.r.w.root, p), edit: call.Name == "edit", start: t.start,
		}
		if before, ok := w.before[p]; ok {
			f.before = &before
		}
		files = append(files, f)
	}
	if w.window != nil {
		if len(files) == 0 {
			t.r.windows.close(w.window)
		} else {
			files[len(files)-1].window = w.window
		}
	}
	return files
}

// tell hands what see found to the reviewer, with the items that the calls have become.
func (t *turnWatch) tell(files []written, items []string) {
	t.r.do(func() {
		for _, f := range files {
			src := diffs.Source{SessionID: t.session, TurnID: t.turn, Via: "edit"}
			if f.call < len(items) {
				src.ItemID = items[f.call]
			}
			t.r.agentWrote(f, src)
			if f.window != nil {
				t.r.windows.close(f.window)
			}
		}
	})
}

// end returns when the reviewer has seen all that the turn did.
func (t *turnWatch) end() {
	for _, calls := range t.open {
		for _, c := range calls {
			t.r.windows.close(c.window)
		}
	}
	t.r.call(func() {})
}

// windows are the times in which a change to a path is the agent's: from a call's start until its end was observed.
// They are shared by the turns' goroutines, which open them, and the reviewer, which asks.
type windows struct {
	mu    sync.Mutex
	paths map[string][]*window // guarded by mu
}

type window struct {
	paths  []string
	source diffs.Source
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
	ws.mu.Lock()
	defer ws.mu.Unlock()
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

// author returns who a change to a path seen now is by: an agent whose call is open, or nil, a person.
func (ws *windows) author(path string) *diffs.Source {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if open := ws.paths[path]; len(open) > 0 {
		return &open[len(open)-1].source
	}
	return nil
}
