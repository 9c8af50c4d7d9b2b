// Package toolcalls sees the tool calls of a turn beside the disk, in the turn's goroutine. An [Observer] reads the files that calls name
// before and after the calls write, while that is worth something, and says when a scan has to find what no call names, and whose the
// changes are that it finds. It knows no review: who owns the reviews takes its reports and carries out its scans.
package toolcalls

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"cursord/agent"
	"cursord/agent/hooks"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/savewatch"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/survivors"
	"cursord/daemon/internal/worktree"
	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// An Observer sees the events of one turn before the loop does, in the turn's goroutine.
type Observer struct {
	Tree    *worktree.Tree // where the agent works
	Shared  *worktree.Tree // the work tree
	Session string
	TurnID  string
	Start   *snapshot.Snapshot
	Stop    func() // ends the taking of Start, and the watch of saves
	Waits   bool   // the agent may write early on, and so begins only when the snapshot is taken
	Say     func(string)
	Hooks   hooks.Set
	Commits *commits.Log
	Later   agentcalls.Afterwards
	Refused map[int]string // titles of refused calls that may have run, by the index of their ToolEnds in the batch

	alive   *survivors.Turns
	owner   string // of the turn's processes; see survivors.Owner
	closed  func() // called when a call has ended that names files; must not block
	dir     string
	heard   agent.Heard // how much of the agent's output has been processed
	folders atomic.Pointer[savewatch.Folders]
	open    map[string][]*watchedCall // by call id

	// For changes that no call names; see runs.go and scans.go.
	runs    map[string][]*run // open calls, by call id
	past    []*run            // all calls that were not refused, open ones included, oldest first
	begun   []*run            // calls whose items are not known yet
	named   []*watchedCall    // calls that name files, and whose items are not known yet
	ended   []*run            // calls that have ended since the last scan
	arrived int64             // the earliest moment at which the agent may have written the present events
	asked   int64             // when the present events came

	postponed map[string]postponed // by path; see scanEnded
	long      bool                 // people have read that a path is too long

	background map[string]bool // calls that have ended and left a command running
	silentFrom int64           // the moment since which no background command runs, according to the agent; 0: none has run
	overdue    bool            // a scan has to find the changes that those commands made until then
	orphans    survivors.Orphans
	unattended bool // the tree counts this turn among those whose processes may write without a call
}

// New returns the observer of a turn whose agent works in a tree; shared is the work tree. closed is called when a call has ended that names
// files, and must not block. say puts a notice into the turn's transcript. The caller sets what else is exported.
func New(turn *sessions.Turn, in, shared *worktree.Tree, alive *survivors.Turns, closed func(), say func(string)) *Observer {
	return &Observer{
		Tree: in, Shared: shared, Session: turn.SessionID, TurnID: turn.ID, Say: say, alive: alive, owner: survivors.Owner(turn), closed: closed,
		dir: in.Name, open: map[string][]*watchedCall{}, runs: map[string][]*run{}, postponed: map[string]postponed{},
	}
}

// Ran reports whether calls that may write any file have run.
func (t *Observer) Ran() bool { return len(t.past) > 0 }

// Acted reports whether the agent may have started processes.
func (t *Observer) Acted() bool { return t.Ran() || t.Hooks.Any }

// Curious reports whether Report needs the items of the events that See saw last.
func (t *Observer) Curious() bool { return len(t.begun)+len(t.named)+len(t.ended) > 0 || t.overdue }

