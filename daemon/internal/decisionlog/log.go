// Package decisionlog is the log of a workspace's decisions: which can be taken back, and which made again. It says what the store
// is to have of it, and knows no files.
package decisionlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
	"cursord/diffs"
	"cursord/sessions"
)

// Max bounds the decisions that can be taken back.
const Max = 500

// A Group is what one request decided: one step of undo.
type Group struct {
	N          uint64      `json:"-"` // its number in the workspace, which no other has
	Accept     bool        `json:"accept"`
	Commit     bool        `json:"commit,omitempty"` // a person's commit accepted it
	Rewind     bool        `json:"rewind,omitempty"` // it takes turns of a session back
	Undone     bool        `json:"undone,omitempty"`
	UndoneAt   int         `json:"undoneAt,omitempty"` // undone: a higher number was undone later
	At         int64       `json:"at,omitempty"`       // when it was decided, in milliseconds since 1970; 0: an older daemon has not noted it
	Passed     bool        `json:"passed,omitempty"`   // a step was refused, as its lines have changed: the next one may pass it over
	Files      []File      `json:"files"`              // none: it is a comment alone, or its files are lost
	Rejections []Rejection `json:"told,omitempty"`     // to agents: of a reject, and a person's comment
}

// A File is the part of a group in one file.
type File struct {
	Path      string             `json:"path"`
	N         uint64             `json:"n,omitempty"` // the review's, which stays when the file moves
	Decision  diffs.Decision     `json:"decision"`
	Conflicts []uint64           `json:"conflicts,omitempty"` // those of its hunks that were conflicts with an unsaved text
	Resolved  []ResolvedConflict `json:"taken,omitempty"`     // these conflicts, the last in the file first
	Before    string             `json:"was,omitempty"`       // the Sum of the text that the work tree, or a buffer, had before; "" if it stayed
	After     string             `json:"then,omitempty"`      // the Sum of the text that it got; "" if it stayed
	Edited    bool               `json:"edited,omitempty"`    // by edits that a client was to make
	Undone    bool               `json:"undone,omitempty"`    // in this file alone: an editor's undo has led back
	Shown     int                `json:"shown,omitempty"`     // how many hunks a person had seen, where it had conflicts; 0: those of Decision
}

// Sum returns what a text is known by.
func Sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// A Rejection is what a session's next prompt says of a rejected hunk, or a person's comment on a decision.
type Rejection struct {
	Session string `json:"session"` // of a comment also "": any session's
	Text    string `json:"text"`
	Comment bool   `json:"comment,omitempty"`
}

// Rejected is a rejection with the number of its decision.
type Rejected struct {
	Group uint64 `json:"group"`
	Rejection
}

// Rejected returns what a session was told of the decisions before a moment, in milliseconds since 1970, that stand; the oldest first.
func (l *Log) Rejected(session string, before int64) (told []Rejected) {
	for _, g := range l.groups {
		if g.Undone || g.At == 0 || g.At >= before {
			continue
		}
		for _, one := range g.Rejections {
			if one.Session == session {
				told = append(told, Rejected{Group: g.N, Rejection: one})
			}
		}
	}
	return told
}

// Words are the texts about hunks for the next prompts, if they are rejected, by hunk.
type Words map[uint64][]Rejection

// Put puts in the text about a hunk for each session that has changed it.
func (w Words) Put(h *diffs.Hunk, text string) {
	for i, src := range h.Sources {
		if !slices.ContainsFunc(h.Sources[:i], func(before diffs.Source) bool { return before.SessionID == src.SessionID }) {
			w[h.ID] = append(w[h.ID], Rejection{Session: src.SessionID, Text: text})
		}
	}
}

// Of returns the rejections of some hunks.
func (w Words) Of(hunks []uint64) (rejections []Rejection) {
	for _, id := range hunks {
		rejections = append(rejections, w[id]...)
	}
	return rejections
}

// Hunks counts those that a group decided, as people have seen them: a conflict is one, whatever parts it has.
func (g *Group) Hunks() (n int) {
	for _, f := range g.Files {
		if !f.Undone {
			n += f.hunks()
		}
	}
	return n
}

