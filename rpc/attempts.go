package rpc

import (
	"context"

	"cursord/daemon/api"
	"cursord/sessions"
)

// This file is the part of the face that is about attempts: the methods attempt/….

// AttemptListParams are the parameters of attempt/list.
type AttemptListParams struct {
	Workspace string `json:"workspace"`
	Group     string `json:"group,omitempty"`
}

// AttemptList is the result of attempt/list.
type AttemptList struct {
	Groups []api.AttemptGroup `json:"groups"`
}

// AttemptCheckResult is the result of attempt/check.
type AttemptCheckResult struct {
	Turn *sessions.Turn `json:"turn"`
}

// AttemptDropParams are the parameters of attempt/drop.
type AttemptDropParams struct {
	Workspace string   `json:"workspace"`
	Group     string   `json:"group"`
	Keep      []string `json:"keep,omitempty"`
}

// AttemptDropResult is the result of attempt/drop.
type AttemptDropResult struct {
	Dropped []string `json:"dropped"`
}

func (f *face) listAttempts(ctx context.Context, p *AttemptListParams) (AttemptList, error) {
	groups, err := f.d.Attempts(ctx, p.Workspace, p.Group)
	return AttemptList{nonNil(groups)}, err
}

func (f *face) checkAttempt(_ context.Context, p *SessionParams) (AttemptCheckResult, error) {
	turn, err := f.d.CheckAttempt(p.SessionID, f.environment())
	return AttemptCheckResult{turn}, err
}

func (f *face) dropAttempts(ctx context.Context, p *AttemptDropParams) (AttemptDropResult, error) {
	dropped, err := f.d.DropAttempts(ctx, f.client, p.Workspace, p.Group, p.Keep)
	return AttemptDropResult{nonNil(dropped)}, err
}
