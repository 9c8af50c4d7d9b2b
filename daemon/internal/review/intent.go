package review

import (
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/wire"
	"cursord/diffs"
	"cursord/sessions"
)

// An intent is what a request is about to write. It is durable before the first write and gone, in one transaction
// with what came of it, after the last, so that a daemon that finds one at its start knows whose work the disk shows.
type intent struct {
	Group decisionlog.Group `json:"group"`       // without its files
	N     uint64            `json:"n,omitempty"` // of a group that is taken back or made again; 0: it is new
	Files []intendedFile    `json:"files"`
}

// An intendedFile is a file of an intent: how it is to change, and what the store is to have of it then.
type intendedFile struct {
	Session    string                  `json:"session,omitempty"` // in whose copy the file is under review
	Copy       bool                    `json:"copy,omitempty"`    // the change is in the copy, and not in the work tree
	From       string                  `json:"from"`
	To         string                  `json:"to"`
	Temp       string                  `json:"temp"`
	Before     held                    `json:"before"`
	After      held                    `json:"after"`
	Mode       uint32                  `json:"mode"`
	Links      atomicfile.Links        `json:"links,omitzero"`
	Dirs       []string                `json:"dirs,omitempty"`
	Decision   diffs.Decision          `json:"decision"`
	Rejections []decisionlog.Rejection `json:"told,omitempty"`
	State      fileState               `json:"state"`
}

// A held is what a path holds, its content by the name of a blob.
type held struct {
	Exists bool   `json:"exists"`
	Blob   string `json:"blob,omitempty"`
	Target []byte `json:"target,omitempty"` // need not be UTF-8
	Mode   uint32 `json:"mode,omitempty"`
}

func heldOf(c diffs.Content) held {
	h := held{Exists: c.Exists, Target: []byte(c.Target), Mode: c.Mode}
	if c.Exists && c.Target == "" {
		h.Blob = sessions.BlobID(c.Data)
	}
	return h
}

// intend makes a plan durable, if anything of it is to be written, and returns what drops it again. It returns the
// store's error, with the plan taken back, if that takes no changes now.
func (r *Reviewer) intend(in intent, plan []*planned) (drop []sessions.Op, err error) {
	plan = slices.DeleteFunc(slices.Clone(plan), func(p *planned) bool { return p == nil })
	if !slices.ContainsFunc(plan, func(p *planned) bool { return p.change.Writes() }) {
		return nil, nil
	}
	in.Group.Files, in.Group.Rejections = nil, nil
	var blobs [][]byte
	for _, p := range plan {
		c := p.change
		state, contents := p.f.state()
		in.Files = append(in.Files, intendedFile{
			Session: p.f.tree.session, Copy: c.in.isolated(), From: c.From, To: c.To, Temp: c.Temp, Before: heldOf(c.Before.Content), After: heldOf(c.After),
			Mode: uint32(c.Mode), Links: c.Links, Dirs: c.Dirs, Decision: p.done, Rejections: p.rejections, State: state,
		})
		blobs = append(blobs, contents...)
		for _, c := range []diffs.Content{c.Before.Content, c.After} {
			if c.Exists && c.Target == "" {
				blobs = append(blobs, c.Data)
			}
		}
	}
	const each = 4 << 10
	r.reach("intend")
	// What comes of it is stored behind the writes: what the database still takes may not be enough for both.
	room := int64(0)
	for _, b := range blobs {
		room += int64(len(b))
	}
	for _, x := range in.Files {
		room += 2 * int64(len(x.State.Weave)+each)
	}
	if err := r.setup.Store.Room(room); err != nil {
		abandon(plan)
		return nil, api.StoreError(err)
	}
	r.intents++
	drop = []sessions.Op{sessions.DropIntent{N: r.intents}}
	if err := r.setup.Loop.Persist(sessions.PutIntent{N: r.intents, Data: wire.Encode(in), Blobs: blobs}); err != nil {
		abandon(plan)
		r.submit(nil, drop, nil) // behind the intent, wherever that is
		return nil, api.StoreError(err)
	}
	return drop, nil
}

// reach tells tests how far a request has come.
func (r *Reviewer) reach(name string) {
	if fault := r.setup.Fault; fault != nil {
		_ = fault(atomicfile.Step{Name: name})
	}
}
