package diffs

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"cursord/diffs/history"
)

// undecided returns what of the file nobody has decided about; nil if that is nothing.
func (r *Review) undecided() *history.Pending {
	if !r.Pending() {
		return nil
	}
	p := &history.Pending{
		Body: slices.Clone(r.op.Edits), Mode: slices.Clone(r.chmod.Edits), Path: slices.Clone(r.renamed.Edits),
		WasMode: r.wasMode, WasPath: r.wasPath,
	}
	if r.op.ID == 0 {
		p.Body = r.edits(piece{end: len(r.atoms)}, nil)
		p.Body = slices.DeleteFunc(p.Body, func(n int32) bool { return n == 0 })
	}
	if len(p.Body) > 0 {
		p.Was = r.baselineSum()
	}
	return p
}

// baselineSum returns a sum of the baseline, without its mode and its path.
func (r *Review) baselineSum() string {
	b := r.body(baseline)
	h := sha256.New()
	h.Write([]byte{byte(bit(r.was)), byte(bit(b.link))})
	h.Write([]byte(b.text))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// An again says of which edits the body, the mode and the path of a file are pending after a rewind.
type again struct {
	body, mode, path []int32
	whole            bool // there were no lines before the rewind
	was              bool // the baseline, with base and so on
	base             body
	wasMode          uint32
	wasPath          string
}

// pendingAfter returns what is pending after a rewind of the edits that of has: what is pending of others now, and what was pending when
// these edits changed it, if nobody has decided since. That is so if the baseline is the same.
func (r *Review) pendingAfter(back *history.Back, of map[int32]bool) again {
	others := func(edits []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(edits), func(n int32) bool { return of[n] || !slices.Contains(r.sources.numbers, n) })
	}
	a := again{mode: others(r.chmod.Edits), path: others(r.renamed.Edits), whole: r.whole != nil, was: r.was, wasMode: r.wasMode, wasPath: r.wasPath}
	for _, p := range back.Pending {
		if len(a.body) == 0 && p.Was != "" && p.Was == r.baselineSum() {
			a.body = others(p.Body)
		}
		if len(a.mode) == 0 && p.WasMode == r.wasMode {
			a.mode = others(p.Mode)
		}
		if len(a.path) == 0 && p.WasPath == r.wasPath {
			a.path = others(p.Path)
		}
	}
	if len(a.body) > 0 {
		a.base = r.body(baseline)
	}
	return a
}

// rebuild makes a review of the baseline and the content that a rewind leaves, which edits have made of it. lines is the history of the
// content's lines.
func (r *Review) rebuild(target Content, lines *history.File, a again) {
	unknown, edits := r.unknown, a.body
	r.settle(a.was, a.base, false)
	r.unknown = unknown
	last := len(edits) - 1
	if target.Exists && r.whole == nil && r.limits.kind(target.body()) == Modified {
		text := splitLines(string(target.Data))
		for k, n := range edits[:last] {
			var part string
			for i, l := range text {
				if by, _ := lines.Of(i); !slices.Contains(edits[k+1:], by) {
					part += l
				}
			}
			r.observe(true, body{text: part}, n)
		}
	}
	r.observe(target.Exists, target.body(), edits[last])
	if r.whole != nil && r.op.ID != 0 {
		r.op.Edits = edits
	}
}

// reopenAttrs makes the mode and the path pending again.
func (r *Review) reopenAttrs(a again) {
	both := r.file(baseline) && r.file(current)
	if len(a.mode) > 0 && both && a.wasMode != 0 && a.wasMode != r.isMode {
		r.wasMode, r.chmod = a.wasMode, fileOp{ID: r.id(), Edits: a.mode}
	}
	if len(a.path) > 0 && r.was && r.is && a.wasPath != r.isPath {
		r.wasPath, r.renamed = a.wasPath, fileOp{ID: r.id(), Edits: a.path}
	}
}
