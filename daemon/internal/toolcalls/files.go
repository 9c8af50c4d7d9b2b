package toolcalls

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cursord/agent"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/worktree"
	"cursord/diffs"
)

// This file reads the files that calls name.

// A Written is a file that a finished call reports as changed.
type Written struct {
	FileRef
	Call        int // index of its ToolEnd in the batch
	End         int // its position among the ended calls that name the file, from 1; 0: unknown
	Change      agent.FileChange
	At          int64            // a moment before After was read, by package clock
	After       atomicfile.State // the file's content at the call's end
	Saves       int              // how many saves of the file were seen by then
	Late        bool             // the file was changed after the call had ended
	Via         diffs.Via
	LeavesEmpty bool // a text that the call does not report may be an empty one
	Start       *snapshot.Snapshot
	Refused     bool          // a person may have made the change
	Open        []NamedCall   // calls to close once the report is in the ledger
	Beside      *diffs.Source // who may have changed the file since it was last looked at; nil: people
}

// A watchedCall is a tool call that may write the files it names.
type watchedCall struct {
	files []watchedFile // sorted; no map, because thousands of calls may be open
	open  []NamedCall
	start int    // its index among the ToolStarts of the batch, while it is in Observer.named
	item  string // "": not known yet
}

// A watchedFile is a file that a call names, as it was when the call began.
type watchedFile struct {
	FileRef
	before atomicfile.State
	within bool          // the call may have made before
	by     *diffs.Source // the agent that may have made before; nil: people
}

// A FileRef is a file that a call names. An agent in a copy may also name a file of the work tree, or a file outside of both.
type FileRef struct {
	Tree *worktree.Tree
	Path string // canonical
}

// A NamedCall is a call in the ledger of the tree that has its files.
type NamedCall struct {
	tree    *worktree.Tree
	closed  func() // called when the call has ended
	call    *attribution.Call
	watched []string // the paths that are watched
}

// openNamed enters a call in the ledger and has the call's files watched.
func (t *Observer) openNamed(in *worktree.Tree, paths []string, src diffs.Source) NamedCall {
	o := NamedCall{tree: in, closed: t.closed, call: in.Ledger.Open(paths, src)}
	for _, p := range paths {
		if in.Calls.Begin(p) {
			o.watched = append(o.watched, p)
		}
	}
	return o
}

// Close ends the call, and has its files watched no more.
func (o NamedCall) Close() {
	o.Leave()
	o.closed()
}

// Leave is Close, but tells nobody that the call has ended.
func (o NamedCall) Leave() {
	for _, p := range o.watched {
		o.tree.Calls.End(p)
	}
	o.tree.Ledger.Close(o.call)
}

// StartAt returns the content of the path when the turn began or was last looked at; false if it is not known.
func (wr *Written) StartAt() (diffs.Content, bool) {
	c, known := wr.Start.At(wr.Path)
	return wr.Tree.TranslatedContent(c), known
}

// readEnd reads the content that a call has left in a file.
func (t *Observer) readEnd(f *Written, ev *agent.ToolEnd) {
	calls, full := &f.Tree.Calls, f.Tree.Absolute(f.Path)
	seen := t.folders.Load().Seen()
	switch {
	case !agentcalls.Write(&ev.Call) || f.Change.After != nil || f.Change.Deleted:
		f.After = f.Tree.Translated(atomicfile.ReadWritten(f.Tree.Under(f.Path), f.Path, f.Change.After))
	default:
		var changed int64
		to, dated := agentcalls.SaidAt(ev.Said, t.arrived, clock.Now())
		f.After, f.Saves, changed = calls.ReadLeft(f.Path)
		if f.Saves > 0 { // Without a save, the call was over before anybody looked, and a change within its last millisecond may be later than the call.
			to += int64(time.Millisecond)
		}
		// With hooks that format files after edits, a later change is part of the call's.
		f.Late = dated && filestat.ChangeTimes && !f.Tree.Isolated() && !t.Hooks.AfterEdit && changed > to
	}
	if to, dated := agentcalls.SaidAt(ev.Said, t.arrived, clock.Now()); dated && filestat.ChangeTimes && filestat.Of(full).Changed() <= to+int64(time.Millisecond) {
		t.folders.Load().Forget(full, seen) // they are this call's, or older
	}
	if agentcalls.Write(&ev.Call) {
		f.Via, f.End = agentcalls.ViaEnd(ev, f.Tree.ChangedAt(f.Path, filestat.Of(full)), f.Tree.Isolated()), f.Tree.Ledger.Ends(f.Path, f.At)
		f.Saves = max(f.Saves, calls.Saves(f.Path))
	}
}

// unfinished returns the files of an open call that have changed since it began.
func (t *Observer) unfinished(c *watchedCall) (files []Written) {
	for _, was := range c.files {
		f := Written{FileRef: was.FileRef, At: clock.Now(), After: was.Tree.Read(was.Path), Start: t.Start, Beside: cmp.Or(t.beside(was.Path), was.by)}
		if was.Tree != t.Tree {
			f.Start, f.Beside = snapshot.Empty(was.Tree.Name), was.by
		}
		f.Saves = was.Tree.Calls.Saves(was.Path)
		if (was.within || !f.After.Same(was.before)) && was.Tree.Typed(was.Path, f.After) == nil {
			files = append(files, f)
		}
	}
	return files
}

func compareRefs(a, b FileRef) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Tree.Session, b.Tree.Session))
}

// by returns the agent that may have made the content that a file had when the call began; nil stands for people.
func (w *watchedCall) by(s FileRef) *diffs.Source {
	if i, ok := slices.BinarySearchFunc(w.files, s, func(f watchedFile, s FileRef) int { return compareRefs(f.FileRef, s) }); ok {
		return w.files[i].by
	}
	return nil
}

// EndCalls ends the calls that are open at the turn's end. Changes of their files since the calls began are the agent's. The last of files
// closes the calls; if there are no files, the caller does.
func (t *Observer) EndCalls() (files []Written, sources []diffs.Source, open []NamedCall) {
	for _, calls := range t.open {
		for _, c := range calls {
			open = append(open, c.open...)
			for _, f := range t.unfinished(c) {
				src := t.Source(diffs.ViaEdit)
				src.ItemID = c.item
				files, sources = append(files, f), append(sources, src)
			}
		}
	}
	if len(files) > 0 {
		files[len(files)-1].Open, open = open, nil
	}
	return files, sources, open
}
