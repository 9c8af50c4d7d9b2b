package review

import (
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/stored"
	"cursord/daemon/internal/wire"
	"cursord/diffs"
	"cursord/sessions"
)

// intend makes a plan durable if it has anything to write. It returns the operations that drop the intent again. If the
// store takes no changes now, it takes the plan back and returns the store's error.
func (r *Reviewer) intend(in stored.Intent, plan []*planned) (drop []sessions.Op, err error) {
	plan = slices.DeleteFunc(slices.Clone(plan), func(p *planned) bool { return p == nil })
	if !slices.ContainsFunc(plan, func(p *planned) bool { return p.change.Writes() }) {
		return nil, nil
	}
	in.Group.Files, in.Group.Rejections = nil, nil
	var blobs [][]byte
	for _, p := range plan {
		c := p.change
		state, contents := p.f.state()
		in.Files = append(in.Files, stored.IntendedFile{
			Session: p.f.tree.Session, Copy: c.in.Isolated(), From: c.From, To: c.To, Temp: c.Temp, Before: stored.ContentOf(c.Before.Content), After: stored.ContentOf(c.After),
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
	// The result is stored after the files are written, so the store must have room for both.
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
		r.submit(nil, drop, nil) // after the intent, which may be stored or not
		return nil, api.StoreError(err)
	}
	return drop, nil
}

// reach lets tests stop the daemon at a step of a request.
func (r *Reviewer) reach(name string) {
	if fault := r.setup.Fault; fault != nil {
		_ = fault(atomicfile.Step{Name: name})
	}
}
