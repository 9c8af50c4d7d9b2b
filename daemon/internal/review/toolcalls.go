package review

import (
	"slices"
	"time"

	"cursord/agent"
	"cursord/daemon/config"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/toolcalls"
	"cursord/daemon/internal/worktree"
	"cursord/diffs"
	"cursord/sessions"
)

// A Turn sees events before the loop, in the turn's goroutine, and has the reviewer take in what its Observer has seen.
type Turn struct {
	*toolcalls.Observer
	r       *Reviewer
	tree    *Worktree                   // where the agent works
	outside map[string]atomicfile.State // control files outside of the workspace when the turn began
	looked  chan struct{}               // closed when people's changes from before the turn have been taken in
	odd     map[toolcalls.FileRef]bool  // files that cannot be reviewed and that a notice has named
	warned  bool
}

// Items are the items of a batch's calls, one for each ToolStart and each ToolEnd.
type Items struct{ Started, Ended []string }

// worktree returns the review's side of one of the trees that the turn's calls name.
func (t *Turn) worktree(of *worktree.Tree) *Worktree {
	if of == &t.tree.Tree {
		return t.tree
	}
	return t.r.shared()
}

// Watch begins to watch a turn whose agent works in a tree. say puts a notice into the turn's transcript.
func (r *Reviewer) Watch(turn *sessions.Turn, in *Worktree, say func(string)) *Turn {
	t := &Turn{
		Observer: toolcalls.New(turn, &in.Tree, &r.shared().Tree, r.setup.Survivors, r.windowClosed, say),
		r:        r, tree: in, odd: map[toolcalls.FileRef]bool{}, looked: make(chan struct{}),
	}
	t.Waits, t.Hooks = turn.Mode == sessions.ModeAgent || turn.Driver == config.DriverACP, r.setup.Hooks.Find(in.Name)
	t.Start, t.Stop = r.take(in, turn.ID)
	t.Commits = commits.Begin(in.Name, r.guardOf(in))
	t.WatchSaves()
	if !in.Isolated() {
		t.outside = snapshot.OutsideControl(in.Name)
	}
	if !t.Waits || in.Isolated() {
		r.setup.Claims.Close()
	}
	if t.Hooks.Any {
		t.Unattend()
	}
	if t.Hooks.AfterEdit {
		in.Formatters.Add(t.Source(diffs.ViaHook))
	}
	// Changes of files under review since the last look are people's.
	r.do(func() {
		r.made.Begin(t.TurnID)
		in.Starts.Add(t.Start)
		r.answers.Look(r.setup.Running() <= 1) // as in look
		r.refreshAll(r.sorted())
		r.followFound(false)
		r.headMoved(r.setup.Running() <= 1) // the turn itself has not done anything yet
		in.Hearings = append(in.Hearings, t.Heard())
		close(t.looked)
		if !r.head.Known() { // nobody waits for this look
			r.lookAtHead(false)
		}
	})
	return t
}

// Ready returns a channel that is closed when the agent may begin: the snapshot is complete, or has taken too long.
func (t *Turn) Ready() <-chan struct{} {
	if !t.Waits {
		t.Start.AgentBegins()
		return nil
	}
	both := make(chan struct{})
	late := time.After(snapshot.Wait)
	go func() {
		defer close(both)
		<-t.Start.Ready()
		select {
		case <-t.looked:
		case <-late:
		case <-t.r.done:
		}
		t.r.setup.Claims.Close()
	}()
	return both
}

// Report gives the result of See to the reviewer, with the items of the calls.
func (t *Turn) Report(files []toolcalls.Written, items Items) {
	t.NameCalls(items.Started, items.Ended)
	if len(files)+len(items.Ended) == 0 {
		return
	}
	sources := make([]diffs.Source, len(files))
	var odd []string
	for i, f := range files {
		if f.After.Unreadable != "" && !t.odd[f.FileRef] {
			t.odd[f.FileRef] = true
			odd = append(odd, f.After.UnreadableAt(f.Path))
		}
		if f.Tree == &t.tree.Tree && f.After.Exists {
			t.WatchSavesBeside(f.Path)
		}
		sources[i] = t.Source(f.Via)
		if f.Call < len(items.Ended) {
			sources[i].ItemID = items.Ended[f.Call]
		}
	}
	if len(odd) > 0 {
		t.Say(snapshot.Unreviewable(odd))
	}
	refused := t.Refused
	t.r.do(func() {
		t.r.made.Ended(t.TurnID, items.Ended...)
		t.r.made.Refused(t.TurnID, refused, items.Ended, t.Say)
		t.agentWrote(files, sources)
		t.follow(files)
		t.r.submit(nil, nil, nil)
	})
}

// End returns when the reviewer has taken in all changes of the turn.
func (t *Turn) End() {
	t.endCalls()
	t.r.call(func() {
		// All output has been processed.
		t.tree.Hearings = slices.DeleteFunc(t.tree.Hearings, func(h *agent.Heard) bool { return h == t.Heard() })
		t.r.headMoved(false)
	})
	if last := t.LastScan(); last != nil {
		t.scan(last)
	}
	t.ForgetRuns()
	t.reportOutside()
	t.r.setup.Claims.Look()
	for _, text := range []string{t.r.setup.Claims.Take(), t.Later.Text()} {
		if text != "" {
			t.Say(text)
		}
	}
	t.r.call(func() {
		t.tree.Starts.Remove(t.Start)
		t.tree.Formatters.Remove(t.Source(diffs.ViaHook))
		t.r.headEnds()
		t.tree.forgetGuesses()
		t.r.made.EndTurn(t.TurnID)
		t.r.submit(nil, nil, nil)
		t.EndUnattended()
	})
	t.Stop()
	t.Start.Close()
}

// endCalls ends open calls at the turn's end.
func (t *Turn) endCalls() {
	files, sources, open := t.EndCalls()
	if len(files)+len(open) == 0 {
		return
	}
	t.r.call(func() {
		t.agentWrote(files, sources)
		for _, o := range open {
			o.Leave()
		}
		t.r.takeInEnded()
		t.r.refreshLate()
	})
	if len(open) > 0 {
		t.r.windowClosed()
	}
}
