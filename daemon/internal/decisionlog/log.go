// Package decisionlog is the log of a workspace's decisions: which can be taken back, and which made again. It says what the store
// is to have of it, and knows no files.
package decisionlog

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

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
	Undone     bool        `json:"undone,omitempty"`
	Files      []File      `json:"files"`
	Rejections []Rejection `json:"told,omitempty"` // to agents, of a reject
}

// A File is the part of a group in one file.
type File struct {
	Path     string         `json:"path"`
	N        uint64         `json:"n,omitempty"` // the review's, which stays when the file moves
	Decision diffs.Decision `json:"decision"`
}

// A Rejection is what a session's next prompt says of a rejected hunk.
type Rejection struct {
	Session string `json:"session"`
	Text    string `json:"text"`
}

// Hunks counts those that a group decided.
func (g *Group) Hunks() (n int) {
	for _, f := range g.Files {
		n += len(f.Decision.Hunks)
	}
	return n
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

// Push adds a group, numbers it, forgets what could have been made again, and returns what to store.
func (l *Log) Push(g *Group) (ops []sessions.Op) {
	g.N = 1
	if len(l.groups) > 0 {
		g.N = l.groups[len(l.groups)-1].N + 1 // also if that one is forgotten now: a number means one decision
	}
	l.groups = slices.DeleteFunc(l.groups, func(old *Group) bool {
		if old.Undone {
			ops = append(ops, sessions.DropDecision{N: old.N})
		}
		return old.Undone
	})
	for len(l.groups) >= Max {
		ops = append(ops, sessions.DropDecision{N: l.groups[0].N})
		l.groups = slices.Delete(l.groups, 0, 1)
	}
	l.groups = append(l.groups, g)
	return append(ops, put(g))
}

func put(g *Group) sessions.Op { return sessions.PutDecision{N: g.N, Data: wire.Encode(g)} }

// Next returns the group that an undo takes back, or a redo makes again; nil if there is none.
func (l *Log) Next(undo bool) (next *Group) {
	for _, g := range l.groups {
		if g.Undone == undo || len(g.Files) == 0 {
			continue
		}
		if next = g; !undo {
			return next
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

// Replace puts a group in the place of that with its number, and returns what to store.
func (l *Log) Replace(g *Group) sessions.Op {
	if i := l.index(g.N); i >= 0 {
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
