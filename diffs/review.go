package diffs

import (
	"weak"

	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
)

// A Review is what is undecided in one file. Its baseline is what the person has agreed to or written; its present text is
// what the path holds.
type Review struct {
	weave weave.Weave // of a text; without atoms while whole is set

	limits  Limits
	was, is bool   // whether the baseline and the present file exist
	whole   *whole // not nil: before or after is no text, too large, or a link
	op      fileOp // the undecided creation, deletion or whole change
	unknown fileOp // an undecided change to something that was not seen
	attrs          // what review keeps beside the content
	sources sources
	past    *history.File // what edits did to the present content, accepted or not
	formers []Former      // the latest last
	rev     uint64
	copied  bool                     // the present file is in a copy: people change the baseline's
	held    [2]weak.Pointer[Content] // baseline and present content as last built; the garbage collector may take them
}

// A whole is a file that is reviewed in one piece.
type whole struct {
	base, now     body
	baseID, nowID uint64 // ids of the contents, as lines have ids
	touched       bool   // the user has written it since the agent did
	forked        bool   // the user has written the baseline since the agent wrote the file
	kind          Kind   // Binary, Large or Symlink; Modified if both sides are text again
}

// A fileOp is a hunk of kind file; if ID is 0, there is none.
type fileOp struct {
	ID    uint64  `json:"id"`
	Edits []int32 `json:"edits,omitempty"`
}

// New returns a review of a file that holds base, with nothing to review.
func New(base Content) *Review { return Limits{}.New(base) }

// NewUnknown returns a review of a file that src changed before anybody had seen it. It has a hunk of kind file that can be
// accepted but not rejected; a reject of later changes goes back to now.
func NewUnknown(now Content, src Source) *Review { return Limits{}.NewUnknown(now, src) }

// New is New with other limits.
func (l Limits) New(base Content) *Review {
	r := &Review{limits: l.orDefault()}
	r.settle(base.Exists, base.body(), false)
	r.observeAttrs(base.Mode, 0)
	return r
}

// NewUnknown is NewUnknown with other limits.
func (l Limits) NewUnknown(now Content, src Source) *Review {
	r := l.New(now)
	n := r.sources.edit(src)
	r.unknown = fileOp{ID: r.weave.ID(), Edits: []int32{n}}
	r.past = &history.File{Ops: []history.Op{{By: n, Lost: true}}}
	r.rev++
	return r
}

// settle makes b the baseline and the present content, with nothing left to review.
func (r *Review) settle(exists bool, b body, user bool) {
	r.was, r.is = exists, exists
	r.op, r.unknown, r.whole = fileOp{}, fileOp{}, nil
	r.weave.Atoms, r.weave.EOL = nil, ""
	if kind := r.limits.kind(b); kind != Modified {
		n := r.weave.ID()
		r.whole = &whole{base: b, now: b, baseID: n, nowID: n, kind: kind}
		return
	}
	r.weave.NoteLineEnd(b.text)
	r.weave.Reset(b.text, user)
}

// Kind returns what happened to the file. It is also Modified if nothing is pending in a text.
func (r *Review) Kind() Kind {
	moved := r.renamed.ID != 0 || r.chmod.ID != 0
	switch {
	case r.whole != nil && r.whole.kind != Modified && (r.op.ID != 0 || r.unknown.ID != 0 || !moved):
		return r.whole.kind
	case r.op.ID != 0 && !r.was:
		return Created
	case r.op.ID != 0 && !r.is:
		return Deleted
	case r.renamed.ID != 0:
		return Renamed
	case r.chmod.ID != 0:
		return Mode
	}
	return Modified
}

// Pending reports whether there is anything to review.
func (r *Review) Pending() bool {
	return r.op.ID != 0 || r.unknown.ID != 0 || r.renamed.ID != 0 || r.chmod.ID != 0 || r.weave.Pending()
}

// BaselineKnown reports whether the content before the agent's first change was seen, or the person has agreed to do without
// it.
func (r *Review) BaselineKnown() bool { return r.unknown.ID == 0 }

// Rev counts the changes of the review.
func (r *Review) Rev() uint64 { return r.rev }

// Baseline returns what the file would hold if everything were rejected. The caller must not change its Data.
func (r *Review) Baseline() Content { return r.content(weave.Baseline) }

// Current returns what the file holds or, after a reject or an undo, must hold. The caller must not change its Data.
func (r *Review) Current() Content { return r.content(weave.Current) }

func (r *Review) content(s weave.Side) Content {
	held := &r.held[0]
	if s == weave.Current {
		held = &r.held[1]
	}
	if c := held.Value(); c != nil {
		return *c
	}
	c := r.read(s)
	*held = weak.Make(&c)
	return c
}

// forget drops the held contents. Every method that may change the review calls it first.
func (r *Review) forget() { r.held = [2]weak.Pointer[Content]{} }

func (r *Review) read(s weave.Side) Content {
	exists, mode := r.was, r.wasMode
	if s == weave.Current {
		exists, mode = r.is, r.isMode
	}
	b := r.body(s)
	switch {
	case !exists:
		return Content{}
	case b.link:
		return Content{Exists: true, Target: b.text}
	}
	return Content{Exists: true, Data: []byte(b.text), Mode: mode}
}

// body returns what a side holds, if it exists.
func (r *Review) body(s weave.Side) body {
	switch {
	case r.whole == nil:
		return body{text: r.weave.Text(s)}
	case s == weave.Current:
		return r.whole.now
	}
	return r.whole.base
}
