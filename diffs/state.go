package diffs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
)

// A shape is a review without its texts and its history. A line never changes except for its end, so equal shapes of one
// review have equal texts.
type shape struct {
	mark
	Runs []runShape `json:"runs,omitempty"`
	Bare []int      `json:"bare,omitempty"` // indices of atoms without a line end
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

// A runShape stands for Count atoms with consecutive ids: ins, del, user (0 or 1), first id, count.
type runShape [5]uint64

func shapeOf(atoms []atom) (runs []runShape, bare []int) {
	for i := range atoms {
		a := &atoms[i]
		if lacksEOL(a.text) {
			bare = append(bare, i)
		}
		user := bit(a.user)
		if n := len(runs); n > 0 {
			if p := &runs[n-1]; p[0] == uint64(a.ins) && p[1] == uint64(a.del) && p[2] == user && p[3]+p[4] == a.id {
				p[4]++
				continue
			}
		}
		runs = append(runs, runShape{uint64(a.ins), uint64(a.del), user, a.id, 1})
	}
	return runs, bare
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
	s.Runs, s.Bare = shapeOf(r.atoms)
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
	put(bit(s.Was), bit(s.Is))
	for _, op := range []fileOp{s.Op, s.Unknown, s.Mode, s.Move} {
		put(op.ID, uint64(len(op.Edits)))
		for _, n := range op.Edits {
			put(uint64(n))
		}
	}
	if w := s.Whole; w != nil {
		put(1, w.Base, w.Now, bit(w.Touched), bit(w.Forked))
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

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
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
	shape
}

const stateVersion = 1

// Marshal returns the review without the two texts. Unmarshal also needs these: the Data of Baseline and of Current.
func (r *Review) Marshal() []byte {
	b, err := json.Marshal(state{stateVersion, r.limits, r.eol, r.next, r.rev, r.sources.by, r.sources.stored(), r.shape()})
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
	r := &Review{limits: s.Limits.orDefault(), was: s.Was, is: s.Is, op: s.Op, unknown: s.Unknown, rev: s.Rev}
	r.attrs, r.eol, r.next = s.attrs(), s.EOL, s.Next
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
		r.whole.nowID, r.whole.touched, r.whole.forked, r.next = s.Whole.Now, s.Whole.Touched, s.Whole.Forked, s.Next
		return r, nil
	}
	return r, r.weave.restore(s.shape, string(base), string(now), r.sources.last())
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

// restore makes the atoms from their shape and from the texts of both sides: each line is in one of them.
func (w *weave) restore(s shape, base, now string, edits int32) error {
	texts := map[side][]string{baseline: splitLines(base), current: splitLines(now)}
	if base == now { // share one copy
		texts[current] = texts[baseline]
	}
	take := func(on side) (line string, ok bool) {
		if len(texts[on]) == 0 {
			return "", false
		}
		line, texts[on] = texts[on][0], texts[on][1:]
		return line, true
	}
	bare := s.Bare
	for _, run := range s.Runs {
		ins, del := int32(run[0]), int32(run[1])
		if ins != 0 && del != 0 || ins < 0 || del < 0 || ins > edits || del > edits {
			return fmt.Errorf("%w: a line with edits %d and %d of %d", ErrCorrupt, ins, del, edits)
		}
		for k := range run[4] {
			a := atom{id: run[3] + k, ins: ins, del: del, user: run[2] != 0}
			for _, on := range []side{baseline, current} {
				if !a.on(on) {
					continue
				}
				line, ok := take(on)
				if !ok || a.text != "" && trimEnd(line) != trimEnd(a.text) {
					return fmt.Errorf("%w: line %d", ErrCorrupt, len(w.atoms))
				}
				a.text = line
			}
			if len(bare) > 0 && bare[0] == len(w.atoms) {
				a.text, bare = strings.TrimSuffix(a.text, w.lineEnd()), bare[1:]
			}
			w.atoms = append(w.atoms, a)
		}
	}
	if len(texts[baseline]) > 0 || len(texts[current]) > 0 {
		return fmt.Errorf("%w: lines left over", ErrCorrupt)
	}
	return nil
}

func trimEnd(line string) string { return strings.TrimRight(line, "\r\n") }
