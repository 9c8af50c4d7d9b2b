package diffs

import "weak"

// A Review is what is undecided in one file, like a working copy between two commits: its baseline is what the
// person has agreed to or written, its present text is what the path holds.
type Review struct {
	weave // of a text; without atoms while whole is set

	limits  Limits
	was, is bool   // whether the baseline and the present file exist
	whole   *whole // not nil: no text, too large, or a link, on either side
	op      fileOp // the undecided creation, deletion or whole change
	unknown fileOp // an undecided change to something that was not seen
	attrs          // what there is beside the content
	sources sources
	rev     uint64
	held    [2]weak.Pointer[Content] // the baseline and the present as read last; memory that is needed takes them
}

// A whole is a file that is reviewed in one piece.
type whole struct {
	base, now     body
	baseID, nowID uint64 // name the contents, as ids name lines
	touched       bool   // the user has written it since the agent did
	forked        bool   // the user has written the baseline since the agent wrote the file
	kind          Kind   // Binary, Large or Symlink; Modified if neither side is any more
}

// A fileOp is a hunk of kind file; without an ID there is none.
type fileOp struct {
	ID    uint64  `json:"id"`
	Edits []int32 `json:"edits,omitempty"`
}

// New returns a review of a file that holds base, with nothing to review.
func New(base Content) *Review { return Limits{}.New(base) }

// NewUnknown returns a review of a file that src changed before anybody had seen it. It has a hunk of kind file that
// can be accepted and not rejected; what the agent changes later is rejected down to now.
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
	r.unknown = fileOp{ID: r.id(), Edits: []int32{r.sources.edit(src)}}
	r.rev++
	return r
}

// settle makes b both the baseline and the present content, with nothing left to review in it.
func (r *Review) settle(exists bool, b body, user bool) {
	r.was, r.is = exists, exists
	r.op, r.unknown, r.whole = fileOp{}, fileOp{}, nil
	r.atoms, r.eol = nil, ""
	if kind := r.limits.kind(b); kind != Modified {
		n := r.id()
		r.whole = &whole{base: b, now: b, baseID: n, nowID: n, kind: kind}
		return
	}
	r.noteLineEnd(b.text)
	r.reset(b.text, user)
}

// Kind returns what happened to the file; Modified also when there is nothing to review in a text.
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
	return r.op.ID != 0 || r.unknown.ID != 0 || r.renamed.ID != 0 || r.chmod.ID != 0 || r.weave.pending()
}

// BaselineKnown reports whether what the file held before the agent's first change was seen, or its absence agreed to.
func (r *Review) BaselineKnown() bool { return r.unknown.ID == 0 }

// Rev counts the changes of the review.
func (r *Review) Rev() uint64 { return r.rev }

// Baseline returns what the file would hold if all were rejected. Its Data is not to be changed.
func (r *Review) Baseline() Content { return r.content(baseline) }

// Current returns what the file holds; after a reject or an undo, what it is to hold. Its Data is not to be changed.
func (r *Review) Current() Content { return r.content(current) }

func (r *Review) content(s side) Content {
	held := &r.held[0]
	if s == current {
		held = &r.held[1]
	}
	if c := held.Value(); c != nil {
		return *c
	}
	c := r.read(s)
	*held = weak.Make(&c)
	return c
}

// forget is called by whatever is about to change the review, also if it turns out that nothing is to be told.
func (r *Review) forget() { r.held = [2]weak.Pointer[Content]{} }

func (r *Review) read(s side) Content {
	exists, mode := r.was, r.wasMode
	if s == current {
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
func (r *Review) body(s side) body {
	switch {
	case r.whole == nil:
		return body{text: r.weave.text(s)}
	case s == current:
		return r.whole.now
	}
	return r.whole.base
}
