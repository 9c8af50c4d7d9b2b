package daemon

import (
	"context"

	"cursord/agent"
	"cursord/agent/program"
	"cursord/daemon/config"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/drivers"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/prompt"
	"cursord/daemon/internal/review"
	"cursord/daemon/internal/survivors"
	"cursord/daemon/internal/translate"
	"cursord/daemon/whichagent"
	"cursord/sessions"
)

// This file is the part of a turn that runs beside the loop.

// run starts a turn's agent in a goroutine of its own.
func (w *workspace) run(t *liveTurn) {
	var c commit
	turn := *t.turn
	turn.Status, turn.StartedAt = sessions.TurnRunning, now()
	t.turn = &turn
	t.session.running = true
	s := *t.session.session
	w.putSession(&c, t.session, &s)
	w.put(&c, &turn, nil)

	ctx, cancel := context.WithCancelCause(context.Background())
	t.ctx, t.cancel, t.control = ctx, cancel, agent.NewControl()
	settings := w.d.settings()
	req := agent.Request{
		Mode: string(turn.Mode), Force: turn.Force, Sandbox: turn.Sandbox, AutoReview: turn.AutoReview,
		IdleTimeout: settings.AgentIdleTimeout, ToolTimeout: settings.AgentToolTimeout,
		BackgroundGrace: settings.BackgroundGrace, AwaitBackground: settings.AwaitBackground, Control: t.control,
	}
	drivers.Marked(&req, &turn, &w.survivors, storeMark(w.d.store))
	if turn.Model != nil {
		req.Model = *turn.Model
	} else {
		req.Model = settings.Model
	}
	if t.recapOf == "" && s.AgentSessionID == nil && (s.ForkedFrom != nil || s.Rewound) {
		t.recapOf = s.ID // it has a transcript, and no chat of its own yet
	}
	if s.AgentSessionID != nil && t.recapOf == "" {
		req.Resume = *s.AgentSessionID
	}
	if turn.Check {
		w.submit(&c)
		w.d.turns.Go(func() { w.check(ctx, t, &s, req) })
		return
	}
	remarks := w.remarks.Take(&c.ops, s.ID)
	w.submit(&c)
	w.d.turns.Go(func() { w.drive(ctx, t, &s, req, remarks) })
}

// drive runs the agent, passes its events to the loop, and lets the reviewer look at the disk beside each tool call. It runs
// in the turn's own goroutine.
func (w *workspace) drive(ctx context.Context, t *liveTurn, s *sessions.Session, req agent.Request, remarks []string) {
	notice := func(text string) {
		w.sendEvents(turnEvents{turn: t, events: []agent.Event{agent.Notice{Text: text}}})
	}
	turn := t.turn // the loop replaces it when this turn has ended
	var out agent.Outcome
	var left []agent.Event
	found, err := w.d.agent.Find(ctx)
	if err != nil {
		out = whichagent.NoRun(err)
	} else if at, err := w.site(ctx, s, turn.ID, t.alias, notice); err != nil {
		out = apart.Without(ctx, err)
	} else {
		watch := w.review.Watch(turn, at.tree, notice)
		req.Bin, req.Dir, req.Enter, req.AddDirs = found.Path, at.tree.Root(), at.tree.Enter(), w.agentDirs(turn.AddDirs, at.tree)
		build := w.learnBuild(ctx, t, found.Path)
		req.Version, req.Settled = build.Known(), build.Settled
		if text := params.AboutDirs(w.root, turn.AddDirs, s.Isolation == config.IsolationCopy); text != "" && !t.dirsNoted {
			notice(text)
		}
		var remark string
		if req.Base, remark = w.d.environmentOf(t.env); remark != "" {
			notice(remark)
		}
		// If the agent keeps its chats in a client's environment, they are not checked.
		if req.Resume != "" && req.Base == nil && !drivers.OutlivesTurn(turn) && program.ChatIsGone(req.Dir, req.Resume) {
			notice(chatGone)
		}
		req.Prompt = at.words.Prompt(prompt.Compose(remarks, w.contextOf(ctx, t, s, at, remarks, notice), turn.Prompt))
		req.Ready = watch.Ready()
		began := false    // an event has come that only cursor-agent would send
		answered := false // … and one that came from a model
		req.Heard = watch.Heard()
		out = w.d.drivers.For(turn).Run(ctx, req, func(events []agent.Event) {
			left := len(events)
			began = began || agentcalls.Speak(events)
			if !answered && agentcalls.Answer(events) {
				answered = true
				w.d.agent.Answered(found.Path, build.Known())
			}
			for part := range agentcalls.Parts(events) {
				left -= len(part)
				w.sendCalls(t, watch, at.words, part, left == 0)
			}
		})
		if why := found.Foreign(build.Settled()); why != "" && out.Failure != nil && !began {
			out.Failure.Hint = why + "; " + program.HintNamed
		}
		if watch.Acted() && !drivers.OutlivesTurn(turn) {
			if text := survivors.About(w.survivors.Left(turn.ID)); text != "" {
				notice(text)
			}
		}
		watch.End()
		w.d.agent.Keep()
		left = at.words.Flush(nil)
		at.words.Outcome(&out)
		at.end()
	}
	w.sendEvents(turnEvents{turn: t, events: left, outcome: &out})
}

// sendCalls passes events to the loop, and tells the reviewer what their calls did on disk; last says that they end a batch.
func (w *workspace) sendCalls(t *liveTurn, watch *review.Turn, words *translate.Words, events []agent.Event, last bool) {
	files := watch.See(events)
	if last {
		watch.Heard().Taken()
	}
	translated := words.Events(events)
	if len(files) == 0 && !watch.Curious() {
		w.sendEvents(turnEvents{turn: t, events: translated})
		watch.CheckDisk()
		return
	}
	items := make(chan review.Items, 1)
	w.sendEvents(turnEvents{turn: t, events: translated, items: items})
	select {
	case named := <-items:
		watch.Report(files, named)
		watch.CheckDisk()
	case <-w.done:
	}
}