// See reads the disk for each event, and corrects guesses of ends. Give the result to Report once the loop has numbered the items.
func (t *Observer) See(events []agent.Event) (files []Written) {
	t.arrived, t.asked = agentcalls.Came(&t.heard)
	t.Refused = agentcalls.Refused(events)
	starts, ends := 0, 0
	for i, ev := range events {
		switch ev := ev.(type) {
		case agent.Init:
			if ev.Dir != "" && paths.TooLong(ev.Dir) == "" {
				t.dir = ev.Dir
			}
		case agent.ToolStart:
			if agentcalls.Write(&ev.Call) || agentcalls.WriteAnything(&ev.Call) {
				earliest, _ := agentcalls.BeganAt(ev.Said, t.arrived, t.asked)
				t.Start.CallBegins(earliest)
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
			t.Start.LookAhead(len(t.past) > 0 && len(t.runs)+len(t.ended) == 0 && t.loose()(0) == nil)
		}
	}
	return files
}

// fileRef returns the file of a path that a call names; false if the path names no file to review.
func (t *Observer) fileRef(path, tool string) (FileRef, bool) {
	if why := paths.TooLongIn(t.dir, path); why != "" {
		if !t.long {
			t.long = true
			t.Say(fmt.Sprintf("A path that the agent named is not listed for review: %s: %s", paths.Short(path), why))
		}
		return FileRef{}, false
	}
	p := paths.CanonicalOf(t.Tree.Name, t.dir, path, !agent.Removes(tool))
	in := t.Tree
	if t.Tree.Isolated() && filepath.IsAbs(p) {
		in, p = t.Shared, paths.CanonicalOf(t.Tree.Work, t.dir, path, !agent.Removes(tool))
	}
	return FileRef{in, p}, p != ""
}

func (t *Observer) begin(ev *agent.ToolStart, start int) {
	call, w := &ev.Call, &watchedCall{start: start}
	from, dated := agentcalls.SaidAt(ev.Said, t.arrived, t.asked)
	for _, p := range call.Paths {
		if s, ok := t.fileRef(p, call.Name); ok {
			w.files = append(w.files, watchedFile{FileRef: s, by: s.Tree.Writer(s.Path)})
		}
	}
	slices.SortFunc(w.files, func(a, b watchedFile) int { return compareRefs(a.FileRef, b.FileRef) })
	w.files = slices.CompactFunc(w.files, func(a, b watchedFile) bool { return a.FileRef == b.FileRef })
	for _, in := range []*worktree.Tree{t.Tree, t.Shared} {
		var names []string
		for _, f := range w.files {
			if f.Tree == in {
				names = append(names, f.Path)
			}
		}
		if len(names) > 0 && (len(w.open) == 0 || w.open[0].tree != in) {
			w.open = append(w.open, t.openNamed(in, names, t.Source(diffs.ViaEdit)))
		}
	}
	for i := range w.files {
		f := &w.files[i]
		at := clock.Now()
		if f.before = f.Tree.Read(f.Path); f.before.Unreadable == "" {
			full, begun := f.Tree.Absolute(f.Path), from-int64(attribution.Tick)
			f.within = dated && filestat.ChangeTimes && filestat.Of(full).Changed() >= begun
			if t.Start.Recall(f.Path, f.before, f.within); f.within {
				f.Tree.Calls.Missed(f.Path, func() int { return t.folders.Load().Since(full, begun) })
			}
			f.Tree.Ledger.Look(f.Path, attribution.Look{Content: f.before.Content, At: at, Within: f.within})
		}
	}
	t.open[call.ID] = append(t.open[call.ID], w)
	t.named = append(t.named, w)
}

func (t *Observer) finish(ev *agent.ToolEnd, end int) (files []Written) {
	call, w := &ev.Call, cmp.Or(agentcalls.Last(t.open, ev.Call.ID), &watchedCall{})
	for _, ch := range call.Changes {
		s, ok := t.fileRef(ch.Path, call.Name)
		if !ok {
			continue
		}
		f := Written{
			FileRef: s, At: clock.Now(), Call: end, Change: ch, Via: diffs.ViaTool, LeavesEmpty: call.LeavesEmpty(), Start: t.Start,
			Beside: cmp.Or(t.beside(s.Path), w.by(s)), Refused: ev.State == agent.CallRejected,
		}
		if t.readEnd(&f, ev); s.Tree != t.Tree {
			f.Start, f.Beside = snapshot.Empty(s.Tree.Name), w.by(s)
		}
		files = append(files, f)
	}
	if ev.Guess && len(t.unfinished(w)) > 0 {
		ev.State, call.Error, call.Result = agent.CallCompleted, "", nil
	}
	if len(files) == 0 {
		for _, o := range w.open {
			o.Close()
		}
	} else {
		files[len(files)-1].Open = w.open
	}
	return files
}

// Heard returns the record of how far the agent's output has been processed; the turn's goroutine updates it.
func (t *Observer) Heard() *agent.Heard { return &t.heard }
