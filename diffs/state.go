package diffs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"cursord/diffs/internal/weave"
)

// A shape is a review without its texts and its history. A line never changes except for its end, so equal shapes of one
// review have equal texts.
type shape struct {
	mark
	Runs []weave.RunShape `json:"runs,omitempty"`
	Bare []int            `json:"bare,omitempty"` // indices of atoms without a line end
}

// A mark is the part of a shape beside the lines.
type mark struct {
	Was     bool      `json:"was"`
	Is      bool      `json:"is"`
	Op      fileOp    `json:"op,omitzero"`
	Unknown fileOp    `json:"unknown,omitzero"`
	Whole   *wholeIDs `json:"whole,omitempty"`
	markedAttrs
}

// markedAttrs are a file's attrs.
type markedAttrs struct {
	WasMode uint32 `json:"wasMode,omitempty"`
	IsMode  uint32 `json:"isMode,omitempty"`
	Mode    fileOp `json:"mode,omitzero"`
	WasPath string `json:"wasPath,omitempty"`
	IsPath  string `json:"isPath,omitempty"`
	Move    fileOp `json:"move,omitzero"`
}

func (m *markedAttrs) attrs() attrs {
	return attrs{
		wasMode: m.WasMode, isMode: m.IsMode, chmod: m.Mode, wasPath: m.WasPath, isPath: m.IsPath, renamed: m.Move,
	}
}

func (op fileOp) IsZero() bool { return op.ID == 0 }

type wholeIDs struct {
	Base    uint64 `json:"base"`
	Now     uint64 `json:"now"`
	Touched bool   `json:"touched,omitempty"`
	Forked  bool   `json:"forked,omitempty"`

	// The targets of links, which are not stored as contents.
	BaseTarget []byte `json:"baseTarget,omitempty"`
	NowTarget  []byte `json:"nowTarget,omitempty"`
}

func (r *Review) mark() mark {
	m := mark{Was: r.was, Is: r.is, Op: r.op, Unknown: r.unknown, markedAttrs: markedAttrs{
		WasMode: r.wasMode, IsMode: r.isMode, Mode: r.chmod, WasPath: r.wasPath, IsPath: r.isPath, Move: r.renamed,
	}}
	if w := r.whole; w != nil {
		m.Whole = &wholeIDs{Base: w.baseID, Now: w.nowID, Touched: w.touched, Forked: w.forked}
		if w.base.link {
			m.Whole.BaseTarget = []byte(w.base.text)
		}
		if w.now.link {
			m.Whole.NowTarget = []byte(w.now.text)
		}
	}
	return m
}

func (r *Review) shape() shape {
	s := shape{mark: r.mark()}
	s.Runs, s.Bare = weave.ShapeOf(r.weave.Atoms)
	return s
}

// sum returns a short name for the shape.
func (s shape) sum() string {
	b := make([]byte, 0, 64+10*len(s.Runs))
	put := func(values ...uint64) {
		for _, v := range values {
			b = binary.AppendUvarint(b, v)
		}
	}
	put(weave.Bit(s.Was), weave.Bit(s.Is))
	for _, op := range []fileOp{s.Op, s.Unknown, s.Mode, s.Move} {
		put(op.ID, uint64(len(op.Edits)))
		for _, n := range op.Edits {
			put(uint64(n))
		}
	}
	if w := s.Whole; w != nil {
		put(1, w.Base, w.Now, weave.Bit(w.Touched), weave.Bit(w.Forked))
	} else {
		put(0)
	}
	put(uint64(s.WasMode), uint64(s.IsMode))
	for _, path := range []string{s.WasPath, s.IsPath} {
		put(uint64(len(path)))
		b = append(b, path...)
	}
	put(uint64(len(s.Runs)))
	for i := range s.Runs {
		put(s.Runs[i][:]...)
	}
	for _, i := range s.Bare {
		put(uint64(i))
	}
	h := sha256.Sum256(b)
	return fmt.Sprintf("%x", h[:16])
}

// state is the stored form of a review.
type state struct {
	Version int      `json:"v"`
	Limits  Limits   `json:"limits"`
	EOL     string   `json:"eol,omitempty"`
	Next    uint64   `json:"next"`
	Rev     uint64   `json:"rev"`
	Sources []Source `json:"sources,omitempty"`
	Edits   []int32  `json:"edits,omitempty"` // the numbers of Sources; if absent: 1, 2, …
	Copied  bool     `json:"copied,omitempty"`
	shape
}

const stateVersion = 1

// Marshal returns the review without the two texts. Unmarshal also needs these: the Data of Baseline and of Current.
func (r *Review) Marshal() []byte {
	b, err := json.Marshal(state{stateVersion, r.limits, r.weave.EOL, r.weave.Next, r.rev, r.sources.by, r.sources.stored(), r.copied, r.shape()})
	if err != nil {
		panic(err) // impossible: the state has only numbers, booleans and strings
	}
	return b
}

// Unmarshal returns the review that Marshal stored, or ErrCorrupt.
func Unmarshal(data, base, now []byte) (*Review, error) {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("%w: version %d", ErrCorrupt, s.Version)
	}
	r := &Review{limits: s.Limits.orDefault(), was: s.Was, is: s.Is, op: s.Op, unknown: s.Unknown, rev: s.Rev, copied: s.Copied}
	r.attrs, r.weave.EOL, r.weave.Next = s.attrs(), s.EOL, s.Next
	var ok bool
	if r.sources, ok = storedSources(s.Sources, s.Edits); !ok {
		return nil, fmt.Errorf("%w: %d numbers of %d edits", ErrCorrupt, len(s.Edits), len(s.Sources))
	}
	if s.Whole != nil {
		r.whole = &whole{base: storedBody(base, s.Whole.BaseTarget), baseID: s.Whole.Base}
		b := storedBody(now, s.Whole.NowTarget)
		if s.Whole.Now == s.Whole.Base {
			b = r.whole.base
		}
		r.setWhole(r.is, b)
		r.whole.nowID, r.whole.touched, r.whole.forked, r.weave.Next = s.Whole.Now, s.Whole.Touched, s.Whole.Forked, s.Next
		return r, nil
	}
	if err := r.weave.Restore(s.Runs, s.Bare, string(base), string(now), r.sources.last()); err != nil {
		return r, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return r, nil
}

// withLast returns what Marshal has stored with another last id.
func withLast(data []byte, last uint64) []byte {
	var s state
	if json.Unmarshal(data, &s) != nil {
		return data
	}
	s.Next = last
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // impossible: see Marshal
	}
	return b
}

// storedBody returns what was stored as data or as target.
func storedBody(data, target []byte) body {
	if target != nil {
		return body{text: string(target), link: true}
	}
	return body{text: string(data)}
}
