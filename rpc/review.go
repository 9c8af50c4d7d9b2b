package rpc

import (
	"context"

	"cursord/daemon/api"
)

func (f *face) diffs(_ context.Context, p *DiffParams) (DiffList, error) {
	list, err := f.d.Diffs(f.client, p.Workspace, p.Path, p.TurnID)
	return DiffList{nonNil(list)}, err
}

func (f *face) unified(_ context.Context, p *DiffParams) (UnifiedResult, error) {
	patch, err := f.d.Unified(p.Workspace, p.Path, p.TurnID)
	return UnifiedResult{patch}, err
}

func (f *face) accept(ctx context.Context, p *DecideParams, reply func(api.Decided, error)) {
	f.decide(ctx, p, true, reply)
}

func (f *face) reject(ctx context.Context, p *DecideParams, reply func(api.Decided, error)) {
	f.decide(ctx, p, false, reply)
}

func (f *face) decide(ctx context.Context, p *DecideParams, accept bool, reply func(api.Decided, error)) {
	decision, err := p.core(accept)
	if err != nil {
		reply(api.Decided{}, err)
		return
	}
	decision.Client = f.client
	f.d.Decide(ctx, p.Workspace, decision, func(decided api.Decided, err error) {
		decided.Diffs = nonNil(decided.Diffs)
		reply(decided, err)
	})
}

// core checks the parameters of diff/accept and diff/reject and translates them.
func (p *DecideParams) core(accept bool) (api.Decision, error) {
	out := api.Decision{
		Accept: accept, Path: p.Path, TurnID: p.TurnID, All: p.All, Rev: p.Rev, Lines: p.Lines, Comment: p.Comment, Both: p.Both,
	}
	given := 0
	for _, set := range []bool{p.Hunks != nil, p.Path != "", p.TurnID != "", p.All} {
		if set {
			given++
		}
	}
	if given != 1 {
		return out, invalid("hunks", "exactly one of hunks, path, turnId and all selects what to decide")
	}
	if p.Hunks != nil {
		if out.Hunks = *p.Hunks; len(out.Hunks) == 0 {
			return out, invalid("hunks", "must not be empty")
		}
	}
	if p.Both && (!accept || p.Hunks == nil) {
		return out, invalid("both", "goes with hunks that are accepted")
	}
	if p.Lines != nil {
		switch {
		case len(out.Hunks) != 1:
			return out, invalid("lines", "goes with a single hunk")
		case p.Lines.From < 0 || p.Lines.To <= p.Lines.From:
			return out, invalid("lines", "from counts from 0, and to is behind it")
		}
	}
	if p.Rev != nil && out.Hunks == nil && p.Path == "" {
		return out, invalid("rev", "goes with hunks or path")
	}
	return out, nil
}

func (f *face) undo(ctx context.Context, p *UndoParams, reply func(UndoResult, error)) {
	f.d.Undo(ctx, f.client, p.Workspace, p.Decision, stepped(reply))
}

func (f *face) redo(ctx context.Context, p *WorkspaceParams, reply func(UndoResult, error)) {
	f.d.Redo(ctx, f.client, p.Workspace, stepped(reply))
}

func (f *face) merge(ctx context.Context, p *MergeParams, reply func(UndoResult, error)) {
	if p.Path == "" {
		reply(UndoResult{}, invalid("path", "must not be empty"))
		return
	}
	f.d.Merge(ctx, f.client, p.Workspace, p.Path, stepped(reply))
}

func stepped(reply func(UndoResult, error)) func(api.Decided, error) {
	return func(decided api.Decided, err error) {
		reply(UndoResult{nonNil(decided.Diffs), decided.Edits}, err)
	}
}

func (f *face) dismiss(_ context.Context, p *DismissParams) (Dismissed, error) {
	path := ""
	switch {
	case (p.Path != nil) == p.All:
		return Dismissed{}, invalid("path", "exactly one of path and all selects")
	case p.Path != nil:
		if path = *p.Path; path == "" {
			return Dismissed{}, invalid("path", "must not be empty")
		}
	}
	n, err := f.d.Dismiss(p.Workspace, path)
	return Dismissed{n}, err
}

func (f *face) comment(_ context.Context, p *CommentParams) (Done, error) {
	return Done{}, f.d.Comment(p.Workspace, p.Hunk, p.Text)
}