func (part *File) hunks() int {
	if part.Shown > 0 {
		return part.Shown
	}
	n := part.Decision.Size() + len(part.Resolved)
	if len(part.Resolved) > 0 {
		for _, id := range part.Decision.Hunks {
			if slices.Contains(part.Conflicts, id) {
				n--
			}
		}
	}
	return n
}

// Step says which decision an undo or redo of the group is about.
func (g *Group) Step() *api.Step {
	kind := api.StepReject
	switch {
	case g.Rewind:
		kind = api.StepRewind
	case g.Commit:
		kind = api.StepCommit
	case g.Accept:
		kind = api.StepAccept
	}
	return &api.Step{Decision: g.N, Kind: kind, Hunks: g.Hunks()}
}

// A Log has the latest decisions, oldest first. The zero Log has none.
type Log struct{ groups []*Group }

// Load returns what the store has. What cannot be read is reported, and cannot be undone; ops drop it.
func Load(recs []sessions.Numbered, damaged func(what string, err error)) (l Log, ops []sessions.Op) {
	for _, rec := range recs {
		g := &Group{N: rec.N}
		if err := json.Unmarshal(rec.Data, g); err != nil {
			damaged(fmt.Sprint("decision ", rec.N), err)
			ops = append(ops, sessions.DropDecision{N: rec.N})
			continue
		}
		l.groups = append(l.groups, g)
	}
	return l, ops
}

// Pass says that a group's next step was refused, because its lines have changed since, and returns what to store.
func (l *Log) Pass(n uint64) []sessions.Op {
	old := l.Numbered(n)
	if old == nil {
		return nil
	}
	g := *old
	g.Passed = true
	return []sessions.Op{l.Replace(&g)}
}

// Push adds a group, numbers it, notes the time, and returns what to store. It forgets what could have been made again, unless the group
// decides nothing: then it only has words for agents.
func (l *Log) Push(g *Group) (ops []sessions.Op) {
	g.N, g.At = 1, time.Now().UnixMilli()
	if len(l.groups) > 0 {
		g.N = l.groups[len(l.groups)-1].N + 1 // also if that one is forgotten now: a number means one decision
	}
	l.groups = slices.DeleteFunc(l.groups, func(old *Group) bool {
		gone := old.Undone && len(g.Files) > 0
		if gone {
			ops = append(ops, sessions.DropDecision{N: old.N})
		}
		return gone
	})
	for len(l.groups) >= Max {
		first := max(slices.IndexFunc(l.groups, func(g *Group) bool { return len(g.Files) == 0 }), 0) // no comment costs a step of undo
		ops = append(ops, sessions.DropDecision{N: l.groups[first].N})
		l.groups = slices.Delete(l.groups, first, first+1)
	}
	l.groups = append(l.groups, g)
	return append(ops, put(g))
}

func put(g *Group) sessions.Op { return sessions.PutDecision{N: g.N, Data: wire.Encode(g)} }

// Next returns the group that an undo takes back: the latest that stands; or the one that a redo makes again: the one undone last. Those
// with the numbers of but do not count. It returns nil if there is none.
func (l *Log) Next(undo bool, but ...uint64) (next *Group) {
	for _, g := range l.groups {
		if g.Undone != undo && len(g.Files) > 0 && !slices.Contains(but, g.N) && (undo || next == nil || g.UndoneAt > next.UndoneAt) {
			next = g
		}
	}
	return next
}

// Numbered returns a group by its number; nil if it is not there any more.
func (l *Log) Numbered(n uint64) *Group {
	if i := l.index(n); i >= 0 {
		return l.groups[i]
	}
	return nil
}

func (l *Log) index(n uint64) int {
	return slices.IndexFunc(l.groups, func(g *Group) bool { return g.N == n })
}

// Replace replaces the group that has the number of g by g, and returns what to store.
func (l *Log) Replace(g *Group) sessions.Op {
	if i := l.index(g.N); i >= 0 {
		if g.Undone && !l.groups[i].Undone {
			g.UndoneAt = 0
			for _, other := range l.groups {
				if other.Undone {
					g.UndoneAt = max(g.UndoneAt, other.UndoneAt+1)
				}
			}
		}
		l.groups[i] = g
	}
	return put(g)
}

