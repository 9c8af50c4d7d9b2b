package rpc

import (
	"context"
	"strings"
	"unicode/utf8"

	"cursord/daemon"
	"cursord/sessions"
)

func (f *face) createSession(_ context.Context, p *SessionCreateParams) (SessionResult, error) {
	mode, err := modeOf(p.Mode)
	if err != nil {
		return SessionResult{}, err
	}
	if p.Isolation != "" && p.Isolation != "none" && p.Isolation != "copy" {
		return SessionResult{}, invalid("isolation", "must be none or copy")
	}
	session, err := f.d.CreateSession(p.Workspace, daemon.SessionParams{
		Title: p.Title, Model: p.Model, Mode: mode, Isolation: p.Isolation, AgentSessionID: p.AgentSessionID,
	})
	return SessionResult{session}, err
}

func (f *face) listSessions(_ context.Context, p *SessionListParams) (SessionList, error) {
	if p.Limit < 0 {
		return SessionList{}, invalid("limit", "must not be negative")
	}
	list, next, err := f.d.ListSessions(p.Workspace, p.Limit, p.Cursor)
	return SessionList{nonNil(list), next}, err
}

func (f *face) readSession(_ context.Context, p *SessionReadParams) (daemon.Transcript, error) {
	if p.Limit < 0 {
		return daemon.Transcript{}, invalid("limit", "must not be negative")
	}
	t, err := f.d.ReadSession(p.SessionID, p.Before, p.Limit)
	t.Turns, t.Items = nonNil(t.Turns), nonNil(t.Items)
	return t, err
}

func (f *face) updateSession(_ context.Context, p *SessionUpdateParams) (SessionResult, error) {
	mode, err := modeOf(p.Mode)
	if err != nil {
		return SessionResult{}, err
	}
	session, err := f.d.UpdateSession(p.SessionID, daemon.SessionParams{Title: p.Title, Model: p.Model, Mode: mode})
	return SessionResult{session}, err
}

func (f *face) deleteSession(_ context.Context, p *SessionParams) (Done, error) {
	return Done{}, f.d.DeleteSession(p.SessionID)
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
	f.d.StartTurn(params, func(session *sessions.Session, turn *sessions.Turn, err error) {
		reply(TurnStartResult{session, turn}, err)
	})
}

// core checks the parameters of turn/start and translates them.
func (p *TurnStartParams) core() (daemon.TurnParams, error) {
	switch {
	case len(p.Prompt) > MaxPrompt:
		return daemon.TurnParams{}, &daemon.Error{
			Kind: daemon.KindTooLarge, Field: "prompt", Message: "prompt: over the limit of 8 MiB (8388608 bytes)",
		}
	case strings.TrimSpace(p.Prompt) == "":
		return daemon.TurnParams{}, invalid("prompt", "must not be empty")
	case strings.IndexByte(p.Prompt, 0) >= 0:
		return daemon.TurnParams{}, invalid("prompt", "must not hold a NUL character")
	case utf8.RuneCountInString(p.TurnID) > maxTurnID:
		return daemon.TurnParams{}, invalid("turnId", "must not be longer than 64 characters")
	}
	mode, err := modeOf(p.Mode)
	if err != nil {
		return daemon.TurnParams{}, err
	}
	contexts, err := coreContexts(p.Context)
	if err != nil {
		return daemon.TurnParams{}, err
	}
	return daemon.TurnParams{
		Workspace: p.Workspace, SessionID: p.SessionID, TurnID: p.TurnID, Prompt: p.Prompt,
		Context: contexts, Model: p.Model, Mode: mode, Force: p.Force,
	}, nil
}

// modeOf returns nil for an absent mode.
func modeOf(s string) (*sessions.Mode, error) {
	mode := sessions.Mode(s)
	switch mode {
	case "":
		return nil, nil
	case sessions.ModeAgent, sessions.ModeAsk, sessions.ModePlan:
		return &mode, nil
	default:
		return nil, invalid("mode", "must be agent, ask or plan")
	}
}

func (f *face) waitTurn(ctx context.Context, p *TurnParams, reply func(TurnResult, error)) {
	f.d.WaitTurn(ctx, p.TurnID, func(turn *sessions.Turn, err error) {
		reply(TurnResult{turn}, err)
	})
}

func (f *face) cancelTurn(_ context.Context, p *TurnParams) (TurnResult, error) {
	turn, err := f.d.CancelTurn(p.TurnID)
	return TurnResult{turn}, err
}

func (f *face) agentStatus(ctx context.Context, _ *None) (daemon.AgentStatus, error) {
	return f.d.AgentStatus(ctx)
}

func (f *face) agentModels(ctx context.Context, _ *None) (ModelList, error) {
	models, err := f.d.AgentModels(ctx)
	return ModelList{nonNil(models)}, err
}

func (f *face) status(context.Context, *None) (daemon.Status, error) { return f.d.Status(), nil }

func (f *face) stop(_ context.Context, p *StopParams) (Done, error) { return Done{}, f.d.Stop(p.Force) }

// nonNil makes a nil list an empty one, which is [] and not null on the wire.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
