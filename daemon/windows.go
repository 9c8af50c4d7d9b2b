package daemon

import (
	"maps"
	"slices"
	"sync"

	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

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

// author returns who a change to a path is by that is seen now and was made at a moment of package clock: an agent whose call is
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

// writing reports whether an agent's call that writes a path is open.
func (ws *windows) writing(path string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.ContainsFunc(ws.paths[path], func(w *window) bool { return w.source.Via == "edit" })
}
