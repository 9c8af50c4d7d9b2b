package daemon

import (
	"cmp"
	"context"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/attempts"
	"cursord/sessions"
)

// This file is about attempts: sessions that were begun with the same prompt, and turns that check them by a command.

// checkAfter returns the command that checks an attempt after a turn of it that ends now; "" if there is none.
func (w *workspace) checkAfter(t *liveTurn, turn *sessions.Turn) string {
	if t.session.session.Attempt == nil || turn.Check || turn.Status != sessions.TurnCompleted || turn.Mode != sessions.ModeAgent ||
		t.session.turns > 0 || w.stopping || w.d.stops() {
		return ""
	}
	return w.d.settings().AttemptCheck
}

// newCheck makes a turn that runs a command in the tree of a session, after a turn of its agent. It may do no more than that one.
func newCheck(ls *liveSession, after *sessions.Turn, command string, env []string) *liveTurn {
	turn := &sessions.Turn{
		ID: newID(), SessionID: ls.session.ID, Workspace: ls.session.Workspace, Prompt: command, Mode: sessions.ModeAgent, Check: true,
		Sandbox: after.Sandbox, Status: sessions.TurnQueued, CreatedAt: sessions.Now(),
	}
	return &liveTurn{session: ls, turn: turn, env: env, openCalls: map[string][]openCall{}}
}

// check runs the command of a turn that is a check, as drive runs an agent.
func (w *workspace) check(ctx context.Context, t *liveTurn, s *sessions.Session, req agent.Request) {
	notice := func(text string) {
		w.sendEvents(turnEvents{turn: t, events: []agent.Event{agent.Notice{Text: text}}})
	}
	turn := t.turn
	var out agent.Outcome
	if at, err := w.site(ctx, s, turn.ID, t.alias, notice); err != nil {
		out = apart.Without(ctx, err)
	} else {
		watch := w.review.Watch(turn, at.tree, notice)
		req.Dir, req.Enter, req.Prompt, req.Ready = at.tree.Root(), at.tree.Enter(), turn.Prompt, watch.Ready()
		req.Base, _ = w.d.environmentOf(t.env)
		req.ToolTimeout = w.d.settings().AttemptCheckTime
		out = w.d.drivers.For(turn).Run(ctx, req, func(events []agent.Event) { w.sendCalls(t, watch, at.words, events, true) })
		watch.End()
		at.words.Outcome(&out)
		at.end()
	}
	w.sendEvents(turnEvents{turn: t, outcome: &out})
}

// CheckAttempt queues a check of an attempt, by the command of the settings, and replies with its turn.
func (d *Daemon) CheckAttempt(id string, env []string) (turn *sessions.Turn, err error) {
	w, err := d.workspaceOfSession(id)
	if err != nil {
		return nil, err
	}
	defer w.release()
	command := d.settings().AttemptCheck
	turn, err = stored(w, func(c *commit) (*sessions.Turn, error) {
		ls, err := w.liveSession(id)
		switch {
		case err != nil:
			return nil, err
		case ls.session.Attempt == nil:
			return nil, api.Invalid("sessionId", "session %s is no attempt", id)
		case command == "":
			e := api.Errorf(api.KindInvalid, "no command is set to check attempts with")
			e.Hint = `set one, for example: cursord config set attempt_check "make test"`
			return nil, e
		case w.stopping || d.stops():
			return nil, api.ErrStopped
		case !w.trusted:
			return nil, api.Untrusted(w.root)
		case ls.rewinds:
			return nil, errRewinding
		}
		last, err := w.d.store.LastTurn(id)
		if err != nil {
			return nil, api.StoreError(err)
		}
		s, t := *ls.session, newCheck(ls, last, command, env)
		w.enqueue(c, t, &s)
		return t.turn, nil
	})
	if err == nil {
		w.do(w.schedule)
	}
	return turn, err
}

// Attempts lists the groups of attempts of a workspace, the latest first; with a group only that.
func (d *Daemon) Attempts(ctx context.Context, root, group string) ([]api.AttemptGroup, error) {
	w, err := d.workspace(root)
	if err != nil {
		return nil, err
	}
	defer w.release()
	w.awaitStored(ctx)
	diffs, err := w.review.Diffs(0, "", "")
	if err != nil {
		return nil, err
	}
	list, err := attempts.Groups(d.attemptStore(), w.root, group, diffs)
	return list, api.StoreError(err)
}

func (d *Daemon) attemptStore() attempts.Store {
	return attempts.Store{Sessions: d.store.Sessions, Turns: d.store.Turns, Item: d.store.Item}
}

// DropAttempts deletes the sessions of a group, except those to keep. It ends their turns, and waits for that. With an error, some may
// be deleted.
func (d *Daemon) DropAttempts(ctx context.Context, client api.ClientID, root, group string, keep []string) (dropped []string, err error) {
	root, err = d.knownRoot(root)
	if err != nil {
		return nil, err
	}
	list, err := attempts.Others(d.attemptStore(), root, group, keep)
	if err != nil {
		return nil, api.StoreError(err)
	}
	for _, s := range list {
		for left := d.activeTurns(root, s.ID); len(left) > 0; left = d.activeTurns(root, s.ID) { // a turn that ends may be followed by a check
			ended := make(chan error, 1)
			if _, err := d.CancelTurn(nil, left[0].ID); err != nil {
				return dropped, err
			}
			d.WaitTurn(ctx, client, left[0].ID, func(_ *sessions.Turn, err error) { ended <- err })
			if err := <-ended; err != nil {
				return dropped, err
			}
		}
		if err := cmp.Or(d.DeleteSession(s.ID), ctx.Err()); err != nil {
			return dropped, err
		}
		dropped = append(dropped, s.ID)
	}
	return dropped, nil
}
