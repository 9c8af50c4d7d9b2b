package daemon

import (
	"context"
	"errors"
	"slices"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/agent/hooks"
	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/sessions"
)

// noAgent is the answer where no agent was found.
func noAgent(err error) *api.Error {
	e := &api.Error{Kind: api.KindAgentNotInstalled, Message: err.Error(), Hint: program.InstallHint}
	if n := (*program.NotFound)(nil); errors.As(err, &n) {
		if e.Hint = n.Hint(); n.Silent != "" {
			e.Kind = api.KindAgentFailed
		}
	}
	return e
}

// missingState is what an AgentStatus says where no agent was found.
func missingState(err error) string {
	if noAgent(err).Kind == api.KindAgentNotInstalled {
		return "notInstalled"
	}
	return "unknown"
}

// noRun is the end of a turn for which no agent was found.
func noRun(err error) agent.Outcome {
	e := noAgent(err)
	failed := &failure.Error{Kind: string(e.Kind), Message: e.Message, Hint: e.Hint}
	if e.Kind != api.KindAgentNotInstalled {
		failed.Kind = failure.KindHung
	}
	return agent.Outcome{Status: agent.Failed, Failure: failed}
}

// findAgent returns the agent's program, and who found it. It may ask programs called agent whose they are.
func (d *Daemon) findAgent(ctx context.Context) (program.Found, string, error) {
	return d.lookBy(func(at program.Place) (program.Found, error) { return d.finder.Find(ctx, at) })
}

// AgentPath returns the program that turns would start now, "" if there is none. It runs nothing.
func (d *Daemon) AgentPath() string {
	found, _, err := d.look()
	if err != nil {
		return ""
	}
	return found.Path
}

// AgentState is what initialize says of the agent: the last known state, without running anything.
func (d *Daemon) AgentState() api.AgentStatus {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.agentState
}

// AgentStatus asks the agent for its version and account, in the environment env, nil being the daemon's own. With a
// workspace it also tells the hooks of agents there.
func (d *Daemon) AgentStatus(ctx context.Context, workspace string, a api.Asker, env []string) (api.AgentStatus, error) {
	var found []api.AgentHook
	if workspace != "" {
		root, err := resolveRoot(workspace)
		if err != nil {
			return api.AgentStatus{}, err
		}
		found = agentHooks(d.hooks.Find(root))
	}
	d.Asked(a)
	s := d.askAgent(ctx, env)
	if ctx.Err() != nil {
		return s, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
	}
	d.mu.Lock()
	d.agentState = s
	d.mu.Unlock()
	s.Hooks = found
	if d.WantsEnvironment() {
		s.AgentEnv = config.EnvClient
	}
	return s, nil
}

// agentHooks returns hooks as agent/status gives them.
func agentHooks(set hooks.Set) (list []api.AgentHook) {
	for _, h := range set.Hooks {
		list = append(list, api.AgentHook{File: h.File, Event: h.Event, Command: h.Command, AfterEdit: h.AfterEdit})
	}
	for _, u := range set.Unreadable {
		list = append(list, api.AgentHook{File: u.File, Problem: u.Err.Error()})
	}
	return list
}

// askAgent asks the agent for all that a status says of it.
func (d *Daemon) askAgent(ctx context.Context, env []string) api.AgentStatus {
	s := api.AgentStatus{State: "unknown", Drivers: []string{driverPrint}, Changed: d.builds.changed()}
	found, by, err := d.findAgent(ctx)
	s.NotTaken = notTaken(found.NotTaken)
	if err != nil {
		s.State, s.Message = missingState(err), err.Error()+"; "+noAgent(err).Hint
		return s
	}
	s.Path, s.FoundBy = found.Path, by
	if s.Version, err = d.finder.Version(ctx, found.Path); err != nil {
		s.Message = err.Error()
		return s
	}
	s.Options = d.options(s.Version)
	l := d.logins.ask(ctx, program.Program{Path: found.Path, Env: env}, s.Version)
	s.State, s.Account, s.Message = l.state, l.account, l.message
	if why := found.Foreign(s.Version); why != "" && l.state != "ready" {
		s.State, s.Message = "unknown", why+"; "+program.HintNamed // what another program says of a login means nothing
	}
	return s
}

// driverPrint is the way of driving the agent by one process a turn.
const driverPrint = "print"

// options returns the members of turn/start for which the agent needs an option, but for those that a build is known to lack.
func (d *Daemon) options(version string) []string {
	lacks := d.builds.remembered.Lacks(version)
	var list []string
	for _, o := range []struct{ member, option string }{
		{"sandbox", "--sandbox"}, {"autoReview", "--auto-review"}, {"addDirs", "--add-dir"},
	} {
		if !slices.Contains(lacks, o.option) {
			list = append(list, o.member)
		}
	}
	return list
}

// AgentModels asks the agent which models it offers, in the environment env, nil being the daemon's own.
func (d *Daemon) AgentModels(ctx context.Context, a api.Asker, env []string) ([]api.Model, error) {
	d.Asked(a)
	found, _, err := d.findAgent(ctx)
	if err != nil {
		return nil, noAgent(err)
	}
	version, _ := d.finder.Known(found.Path)
	list, err := d.logins.models(ctx, program.Program{Path: found.Path, Env: env}, version)
	if ctx.Err() != nil {
		return nil, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
	}
	if failed := (*failure.Error)(nil); errors.As(err, &failed) {
		kind := api.KindAgentFailed
		if failed.Kind == string(api.KindAgentNotLoggedIn) {
			kind = api.KindAgentNotLoggedIn
		}
		return nil, &api.Error{Kind: kind, Message: "the agent could not list its models: " + failed.Message, Hint: failed.Hint}
	}
	if err != nil {
		return nil, api.Errorf(api.KindAgentFailed, "the agent could not list its models: %v", err)
	}
	models := make([]api.Model, 0, len(list))
	for _, m := range list {
		models = append(models, api.Model{ID: m.ID, Name: m.Name, Current: m.Current})
	}
	return models, nil
}

// agentFailed keeps what a failed turn taught about the agent.
func (d *Daemon) agentFailed(e *sessions.TurnError) {
	if e == nil || e.Kind != string(api.KindAgentNotLoggedIn) {
		return
	}
	d.logins.expire()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.agentState.State, d.agentState.Message = "notLoggedIn", e.Message
}

// AgentChats lists the chats that cursor-agent keeps of a workspace, the latest first, with the sessions that have
// adopted them. Where the agent keeps its chats in another way there are none.
func (d *Daemon) AgentChats(root string) ([]api.Chat, error) {
	root, err := resolveRoot(root)
	if err != nil {
		return nil, err
	}
	kept, err := program.Chats(root)
	if err != nil {
		return nil, &api.Error{
			Kind: api.KindAgentFailed, Message: "the agent's chats cannot be read: " + err.Error(), Hint: "CURSOR_CONFIG_DIR says where they are, else ~/.cursor",
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
