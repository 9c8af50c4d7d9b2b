package diffs

import (
	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
)

// The attrs of a file are what review keeps beside its content. Like lines, they have two sides, and may differ between them
// until they are decided.
type attrs struct {
	wasMode, isMode uint32 // permission bits of the baseline and the present file; 0: not known, or no file
	wasPath, isPath string // where the file was and is; "" as long as it has not moved
	chmod, renamed  fileOp
}

// Rename tells the review that the file has moved from one path to another, and who moved it: an edit of the agent, or a
// person if by is nil. A person's move is not reviewed. Pending hunks stay pending, and so does an agent's move: the file has been moved on. With
// from and to the same, a person has made the agent's move too. It reports whether the review changed.
func (r *Review) Rename(from, to string, by *Source) (changed bool) {
	r.forget()
	before, edits, was, who, n := r.shape().sum(), r.sources, r.present(), history.Person, int32(0)
	if was.path = from; by != nil {
		was.pending = r.undecided()
	}
	if r.wasPath == r.isPath {
		r.wasPath = from
	}
	r.isPath = to
	switch {
	case by == nil && (r.renamed.ID == 0 || from == to):
		r.wasPath = to
	case by == nil: // the file still is not where it was before the agent moved it
	case r.is:
		who, n = history.Agent, r.sources.edit(*by)
		if !r.was || to == r.wasPath {
			break // the move of a new file is no hunk, nor is that back
		}
		r.renamed.add(n)
		if r.renamed.ID == 0 {
			r.renamed.ID = r.weave.ID()
		}
	}
	r.settleAttrs()
	if r.shape().sum() == before {
		r.sources = edits
		return false
	}
	r.follow(was, who, n)
	r.rev++
	return true
}

// Path returns where the file is or, after a reject or an undo, where it must be; "" if it has never moved.
func (r *Review) Path() string { return r.isPath }

// OldPath returns where the file was before the pending move, or "".
func (r *Review) OldPath() string {
	if r.wasPath == r.isPath {
		return ""
	}
	return r.wasPath
}

// observeAttrs takes in the permission bits of the present content, which edit n of the agent gave it or, for 0, a person.
func (r *Review) observeAttrs(mode uint32, n int32) {
	if n != 0 && r.was && r.is && r.wasPath != r.isPath && r.renamed.ID == 0 {
		r.renamed = fileOp{ID: r.weave.ID(), Edits: []int32{n}} // the agent made the file again at its new path
	}
	if mode != 0 && mode != r.isMode && r.file(weave.Current) {
		r.isMode = mode
		if n == 0 || !r.file(weave.Baseline) || r.wasMode == 0 {
			r.wasMode = mode
		} else if mode != r.wasMode {
			r.chmod.add(n)
			if r.chmod.ID == 0 {
				r.chmod.ID = r.weave.ID()
			}
		}
	}
	r.settleAttrs()
}

// decideAttrs carries out the part of a decision that concerns the mode and the move.
func (r *Review) decideAttrs(accept, mode, move bool) {
	switch {
	case mode && accept:
		r.wasMode = r.isMode
	case mode:
		r.isMode = r.wasMode
	}
	switch {
	case move && accept:
		r.wasPath = r.isPath
	case move:
		r.isPath = r.wasPath
	}
	r.settleAttrs()
}

// restorable reports whether the mode and the move are still as d left them.
func (a *attrs) restorable(d Decision) bool {
	mode, path := d.Before.WasMode, d.Before.WasPath
	if d.Accept {
		mode, path = d.Before.IsMode, d.Before.IsPath
	}
	return !(d.Mode && (a.wasMode != mode || a.isMode != mode)) && !(d.Move && (a.wasPath != path || a.isPath != path))
}

// restore takes back what d decided about the mode and the move.
func (a *attrs) restore(d Decision) {
	if d.Mode {
		a.wasMode, a.isMode, a.chmod = d.Before.WasMode, d.Before.IsMode, d.Before.Mode
	}
	if d.Move {
		a.wasPath, a.isPath, a.renamed = d.Before.WasPath, d.Before.IsPath, d.Before.Move
	}
}

// file reports whether a side exists and is no link.
func (r *Review) file(s weave.Side) bool {
	if s == weave.Current {
		return r.is && (r.whole == nil || !r.whole.now.link)
	}
	return r.was && (r.whole == nil || !r.whole.base.link)
}

// settleAttrs drops attributes that no longer belong to anything: a mode can change only between two files, and a move needs
// a file at both paths.
func (r *Review) settleAttrs() {
	base, now := r.file(weave.Baseline), r.file(weave.Current)
	if !base {
		r.wasMode = 0
	}
	if !now {
		r.isMode = 0
	}
	if base && now && (r.chmod.ID == 0 || r.isMode == 0) {
		// The modes are equal, or one of them is unknown: nothing is pending.
		if r.isMode == 0 {
			r.isMode = r.wasMode
		}
		r.wasMode = r.isMode
	}
	if !base || !now || r.wasMode == r.isMode {
		r.chmod = fileOp{}
	}
	if !r.was || r.is && r.renamed.ID == 0 {
		r.wasPath = r.isPath
	}
	if !r.is || r.wasPath == r.isPath {
		r.renamed = fileOp{}
	}
}
