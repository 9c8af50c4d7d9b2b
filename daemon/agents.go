package daemon

import (
	"context"

	"cursord/agent"
	"cursord/agent/hooks"
	"cursord/sessions"
)

// findAgent returns the agent's executable.
func (d *Daemon) findAgent() (string, error) {
	found, err := d.finder.Look(agent.OwnPlace(d.settings().Agent))
	if err != nil {
		return "", &Error{
			Kind: KindAgentNotInstalled, Message: err.Error(),
			Hint: "install it with: curl https://cursor.com/install -fsS | bash; or name it in CURSORD_AGENT",
		}
	}
	return found.Path, nil
}

// AgentState is what initialize says of the agent: the last known state, without running anything.
func (d *Daemon) AgentState() AgentStatus {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.agentState
}

// AgentStatus asks the agent for its version and account. With a workspace it also tells the hooks of agents there.
func (d *Daemon) AgentStatus(ctx context.Context, workspace string) (AgentStatus, error) {
	var found []AgentHook
	if workspace != "" {
		root, err := resolveRoot(workspace)
		if err != nil {
			return AgentStatus{}, err
		}
		found = agentHooks(d.hooks.Find(root))
	}
	s := d.askAgent(ctx)
	if ctx.Err() != nil {
		return s, &Error{Kind: KindCancelled, Message: "cancelled"}
	}
	d.mu.Lock()
	d.agentState = s
	d.mu.Unlock()
	s.Hooks = found
	return s, nil
}

// agentHooks returns hooks in the contract's form.
func agentHooks(set hooks.Set) (list []AgentHook) {
	for _, h := range set.Hooks {
		list = append(list, AgentHook{File: h.File, Event: h.Event, Command: h.Command, AfterEdit: h.AfterEdit})
	}
	for _, u := range set.Unreadable {
		list = append(list, AgentHook{File: u.File, Problem: u.Err.Error()})
	}
	return list
}

func (d *Daemon) askAgent(ctx context.Context) AgentStatus {
	bin, err := d.findAgent()
	if err != nil {
		return AgentStatus{State: "notInstalled", Message: err.Error()}
	}
	s := AgentStatus{State: "unknown", Path: bin}
	if s.Version, err = agent.Version(ctx, bin); err != nil {
		s.Message = err.Error()
		return s
	}
	account, err := agent.Status(ctx, bin)
	switch {
	case err != nil:
		s.Message = err.Error()
	case account.LoggedIn || account.APIKey:
		s.State, s.Account = "ready", account.Name
	default:
		s.State, s.Message = "notLoggedIn", "not logged in: run \"cursor-agent login\", or set CURSOR_API_KEY"
	}
	return s
}

// AgentModels asks the agent which models it offers.
func (d *Daemon) AgentModels(ctx context.Context) ([]Model, error) {
	bin, err := d.findAgent()
	if err != nil {
		return nil, err
	}
	list, err := agent.Models(ctx, bin)
	if ctx.Err() != nil {
		return nil, &Error{Kind: KindCancelled, Message: "cancelled"}
	}
	if err != nil {
		return nil, errorf(KindAgentFailed, "the agent could not list its models: %v", err)
	}
	models := make([]Model, 0, len(list))
	for _, m := range list {
		models = append(models, Model{ID: m.ID, Name: m.Name, Current: m.Current})
	}
	return models, nil
}

// agentFailed keeps what a failed turn taught about the agent.
func (d *Daemon) agentFailed(e *sessions.TurnError) {
	if e == nil || e.Kind != string(KindAgentNotLoggedIn) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.agentState.State, d.agentState.Message = "notLoggedIn", e.Message
}

// AgentChats lists the chats that cursor-agent keeps of a workspace, the latest first, with the sessions that have
// adopted them. Where the agent keeps its chats in another way there are none.
func (d *Daemon) AgentChats(root string) ([]Chat, error) {
	root, err := resolveRoot(root)
	if err != nil {
		return nil, err
	}
	kept, err := agent.Chats(root)
	if err != nil {
		return nil, &Error{
			Kind: KindAgentFailed, Message: "the agent's chats cannot be read: " + err.Error(), Hint: "CURSOR_CONFIG_DIR says where they are, else ~/.cursor",
		}
	}
	adopted := map[string][]string{}
	for cursor := ""; ; {
		page, next, err := d.store.Sessions(root, cursor, listMax)
		if err != nil {
			return nil, storeError(err)
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
	var chats []Chat
	for _, c := range kept {
		chats = append(chats, Chat{ID: c.ID, Title: c.Title, UpdatedAt: sessions.Time{Time: c.Updated.UTC()}, Sessions: adopted[c.ID]})
	}
	return chats, nil
}
