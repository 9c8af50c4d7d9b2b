package review

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"cursord/agent"
	"cursord/agent/hooks"
	"cursord/daemon/config"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/savewatch"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/survivors"
	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// A Turn sees events before the loop, in the turn's goroutine. It reads the files they name before and after a call writes.
type Turn struct {
	r       *Reviewer
	tree    *Worktree // where the agent works
	session string
	turn    string
	owner   string // of the turn's processes; see survivors.Owner
	dir     string
	start   *snapshot.Snapshot
	outside map[string]atomicfile.State // control files outside of the workspace when the turn began
	heard   agent.Heard                 // how much of the agent's output has been processed
	stop    func()                      // ends the taking of start
	folders atomic.Pointer[savewatch.Folders]
	looked  chan struct{}             // closed when people's changes from before the turn have been taken in
	open    map[string][]*watchedCall // by call id
	odd     map[spot]bool             // files that cannot be reviewed and that a notice has named
	later   agentcalls.Afterwards
	refused map[int]string // titles of refused calls that may have run, by the index of their ToolEnds in the batch

	// For changes that no call names; see unannounced.go.
	waits   bool // the agent may write early on, and so begins only when the snapshot is taken
	say     func(string)
	runs    map[string][]*run // open calls, by call id
	past    []*run            // all calls that were not refused, open ones included, oldest first
	begun   []*run            // calls whose items are not known yet
	named   []*watchedCall    // calls that name files, and whose items are not known yet
	ended   []*run            // calls that have ended since the last scan
	arrived int64             // the earliest moment at which the agent may have written the present events
	asked   int64             // when the present events came

	postponed map[string]postponed // by path; see scanEnded
	warned    bool
	long      bool // people have read that a path is too long

	background map[string]bool // calls that have ended and left a command running
	silentFrom int64           // the moment since which no background command runs, according to the agent; 0: none has run
	overdue    bool            // a scan has to find the changes that those commands made until then
	orphans    survivors.Orphans
	unattended bool // the tree counts this turn among those whose processes may write without a call
	hooks      hooks.Set
	head       *commits.Log
}

// A watchedCall is a tool call that may write the files it names.
type watchedCall struct {
	files []watchedFile // sorted; no map, because thousands of calls may be open
	open  []namedCall
	start int    // its index among the ToolStarts of the batch, while it is in Turn.named
	item  string // "": not known yet
}

// A watchedFile is a file that a call names, as it was when the call began.
type watchedFile struct {
	spot
	before atomicfile.State
	within bool          // the call may have made before
	by     *diffs.Source // the agent that may have made before; nil: people
}

// A spot is a file that a call names. An agent in a copy may also name a file of the work tree, or a file outside of both.
type spot struct {
	tree *Worktree
	path string // canonical
}

// A namedCall is a call in the ledger of the tree that has its files.
type namedCall struct {
	tree    *Worktree
	call    *attribution.Call
	watched []string // the paths that are watched
}

// openNamed enters a call in the ledger and has the call's files watched.
func openNamed(in *Worktree, paths []string, src diffs.Source) namedCall {
	o := namedCall{tree: in, call: in.Ledger.Open(paths, src)}
	for _, p := range paths {
		if in.Calls.Begin(p) {
			o.watched = append(o.watched, p)
		}
	}
	return o
}

func (o namedCall) close() {
	o.leave()
	o.tree.closed()
}

// leave is close, but does not notify the reviewer.
func (o namedCall) leave() {
	for _, p := range o.watched {
		o.tree.Calls.End(p)
	}
	o.tree.Ledger.Close(o.call)
}

// Watch begins to watch a turn whose agent works in a tree. say puts a notice into the turn's transcript.
func (r *Reviewer) Watch(turn *sessions.Turn, in *Worktree, say func(string)) *Turn {
	t := &Turn{
		r: r, tree: in, session: turn.SessionID, turn: turn.ID, owner: survivors.Owner(turn), dir: in.Name, open: map[string][]*watchedCall{},
		odd: map[spot]bool{}, looked: make(chan struct{}),
		waits: turn.Mode == sessions.ModeAgent || turn.Driver == config.DriverACP, say: say, runs: map[string][]*run{},
		postponed: map[string]postponed{}, hooks: r.setup.Hooks.Find(in.Name),
	}
	t.start, t.stop = r.take(in, turn.ID)
	t.head = commits.Begin(in.Name, r.guardOf(in))
	t.watchBetween()
	if !in.Isolated() {
		t.outside = snapshot.OutsideControl(in.Name)
	}
	if !t.waits || in.Isolated() {
		r.setup.Claims.Close()
	}
	if t.hooks.Any {
		t.unattend()
	}
	if t.hooks.AfterEdit {
		in.Formatters.Add(t.source(diffs.ViaHook))
	}
	// Changes of files under review since the last look are people's.
	r.do(func() {
		r.made.Begin(t.turn)
		in.Starts.Add(t.start)
		r.answers.Look(r.setup.Running() <= 1) // as in look
		r.refreshAll(r.sorted())
		r.headMoved(r.setup.Running() <= 1) // the turn itself has not done anything yet
		in.Hearings = append(in.Hearings, &t.heard)
		close(t.looked)
		if !r.head.Known() { // nobody waits for this look
			r.lookAtHead(false)
		}
	})
	return t
}

