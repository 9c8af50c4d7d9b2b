package attribution

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"cursord/diffs"
)

// Tick bounds the lag of a file system's times behind the clock. The lag is usually at most usualTick: most kernels have 250
// ticks a second.
const (
	Tick      = 10 * time.Millisecond
	usualTick = 4 * time.Millisecond
)

// A Ledger records the times at which agents' calls were open in one tree. A call that names the files it writes stays in
// the ledger until its report has been taken in. A call that may write any file has a span, which stays until its turn ends.
// Any goroutine may call the methods.
type Ledger struct {
	mu    sync.Mutex
	paths map[string]*named // guarded by mu
	spans []*Call           // guarded by mu; calls that may write any file, in the order of their starts
}

// named is a path that is named by open calls, or by ended calls whose reports have not been taken in.
type named struct {
	calls   []*Call
	looks   []Look
	reports []Report
	held    int           // bytes in looks
	ended   []int64       // the moments at which calls ended
	saves   int           // how many saves of it were seen
	beside  *diffs.Source // the author of a change that a scan has left to the next report; nil: there is none
}

// A Call is an entry of a Ledger. The ledger's mutex guards its fields.
type Call struct {
	source diffs.Source
	paths  []string // nil: any file
	silent bool     // no report will follow

	span span
}

// A span is the time in which a call was open. Its beginning is uncertain, between earliest and from, because the agent's
// message may have been delayed and has no time.
type span struct {
	earliest, from int64
	to             int64 // 0 while the call is open
}

// at reports whether a part of a change may have been made in the span, and whether all of it certainly was.
func (s span) at(c Change) (may, certain bool) {
	when := c.When
	switch {
	case c.Undated:
		return s.to == 0, s.to == 0
	case s.to != 0 && c.Since > s.to, c.By != 0 && c.By < s.earliest:
		return false, false // even if the file system's clock says otherwise
	case s.to != 0 && when > s.to:
		return c.Since != 0, false // somebody has changed the file later, and nobody has seen the content before
	}
	may = when >= s.earliest-int64(Tick)
	lag := usualTick
	if s.earliest < s.from { // from is the moment of reading the message, shortly after the agent wrote it
		lag = Tick
	}
	return may, may && when >= s.from-int64(lag)
}

// looksMax bounds the bytes of a path's looks while calls are open; above it only the first and the latest look are kept.
const looksMax = 64 << 20

func (l *Ledger) at(path string) *named {
	if l.paths == nil {
		l.paths = map[string]*named{}
	}
	n := l.paths[path]
	if n == nil {
		n = &named{}
		l.paths[path] = n
	}
	return n
}

// Open enters a call that names the files it writes.
func (l *Ledger) Open(paths []string, src diffs.Source) *Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &Call{source: src, paths: slices.Clone(paths)}
	for _, p := range c.paths {
		n := l.at(p)
		n.calls = append(n.calls, c)
	}
	return c
}

// OpenAny enters a call that may write any file.
func (l *Ledger) OpenAny(src diffs.Source, earliest, from int64) *Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &Call{source: src, span: span{earliest: min(earliest, from), from: from}}
	l.spans = append(l.spans, c)
	return c
}

// Name records the item that a call has become.
func (l *Ledger) Name(c *Call, item string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.source.ItemID = item
}

// Source returns the source of a call's changes.
func (l *Ledger) Source(c *Call) diffs.Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.source
}

// End records the end of a call that may write any file.
func (l *Ledger) End(c *Call, to int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.span.to = to
}

// Forget drops a call that may write any file: it was refused, or its turn has ended.
func (l *Ledger) Forget(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spans = slices.DeleteFunc(l.spans, func(one *Call) bool { return one == c })
}

// Close ends a call that names files. Its reports are taken in later, by TakeIn.
func (l *Ledger) Close(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range c.paths {
		n := l.paths[p]
		if n == nil {
			continue
		}
		n.calls = slices.DeleteFunc(n.calls, func(one *Call) bool { return one == c })
		if len(n.calls) == 0 && len(n.reports) == 0 {
			delete(l.paths, p)
		}
	}
}

// Silence records that no report of a call will follow.
func (l *Ledger) Silence(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.silent = true
}

// Look records a content of a path that was seen while open calls name the path. Without such a call it does nothing and
// returns false.
func (l *Ledger) Look(path string, look Look) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.paths[path]
	if n == nil {
		return false
	}
	at := len(n.looks)
	for at > 0 && n.looks[at-1].At > look.At {
		at--
	}
	for _, end := range n.ended {
		if end <= look.At {
			look.Ended++
		}
	}
	if at > 0 && same(n.looks[at-1].Content, look.Content) && n.looks[at-1].Ended == look.Ended {
		n.looks[at-1].Person = n.looks[at-1].Person || look.Person
		n.looks[at-1].Within = n.looks[at-1].Within || look.Within
		return true
	}
	n.looks = slices.Insert(n.looks, at, look)
	for n.held += len(look.Content.Data); n.held > looksMax && len(n.looks) > 2; {
		n.held -= len(n.looks[1].Content.Data)
		n.looks = slices.Delete(n.looks, 1, 2)
	}
	return true
}

