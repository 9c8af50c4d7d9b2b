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
	decision := api.Decision{
		Client: f.client, Accept: accept, Path: p.Path, TurnID: p.TurnID, All: p.All, Rev: p.Rev, Lines: p.Lines, Comment: p.Comment, Both: p.Both, Replace: p.Replace,
		AsEdits: p.AsEdits,
	}
	if p.Hunks != nil {
		decision.Hunks = *p.Hunks
	}
	f.d.Decide(ctx, p.Workspace, decision, func(decided api.Decided, err error) {
		decided.Diffs = nonNil(decided.Diffs)
		reply(decided, err)
	})
}

func (f *face) undo(ctx context.Context, p *UndoParams, reply func(UndoResult, error)) {
	if p.DryRun {
		f.d.WouldUndo(ctx, p.Workspace, stepped(reply))
		return
	}
	f.d.Undo(ctx, f.client, p.Workspace, p.Decision, p.AsEdits, stepped(reply))
}

func (f *face) redo(ctx context.Context, p *RedoParams, reply func(UndoResult, error)) {
	f.d.Redo(ctx, f.client, p.Workspace, p.Decision, p.AsEdits, stepped(reply))
}

func (f *face) why(ctx context.Context, p *WhyParams) (WhyResult, error) {
	from, to := 0, -1
	if l := p.Lines; l != nil {
		if from, to = l.From, l.To; from < 0 || to < from {
			return WhyResult{}, invalid("lines", "must be {from, to} with 0 <= from <= to")
		}
	}
	if p.Path == "" {
		return WhyResult{}, invalid("path", "must not be empty")
	}
	lines, forgotten, err := f.d.Why(ctx, p.Workspace, p.Path, from, to)
	return WhyResult{nonNil(lines), forgotten}, err
}

func (f *face) commitWhy(ctx context.Context, p *CommitWhyParams) (api.CommitWhy, error) {
	return f.d.CommitWhy(ctx, p.Workspace, p.Rev, p.Amend)
}

func (f *face) merge(ctx context.Context, p *MergeParams, reply func(UndoResult, error)) {
	if p.Path == "" {
		reply(UndoResult{}, invalid("path", "must not be empty"))
		return
	}
	f.d.Merge(ctx, f.client, p.Workspace, p.Path, stepped(reply))
}

func (f *face) place(_ context.Context, p *MergeParams) (PlaceResult, error) {
	if p.Path == "" {
		return PlaceResult{}, invalid("path", "must not be empty")
	}
	list, err := f.d.Places(f.client, p.Workspace, p.Path)
	return PlaceResult{nonNil(list)}, err
}

// stepped returns a reply to an undo, a redo or a merge that tells the client what was decided.
func stepped(reply func(UndoResult, error)) func(api.Decided, error) {
	return func(decided api.Decided, err error) {
		reply(UndoResult{nonNil(decided.Diffs), decided.Edits, decided.Step}, err)
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
