package rpc

import (
	"context"
	"encoding/json"
	"time"

	"cursord/agent/jsontext"
	"cursord/daemon/api"
	"cursord/daemon/endpoint"
	"cursord/sessions"
)

func (f *face) createSession(_ context.Context, p *SessionCreateParams) (SessionResult, error) {
	isolation, driver, err := placeOf(p.Isolation, p.Driver)
	if err != nil {
		return SessionResult{}, err
	}
	if isolation, driver, err = f.d.PlaceFor(f.agent(), isolation, driver); err != nil {
		return SessionResult{}, err
	}
	session, err := f.d.CreateSession(p.Workspace, api.SessionParams{
		Title: p.Title, Model: p.Model, Mode: p.Mode, Isolation: isolation, Driver: driver, AgentSessionID: p.AgentSessionID,
		Permits: api.Permits{Sandbox: p.Sandbox, AutoReview: p.AutoReview, AddDirs: p.AddDirs},
	})
	return SessionResult{session}, err
}

// listSessions returns a SessionList with the sessions in their stored JSON: decoding and encoding them would be most of the
// work.
func (f *face) listSessions(_ context.Context, p *SessionListParams) (json.RawMessage, error) {
	if p.Limit < 0 {
		return nil, invalid("limit", "must not be negative")
	}
	list, next, err := f.d.ListSessions(p.Workspace, p.Limit, p.Cursor)
	if err != nil {
		return nil, err
	}
	b := []byte(`{"sessions":[`)
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, s...)
	}
	b = append(b, ']')
	if next != "" {
		b = jsontext.AppendQuoted(append(b, `,"nextCursor":`...), next)
	}
	return append(b, '}'), nil
}

func (f *face) listTurns(_ context.Context, p *TurnListParams) (TurnList, error) {
	if p.Limit < 0 {
		return TurnList{}, invalid("limit", "must not be negative")
	}
	list, err := f.d.ListTurns(p.Workspace, p.SessionID, p.Active, p.Limit, p.Cursor)
	return TurnList{nonNil(list.Turns), list.Next}, err
}

func (f *face) readSession(_ context.Context, p *SessionReadParams) (api.Transcript, error) {
	if p.Limit < 0 {
		return api.Transcript{}, invalid("limit", "must not be negative")
	}
	t, err := f.d.ReadSession(p.SessionID, p.Before, p.Limit)
	t.Turns, t.Items = nonNil(t.Turns), nonNil(t.Items)
	return t, err
}

func (f *face) updateSession(_ context.Context, p *SessionUpdateParams) (SessionResult, error) {
	isolation, driver, err := placeOf(p.Isolation, p.Driver)
	if err != nil {
		return SessionResult{}, err
	}
	session, err := f.d.UpdateSession(p.SessionID, api.SessionParams{
		Title: p.Title, Model: p.Model, Mode: p.Mode, Isolation: isolation, Driver: driver,
		Permits: api.Permits{Sandbox: p.Sandbox, AutoReview: p.AutoReview, AddDirs: p.AddDirs},
	})
	return SessionResult{session}, err
}

func (f *face) forkSession(ctx context.Context, p *SessionForkParams) (SessionResult, error) {
	isolation, _, err := placeOf(p.Isolation, nil)
	if err != nil {
		return SessionResult{}, err
	}
	if isolation, _, err = f.d.PlaceFor(f.agent(), isolation, ""); err != nil {
		return SessionResult{}, err
	}
	session, err := f.d.ForkSession(ctx, api.ForkParams{SessionID: p.SessionID, TurnID: p.TurnID, Title: p.Title, Isolation: isolation})
	return SessionResult{session}, err
}

func (f *face) search(ctx context.Context, p *SearchParams) (SearchResult, error) {
	if p.Limit < 0 {
		return SearchResult{}, invalid("limit", "must not be negative")
	}
	found, next, err := f.d.Search(ctx, p.Workspace, p.Query, p.Cursor, p.Limit)
	return SearchResult{nonNil(found), next}, err
}

func (f *face) rewindSession(ctx context.Context, p *SessionRewindParams, reply func(api.Rewound, error)) {
	params := api.RewindParams{
		Client: f.client, SessionID: p.SessionID, TurnID: p.TurnID, LastTurnID: p.LastTurnID, Files: p.Files == nil || *p.Files, DryRun: p.DryRun,
	}
	go f.d.Rewind(ctx, params, reply) // its beginning already waits for the disk
}

func (f *face) deleteSession(_ context.Context, p *SessionParams) (Done, error) {
	return Done{}, f.d.DeleteSession(p.SessionID)
}

func (f *face) exportSession(_ context.Context, p *SessionExportParams) (api.SessionExport, error) {
	return f.d.ExportSession(p.SessionID, p.Cursor)
}

func (f *face) sessionCommits(ctx context.Context, p *SessionCommitsParams) (api.Commits, error) {
	return f.d.Commits(ctx, p.SessionID, p.Commits, p.Patch)
}

func (f *face) importSession(ctx context.Context, p *SessionImportParams) (SessionResult, error) {
	session, err := f.d.ImportSession(ctx, p.Path, p.Workspace, p.NewIDs)
	return SessionResult{session}, err
}

