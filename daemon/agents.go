package daemon

import (
	"context"
	"fmt"
	"log/slog"

	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/copytree"
	"cursord/daemon/internal/params"
	"cursord/daemon/whichagent"
	"cursord/sessions"
)

// Asked takes what a client says about its environment. If the daemon has no working agent, it reads its configuration again
// and looks again: there, and where the client would find an agent. It runs nothing.
func (d *Daemon) Asked(a api.Asker) { d.agent.Asked(a) }

// AgentPath returns the program that turns would start now, or "". It runs nothing.
func (d *Daemon) AgentPath() string { return d.agent.Path() }

// AgentState returns what initialize says about the agent: the last known state. It runs nothing.
func (d *Daemon) AgentState() api.AgentStatus { return d.agent.State() }

// AgentStatus asks the agent for its version and account, in the environment env (nil: the daemon's own). With a workspace
// it also returns the hooks of agents there.
func (d *Daemon) AgentStatus(ctx context.Context, workspace string, env []string) (api.AgentStatus, error) {
	var found []api.AgentHook
	if workspace != "" {
		root, err := params.Root(workspace)
		if err != nil {
			return api.AgentStatus{}, err
		}
		found = whichagent.Hooks(d.hooks.Find(root))
	}
	s, err := d.agent.Status(ctx, env)
	if err != nil {
		return s, err
	}
	s.Hooks, s.Isolation = found, &api.IsolationTrees{Kind: copytree.KindOverlay}
	if why := d.overlays.Refusal(ctx); why != nil {
		s.Isolation.Kind, s.Isolation.Reason = copytree.KindCopy, why.Error()
	}
	if d.WantsEnvironment() {
		s.AgentEnv = config.EnvClient
	}
	return s, nil
}

// AgentModels asks the agent which models it offers, in the environment env (nil: the daemon's own). The current model is
// the one for turns that name none.
func (d *Daemon) AgentModels(ctx context.Context, env []string) ([]api.Model, error) {
	models, err := d.agent.Models(ctx, env)
	if chosen := d.settings().Model; chosen != "" {
		for i := range models {
			models[i].Current = models[i].ID == chosen
		}
	}
	return models, err
}

// AgentChats lists the chats that cursor-agent keeps of a workspace, the latest first, with the sessions that have adopted
// them. It lists none if the agent keeps its chats in an unknown way.
func (d *Daemon) AgentChats(root string) ([]api.Chat, error) {
	root, err := params.Root(root)
	if err != nil {
		return nil, err
	}
	kept, err := program.Chats(root)
	if err != nil {
		return nil, &api.Error{
			Kind: api.KindAgentFailed, Message: "cannot read the agent's chats: " + err.Error(), Hint: "they are in the folder that CURSOR_CONFIG_DIR names, or in ~/.cursor",
		}
	}
	adopted := map[string][]string{}
	for cursor := ""; ; {
		page, next, err := d.store.Sessions(root, cursor, listMax)
		if err != nil {
			return nil, api.StoreError(err)
		}
		for _, s := range page {
			if s.AgentSessionID != nil {
				adopted[*s.AgentSessionID] = append(adopted[*s.AgentSessionID], s.ID)
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	var chats []api.Chat
	for _, c := range kept {
		chats = append(chats, api.Chat{ID: c.ID, Title: c.Title, UpdatedAt: sessions.Time{Time: c.Updated.UTC()}, Sessions: adopted[c.ID]})
	}
	return chats, nil
}

// ranBuild notes which build runs a turn. If the session's turn before had another build, it adds a notice. The loop calls
// it; the turn's next change publishes it.
func (w *workspace) ranBuild(t *liveTurn, version string) {
	if version == "" || t.turn.AgentVersion == version {
		return
	}
	turn := *t.turn
	turn.AgentVersion = version
	t.turn = &turn
	before := t.session.build
	t.session.build = version
	if before == "" || before == version {
		return
	}
	change := &api.BuildChange{From: before, To: version, At: sessions.Now()}
	w.d.log.Debug("the agent's build has changed between two turns", "session", turn.SessionID, "from", before, "to", version)
	w.d.messages.Announce(w.root, slog.LevelDebug, fmt.Sprintf("cursor-agent is another build than in the turn before: %s, before %s (session %s)",
		version, before, turn.SessionID))
	w.d.agent.Changed(change)
}

// buildBefore returns the build of a session's latest turn.
func (w *workspace) buildBefore(session string) string {
	t, err := w.d.store.LastTurn(session)
	if err != nil {
		return ""
	}
	return t.AgentVersion
}

// learnBuild finds out the build of a turn's program, while the snapshot is taken. If the program does not say it, starting
// the program shows what is wrong.
func (w *workspace) learnBuild(ctx context.Context, t *liveTurn, bin string) *whichagent.Build {
	return w.d.agent.Build(ctx, bin, func(version string) { w.sendEvents(turnEvents{turn: t, build: version}) })
}

// keepNotices has the next turn of a session tell people notices, and no others that were kept. It waits for the session's loop.
func (d *Daemon) keepNotices(session string, notices []string) {
	d.inLoopOf(session, func(w *workspace) {
		var c commit
		if _, gone := w.session(session); gone == nil {
			w.remarks.Notify(&c.ops, session, notices)
			w.submit(&c)
		}
	})
}

// keptNotices returns what was kept for the next turn of a session.
func (d *Daemon) keptNotices(session string) (notices []string) {
	d.inLoopOf(session, func(w *workspace) { notices = w.remarks.Notices(session) })
	return notices
}

func (d *Daemon) inLoopOf(session string, f func(*workspace)) {
	if w, err := d.workspaceOfSession(session); err == nil {
		_ = w.call(func() { f(w) })
		w.release()
	}
}