// Ready returns a channel that is closed when the agent may begin: the snapshot is complete, or has taken too long.
func (t *Turn) Ready() <-chan struct{} {
	if !t.waits {
		t.start.AgentBegins()
		return nil
	}
	both := make(chan struct{})
	late := time.After(snapshot.Wait)
	go func() {
		defer close(both)
		<-t.start.Ready()
		select {
		case <-t.looked:
		case <-late:
		case <-t.r.done:
		}
		t.r.setup.Claims.Close()
	}()
	return both
}

// Curious reports whether Report needs the items of the events that See saw last.
func (t *Turn) Curious() bool { return len(t.begun)+len(t.named)+len(t.ended) > 0 || t.overdue }

// See reads the disk for each event, and corrects guesses of ends. Give the result to Report once the loop has numbered the items.
func (t *Turn) See(events []agent.Event) (files []Written) {
	t.arrived, t.asked = agentcalls.Came(&t.heard)
	t.refused = agentcalls.Refused(events)
	starts, ends := 0, 0
	for i, ev := range events {
		switch ev := ev.(type) {
		case agent.Init:
			if ev.Dir != "" && paths.TooLong(ev.Dir) == "" {
				t.dir = ev.Dir
			}
		case agent.ToolStart:
			if agentcalls.Write(&ev.Call) || agentcalls.WriteAnything(&ev.Call) {
				t.start.CallBegins()
			}
			if agentcalls.Write(&ev.Call) {
				t.begin(&ev, starts)
			}
			if agentcalls.WriteAnything(&ev.Call) {
				t.beginRun(&ev, starts)
			}
			starts++
		case agent.ToolEnd:
			files = append(files, t.finish(&ev, ends)...)
			t.finishRun(&ev, ends)
			events[i] = ev
			ends++
		case agent.BackgroundEnded:
			t.endBackground(ev.Calls)
		case agent.Result:
			t.start.LookAhead(len(t.past) > 0 && len(t.runs)+len(t.ended) == 0 && t.loose()(0) == nil)
		}
	}
	return files
}

// spot returns the file of a path that a call names; false if the path names no file to review.
func (t *Turn) spot(path, tool string) (spot, bool) {
	if why := paths.TooLongIn(t.dir, path); why != "" {
		if !t.long {
			t.long = true
			t.say(fmt.Sprintf("A path that the agent named is not listed for review: %s: %s", paths.Short(path), why))
		}
		return spot{}, false
	}
	p := paths.CanonicalOf(t.tree.Name, t.dir, path, !agent.Removes(tool))
	in := t.tree
	if t.tree.Isolated() && filepath.IsAbs(p) {
		in, p = t.r.shared(), paths.CanonicalOf(t.tree.Work, t.dir, path, !agent.Removes(tool))
	}
	return spot{in, p}, p != ""
}

func (t *Turn) begin(ev *agent.ToolStart, start int) {
	call, w := &ev.Call, &watchedCall{start: start}
	from, dated := agentcalls.SaidAt(ev.Said, t.arrived, t.asked)
	for _, p := range call.Paths {
		if s, ok := t.spot(p, call.Name); ok {
			w.files = append(w.files, watchedFile{spot: s, by: s.tree.Writer(s.path)})
		}
	}
	slices.SortFunc(w.files, func(a, b watchedFile) int { return compareSpots(a.spot, b.spot) })
	w.files = slices.CompactFunc(w.files, func(a, b watchedFile) bool { return a.spot == b.spot })
	for _, in := range []*Worktree{t.tree, t.r.shared()} {
		var names []string
		for _, f := range w.files {
			if f.tree == in {
				names = append(names, f.path)
			}
		}
		if len(names) > 0 && (len(w.open) == 0 || w.open[0].tree != in) {
			w.open = append(w.open, openNamed(in, names, t.source(diffs.ViaEdit)))
		}
	}
	for i := range w.files {
		f := &w.files[i]
		at := clock.Now()
		if f.before = f.tree.Read(f.path); f.before.Unreadable == "" {
			full, begun := f.tree.Absolute(f.path), from-int64(attribution.Tick)
			f.within = dated && filestat.ChangeTimes && filestat.Of(full).Changed() >= begun
			if t.start.Recall(f.path, f.before, f.within); f.within {
				f.tree.Calls.Missed(f.path, func() int { return t.folders.Load().Since(full, begun) })
			}
			f.tree.Ledger.Look(f.path, attribution.Look{Content: f.before.Content, At: at, Within: f.within})
		}
	}
	t.open[call.ID] = append(t.open[call.ID], w)
	t.named = append(t.named, w)
}

