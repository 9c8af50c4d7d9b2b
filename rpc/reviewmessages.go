package rpc

import (
	"cursord/daemon/api"
	"cursord/sessions"
)

// DiffParams are the parameters of diff/list and diff/unified: of a workspace, or of one path or turn in it.
type DiffParams struct {
	Workspace string `json:"workspace"`
	Path      string `json:"path,omitempty"`
	TurnID    string `json:"turnId,omitempty"`
}

// DiffList is the result of diff/list.
type DiffList struct {
	Diffs []*sessions.Diff `json:"diffs"`
}

// UnifiedResult is the result of diff/unified, a patch in git's format.
type UnifiedResult struct {
	Patch string `json:"patch"`
}

// DecideParams are the parameters of diff/accept and diff/reject, which answer with an api.Decided. Exactly one of
// Hunks, Path, TurnID and All selects.
type DecideParams struct {
	Workspace string         `json:"workspace"`
	Hunks     *[]string      `json:"hunks,omitempty"`
	Path      string         `json:"path,omitempty"`
	TurnID    string         `json:"turnId,omitempty"`
	All       bool           `json:"all,omitempty"`
	Rev       *uint64        `json:"rev,omitempty"`
	Lines     *api.LineRange `json:"lines,omitempty"`
	Comment   string         `json:"comment,omitempty"`
	Both      bool           `json:"both,omitempty"`    // of conflicts: the person's lines stay in front of the agent's
	Replace   bool           `json:"replace,omitempty"` // of isolated hunks where a person has changed the same lines: the person's lines go
	AsEdits   bool           `json:"asEdits,omitempty"` // the result has edits for documents that this client has open, also for those without unsaved changes
}

// MergeParams are the parameters of diff/merge and diff/place.
type MergeParams struct {
	Workspace string `json:"workspace"`
	Path      string `json:"path"`
}

// UndoParams are the parameters of diff/undo, which is refused if Decision is given and is not the latest decision.
type UndoParams struct {
	Workspace string `json:"workspace"`
	Decision  uint64 `json:"decision,omitempty"`
	AsEdits   bool   `json:"asEdits,omitempty"` // what the decision changed by edits is changed back by edits, in documents that this client has open
	DryRun    bool   `json:"dryRun,omitempty"`  // only say which decision is the latest
}

// RedoParams are the parameters of diff/redo, which is refused if Decision is given and is not the one that was undone last.
type RedoParams struct {
	Workspace string `json:"workspace"`
	Decision  uint64 `json:"decision,omitempty"`
	AsEdits   bool   `json:"asEdits,omitempty"` // as in UndoParams
}

// PlaceResult is the result of diff/place.
type PlaceResult struct {
	Documents []api.PlacedDocument `json:"documents"`
}

// UndoResult is the result of diff/undo, diff/redo and diff/merge.
type UndoResult struct {
	Diffs []*sessions.Diff    `json:"diffs"`
	Edits []api.DocumentEdits `json:"edits,omitempty"`
	Step  *api.Step           `json:"step,omitempty"` // nil for diff/merge
}

// CommentParams are the parameters of diff/comment.
type CommentParams struct {
	Workspace string `json:"workspace"`
	Hunk      string `json:"hunk"`
	Text      string `json:"text"`
}

// DismissParams are the parameters of diff/dismiss: one of Path and All selects.
type DismissParams struct {
	Workspace string  `json:"workspace"`
	Path      *string `json:"path,omitempty"` // of a file outside of the workspace: absolute, or a file:// URI
	All       bool    `json:"all,omitempty"`
}

// Dismissed is the result of diff/dismiss.
type Dismissed struct {
	Dismissed int `json:"dismissed"` // files
}