// Ends counts the end of a call that names a path; at is when the end was read. It returns the end's position, from 1, or 0
// if no known call names the path.
func (l *Ledger) Ends(path string, at int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.paths[path]
	if n == nil {
		return 0
	}
	n.ended = append(n.ended, at)
	return len(n.ended)
}

// Saved notes n more saves of a path. It does nothing if no call names the path.
func (l *Ledger) Saved(path string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.paths[path]; known != nil {
		known.saves += n
	}
}

// Saves returns the number of saves of a path that were seen while open calls named it.
func (l *Ledger) Saves(path string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.paths[path]; n != nil {
		return n.saves
	}
	return 0
}

// Wrote records that a decision has written a path, so earlier looks no longer count.
func (l *Ledger) Wrote(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.paths[path]; n != nil {
		n.looks, n.held, n.saves = nil, 0, 0
	}
}

// LeftBeside reports whether a scan must leave a change of a path to the report of a call that names it. by, if not nil, may then
// have made changes up to that call's end, and so may people.
func (l *Ledger) LeftBeside(path string, by *diffs.Source) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.paths[path]
	if n != nil && by != nil {
		n.beside = perhaps(*by)
	}
	return n != nil
}

// Report records an ended call's report about a path. It is taken in once no other open call names the path.
func (l *Ledger) Report(path string, r Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.at(path)
	r.Beside, n.beside = cmp.Or(r.Beside, n.beside), nil
	n.reports = append(n.reports, r)
}

// TakeIn returns, once, the looks and reports of a path. ok is false while an open call names the path, and if there is no
// report.
func (l *Ledger) TakeIn(path string) (looks []Look, reports []Report, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.paths[path]
	if n == nil || slices.ContainsFunc(n.calls, func(c *Call) bool { return !c.silent }) {
		return nil, nil, false
	}
	looks, reports = n.looks, n.reports
	n.looks, n.reports, n.held, n.ended, n.saves = nil, nil, 0, nil, 0
	if len(n.calls) == 0 {
		delete(l.paths, path)
	}
	return looks, reports, len(reports) > 0
}

// Pending reports whether the author of a path's present content is unknown until a call ends.
func (l *Ledger) Pending(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.paths[path]
	return n != nil && (len(n.reports) > 0 || slices.ContainsFunc(n.calls, func(c *Call) bool { return !c.silent }))
}

// Writing reports whether an open call names a path.
func (l *Ledger) Writing(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.paths[path]
	return n != nil && len(n.calls) > 0
}

// A Change is a change of a path that no call names.
type Change struct {
	When    int64         // the moment of the change; of the latest, if there were several; meaningless if Undated
	Since   int64         // the last look at the path before; 0: unknown
	Undated bool          // the file system gives no time
	By      int64         // a moment by which the change had certainly been made; 0: unknown
	Earlier []Change      // earlier changes that were seen since the path was last taken in; only their times count
	Typed   bool          // an editor reports that a person made it
	Locked  bool          // an editor's swap or lock file lies beside the path
	Alone   *diffs.Source // in an isolated tree: the tree's agent
	Loose   *diffs.Source // the source of an agent's processes that may write without a call; nil: there are none
}

// Author returns the author of a change; nil is a person. A source with via "unknown" may be a person's.
func (l *Ledger) Author(c Change) *diffs.Source {
	if c.Typed {
		return nil
	}
	src := l.during(c)
	for _, first := range c.Earlier {
		src = both(src, l.during(first))
	}
	switch {
	case c.Alone != nil && (src == nil || src.Via == diffs.ViaUnknown):
		return c.Alone
	case c.Alone != nil:
		return src
	case src == nil && c.Loose != nil:
		loose := *c.Loose
		loose.Via = diffs.ViaUnknown
		return &loose
	case src != nil && c.Locked:
		src.Via = diffs.ViaUnknown
	}
	return src
}

// during returns the source of a call that may write any file and was open at a change: the latest call that certainly was
// open, else the latest that may have been.
func (l *Ledger) during(c Change) (maybe *diffs.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, call := range slices.Backward(l.spans) {
		may, certain := call.span.at(c)
		if !may || !certain && maybe != nil {
			continue
		}
		src := call.source
		if certain {
			return &src
		}
		src.Via = diffs.ViaUnknown
		maybe = &src
	}
	return maybe
}

// both returns the source of a change by two authors, one after the other: the last may have overwritten the text of the
// first.
func both(last, first *diffs.Source) *diffs.Source {
	switch {
	case last == nil && first == nil, last != nil && first != nil && first.Via != diffs.ViaUnknown:
		return last
	case last == nil:
		return perhaps(*first)
	}
	return perhaps(*last)
}

// Reported lists the paths whose reports can be taken in.
func (l *Ledger) Reported() (paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, n := range l.paths {
		if len(n.reports) > 0 && !slices.ContainsFunc(n.calls, func(c *Call) bool { return !c.silent }) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