func (t *Turn) finish(ev *agent.ToolEnd, end int) (files []Written) {
	call, w := &ev.Call, cmp.Or(agentcalls.Last(t.open, ev.Call.ID), &watchedCall{})
	for _, ch := range call.Changes {
		s, ok := t.spot(ch.Path, call.Name)
		if !ok {
			continue
		}
		f := Written{
			spot: s, at: clock.Now(), call: end, change: ch, via: diffs.ViaTool, leavesEmpty: call.LeavesEmpty(), start: t.start,
			beside: cmp.Or(t.beside(s.path), w.by(s)), refused: ev.State == agent.CallRejected,
		}
		if t.readEnd(&f, ev); s.tree != t.tree {
			f.start, f.beside = snapshot.Empty(s.tree.Name), w.by(s)
		}
		files = append(files, f)
	}
	if ev.Guess && len(t.unfinished(w)) > 0 {
		ev.State, call.Error, call.Result = agent.CallCompleted, "", nil
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

// Report gives the result of See to the reviewer, with the items of the calls.
func (t *Turn) Report(files []Written, items Items) {
	t.nameRuns(items)
	if len(files)+len(items.Ended) == 0 {
		return
	}
	sources := make([]diffs.Source, len(files))
	var odd []string
	for i, f := range files {
		if f.after.Unreadable != "" && !t.odd[f.spot] {
			t.odd[f.spot] = true
			odd = append(odd, f.after.UnreadableAt(f.path))
		}
		sources[i] = t.source(f.via)
		if f.call < len(items.Ended) {
			sources[i].ItemID = items.Ended[f.call]
		}
	}
	if len(odd) > 0 {
		t.say(snapshot.Unreviewable(odd))
	}
	refused := t.refused
	t.r.do(func() {
		t.r.made.Ended(t.turn, items.Ended...)
		t.r.made.Refused(t.turn, refused, items.Ended, t.say)
		t.r.agentWrote(files, sources)
		t.r.follow(files)
		t.r.submit(nil, nil, nil)
	})
}

// Acted reports whether the agent may have started processes.
func (t *Turn) Acted() bool { return len(t.past) > 0 || t.hooks.Any }

// End returns when the reviewer has taken in all changes of the turn.
func (t *Turn) End() {
	t.endCalls()
	t.r.call(func() {
		// All output has been processed.
		t.tree.Hearings = slices.DeleteFunc(t.tree.Hearings, func(h *agent.Heard) bool { return h == &t.heard })
		t.r.headMoved(false)
	})
	t.lastScan()
	t.reportOutside()
	t.r.setup.Claims.Look()
	for _, text := range []string{t.r.setup.Claims.Take(), t.later.Text()} {
		if text != "" {
			t.say(text)
		}
	}
	t.r.call(func() {
		t.tree.Starts.Remove(t.start)
		t.tree.Formatters.Remove(t.source(diffs.ViaHook))
		t.r.headEnds()
		t.tree.forgetGuesses()
		t.r.made.EndTurn(t.turn)
		t.r.submit(nil, nil, nil)
		if t.unattended {
			t.tree.Unattended.Add(-1)
		}
	})
	t.stop()
	t.start.Close()
}

// endCalls ends open calls at the turn's end. Changes of their files since the calls began are the agent's.
func (t *Turn) endCalls() {
	var files []Written
	var sources []diffs.Source
	var open []namedCall
	for _, calls := range t.open {
		for _, c := range calls {
			open = append(open, c.open...)
			for _, f := range t.unfinished(c) {
				src := t.source(diffs.ViaEdit)
				src.ItemID = c.item
				files, sources = append(files, f), append(sources, src)
			}
		}
	}
	if len(open) == 0 {
		return
	}
	if len(files) > 0 {
		files[len(files)-1].open, open = open, nil
	}
	t.r.call(func() {
		t.r.agentWrote(files, sources)
		for _, o := range open {
			o.leave()
		}
		t.r.takeInEnded()
		t.r.refreshLate()
	})
	for _, o := range open {
		o.tree.closed()
	}
}