func (f *face) readItem(_ context.Context, p *ItemReadParams) (ItemResult, error) {
	item, err := f.d.ReadItem(p.ItemID)
	return ItemResult{item}, err
}

func (f *face) startTurn(_ context.Context, p *TurnStartParams, reply func(TurnStartResult, error)) {
	params, err := p.core()
	if err != nil {
		reply(TurnStartResult{}, err)
		return
	}
	params.Caller, params.Env, params.Client = f.agent(), f.environment(), f.client
	var rewound *api.Rewound
	params.TookBack = func(out api.Rewound) { rewound = &out }
	f.d.StartTurn(params, func(session *sessions.Session, turn *sessions.Turn, err error) {
		reply(TurnStartResult{session, turn, rewound}, err)
	})
}

// core translates the parameters of turn/start.
func (p *TurnStartParams) core() (api.TurnParams, error) {
	contexts, err := coreContexts(p.Context)
	if err != nil {
		return api.TurnParams{}, err
	}
	isolation, driver, err := placeOf(p.Isolation, p.Driver)
	return api.TurnParams{
		Workspace: p.Workspace, SessionID: p.SessionID, TurnID: p.TurnID, Prompt: p.Prompt,
		Context: contexts, Model: p.Model, Mode: p.Mode, Isolation: isolation, Driver: driver, Force: p.Force, Approvals: p.Approvals, Recap: p.Recap, Attempt: p.Attempt, Rewind: p.Rewind,
		Permits: api.Permits{Sandbox: p.Sandbox, AutoReview: p.AutoReview, AddDirs: p.AddDirs},
	}, err
}

// placeOf returns the isolation and the driver in parameters; "" for one that is absent. An empty one is refused.
func placeOf(isolation, driver *string) (in, by string, err error) {
	switch {
	case isolation != nil && *isolation == "":
		return "", "", invalid("isolation", `must be "none" or "copy"`)
	case driver != nil && *driver == "":
		return "", "", invalid("driver", `must be "print" or "acp"`)
	}
	if isolation != nil {
		in = *isolation
	}
	if driver != nil {
		by = *driver
	}
	return in, by, nil
}

func (f *face) waitTurn(ctx context.Context, p *TurnParams, reply func(TurnResult, error)) {
	f.d.WaitTurn(ctx, f.client, p.TurnID, func(turn *sessions.Turn, err error) {
		reply(TurnResult{turn}, err)
	})
}

func (f *face) steerTurn(_ context.Context, p *TurnSteerParams, reply func(TurnSteerResult, error)) {
	f.d.SteerTurn(p.TurnID, p.Text, f.environment(), func(turn *sessions.Turn, queued string, err error) {
		reply(TurnSteerResult{turn, queued}, err)
	})
}

func (f *face) cancelTurn(_ context.Context, p *TurnParams) (TurnResult, error) {
	turn, err := f.d.CancelTurn(f.agent(), p.TurnID)
	return TurnResult{turn}, err
}

func (f *face) agentStatus(ctx context.Context, p *AgentStatusParams) (api.AgentStatus, error) {
	status, err := f.d.AgentStatus(ctx, p.Workspace, f.environment())
	if err == nil && p.Compare != nil {
		status.Environment, err = f.d.CompareEnvironment(*p.Compare)
	}
	return status, err
}

func (f *face) agentModels(ctx context.Context, _ *None) (ModelList, error) {
	models, err := f.d.AgentModels(ctx, f.environment())
	return ModelList{nonNil(models)}, err
}

func (f *face) agentChats(_ context.Context, p *WorkspaceParams) (ChatList, error) {
	chats, err := f.d.AgentChats(p.Workspace)
	return ChatList{nonNil(chats)}, err
}

func (f *face) status(context.Context, *None) (api.Status, error) { return f.d.Status(), nil }

func (f *face) join(_ context.Context, p *JoinParams) (api.Joined, error) {
	build := endpoint.Build{Version: p.Version, Written: time.Unix(0, p.Written)}
	if err := f.mayReplace(build, p.Program); err != nil {
		return api.Joined{}, err
	}
	joined := f.d.Join(build, p.Program)
	if joined.Replaced != "now" {
		f.findAgent(p.Environment)
	}
	joined.AgentEnv, joined.Agent = f.wantsEnvironment(), f.d.AgentPath()
	return joined, nil
}

func (f *face) stop(_ context.Context, p *StopParams) (Done, error) { return Done{}, f.d.Stop(p.Force) }

func (f *face) gc(ctx context.Context, p *GCParams) (api.Collected, error) {
	return f.d.GC(ctx, p.DryRun)
}

func (f *face) backup(ctx context.Context, p *BackupParams) (BackupResult, error) {
	size, err := f.d.Backup(ctx, p.Path, p.Replace)
	return BackupResult{p.Path, size}, err
}

func (f *face) forgetDamaged(context.Context, *None) (ForgetDamagedResult, error) {
	n, err := f.d.ForgetDamaged()
	return ForgetDamagedResult{n}, err
}

func (f *face) reload(context.Context, *None) (api.Reloaded, error) { return f.d.Reload() }

// nonNil returns an empty list for nil, so that the wire has [] and not null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