// Without takes files out of a group that cannot be taken back in them any more, and returns what to store. One that is left without
// files is passed over: it keeps its number from being given again.
func (l *Log) Without(n uint64, lost func(File) bool) []sessions.Op {
	old := l.Numbered(n)
	if old == nil {
		return nil
	}
	g := *old
	g.Files = slices.DeleteFunc(slices.Clone(g.Files), lost)
	return []sessions.Op{l.Replace(&g)}
}

// SetUndone says that the part of a group in one file is taken back, or made again, by an editor's undo, and returns the group as it is
// then and what to store; nil if it is not there any more. A group of which all is taken back is undone.
func (l *Log) SetUndone(n uint64, in func(File) bool, undone bool) (*Group, []sessions.Op) {
	old := l.Numbered(n)
	if old == nil {
		return nil, nil
	}
	g := *old
	g.Files, g.Undone = slices.Clone(old.Files), true
	for i := range g.Files {
		f := &g.Files[i]
		f.Undone = f.Undone || old.Undone
		if in(*f) {
			f.Undone = undone
		}
		g.Undone = g.Undone && f.Undone
	}
	if g.Undone {
		for i := range g.Files {
			g.Files[i].Undone = false
		}
	}
	return &g, []sessions.Op{l.Replace(&g)}
}

// FinishConflicts calls finish with the parts in one file of decisions that stand and have decided conflicts, the oldest first. It returns
// what to store of the parts that finish has changed, which it says.
func (l *Log) FinishConflicts(in func(File) bool, finish func(n uint64, part *File) bool) (ops []sessions.Op) {
	for _, old := range l.groups {
		for i, f := range old.Files {
			if len(f.Resolved) == 0 || old.Undone || f.Undone || !in(f) || !finish(old.N, &f) {
				continue
			}
			g := *l.Numbered(old.N)
			g.Files = slices.Clone(g.Files)
			g.Files[i] = f
			ops = append(ops, l.Replace(&g))
		}
	}
	return ops
}

// Path returns the steps in one file that take its decisions back, the latest first, as far as the one that changed its text from that
// with a sum; or with undo false, those that make undone ones again, as far as the one that led to that text. It returns nil if none did.
func (l *Log) Path(in func(File) bool, sum string, undo bool) (steps []Step) {
	groups := slices.All(l.groups)
	if undo {
		groups = slices.Backward(l.groups)
	}
	for _, g := range groups {
		for _, f := range g.Files {
			if f.Before == "" || !in(f) || (g.Undone || f.Undone) == undo {
				continue
			}
			t := Step{Group: g.N, Decision: f.Decision, Conflicts: f.Conflicts, Undo: undo, Again: true, Before: f.Before, After: f.After}
			if undo {
				t.Before, t.After = f.After, f.Before
			}
			if steps = append(steps, t); t.After == sum {
				return steps
			}
		}
	}
	return nil
}

// Rejects returns the steps that take back the rejects in one file, the oldest first. Those that do not stand are among them: perhaps only
// a text that an editor has not saved had taken them back when the daemon was killed.
func (l *Log) Rejects(in func(File) bool) (steps []Step) {
	for _, g := range l.groups {
		for _, f := range g.Files {
			if !f.Decision.Accept && in(f) {
				steps = append(steps, Step{Group: g.N, Decision: f.Decision, Conflicts: f.Conflicts, Undo: true, Again: true, Before: f.After})
			}
		}
	}
	return steps
}

// WithoutEverywhere is Without for all groups.
func (l *Log) WithoutEverywhere(lost func(File) bool) (ops []sessions.Op) {
	for _, g := range l.groups {
		if slices.ContainsFunc(g.Files, lost) {
			ops = append(ops, l.Without(g.N, lost)...)
		}
	}
	return ops
}

// Files yields the parts of all groups.
func (l *Log) Files() iter.Seq[*File] {
	return func(yield func(*File) bool) {
		for _, g := range l.groups {
			for i := range g.Files {
				if !yield(&g.Files[i]) {
					return
				}
			}
		}
	}
}
