package review

import (
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/unsaved"
	"cursord/diffs"
)

// author returns the agent that made the present content of a path of the work tree; nil is a person. since is the last look at it, or 0.
func (r *Reviewer) author(name string, img atomicfile.State, since int64) *diffs.Source {
	t := r.shared()
	if r.setup.Documents.Typed(t.Absolute(name), img) != nil {
		return nil
	}
	st := filestat.Of(t.Absolute(name))
	c := snapshot.ChangeTime{Path: name, When: t.ChangedAt(name, st), Since: since}
	if starts := t.Starts.All(); since != 0 && len(starts) > 0 {
		c.Earlier = starts[len(starts)-1].EarlierOf(name, since, st.Written(), c.When)
	}
	return t.WriterAt(c, nil)
}

// Root returns the workspace's folder.
func (r *Reviewer) Root() string { return r.setup.Root }

// DocumentSaved has the reviewer take in a document that a person has saved.
func (r *Reviewer) DocumentSaved(name string, doc *documents.Document) {
	r.later.Put(func() {
		defer r.setup.Documents.TookIn(doc)
		r.personSaved(name, doc)
	})
}

// personSaved takes in a document that a person has saved, although an agent may have written the file again already.
// It returns false if it has only noted the save, until the open calls that name the file have ended.
func (r *Reviewer) personSaved(name string, doc *documents.Document) bool {
	disk := atomicfile.Read(r.setup.Root, name)
	if disk.Unreadable != "" || disk.Target != "" {
		return true
	}
	saved := atomicfile.State{Content: diffs.Content{Exists: true, Data: []byte(doc.LikeFile(disk.Data)), Mode: disk.Mode}}
	if doc.Echo {
		if f := r.shared().files[name]; f != nil && saved.Same(disk) && r.load(f) == nil && r.takeSave(f, disk) {
			r.save(f)
		}
		return true
	}
	if r.savedInACall(name, doc, saved) {
		return false
	}
	if f := r.typedInto(name, doc, saved, disk); f != nil {
		r.save(f)
	}
	for _, s := range r.shared().Starts.All() {
		s.Saved(name, saved, disk)
	}
	return true
}

// savedInACall notes a person's save of a file while open calls name the file. Once these have ended, attribution.Chain
// orders their writes and the save. It returns false if no open call names the file.
func (r *Reviewer) savedInACall(name string, doc *documents.Document, saved atomicfile.State) bool {
	ledger := &r.shared().Ledger
	if !ledger.Pending(name) {
		return false
	}
	b := unsaved.Of(doc)
	if f := r.shared().files[name]; f != nil && r.load(f) == nil {
		if known := f.Buffers[doc.Client]; known != nil && known.Review != nil && known.Text() == string(saved.Data) {
			b = known.Copy() // as it was saved, because the client may go on typing
		}
	}
	r.saves.Keep(name, saved.Data, b)
	if last, at := r.lastSeen(name); doc.Base.Unreadable == "" && doc.Based > at && !last.Same(doc.Base) {
		ledger.Look(name, attribution.Look{Content: doc.Base.Content, At: doc.Based}) // the person typed over this content
	}
	return ledger.Look(name, attribution.Look{Content: saved.Content, At: clock.Now(), Person: true})
}

// lookInACall notes the present content of a file while open calls name it, unless somebody is just writing it.
func (r *Reviewer) lookInACall(f *file) {
	full, at := r.absolute(f), clock.Now()
	st := filestat.Of(full)
	if st.Size == 0 || clock.Now()-st.Written() < int64(quietTime) {
		return
	}
	if img := atomicfile.Read(r.setup.Root, f.path); img.Unreadable == "" && filestat.Of(full) == st {
		f.tree.Ledger.Look(f.path, attribution.Look{Content: img.Content, At: at})
	}
}

// lastSeen returns the content of a path of the work tree at the last look, and the moment of the look; 0 if that is unknown.
func (r *Reviewer) lastSeen(name string) (_ atomicfile.State, at int64) {
	if f := r.shared().files[name]; f != nil && f.Review != nil && f.Review.Pending() {
		return atomicfile.State{Content: f.Review.Current()}, f.lookedAt
	}
	if c, known := r.shared().StartAt(name); known {
		return atomicfile.State{Content: c}, 0
	}
	return atomicfile.State{Unreadable: "nothing is known of it"}, 0
}

// typedInto takes in a file that a person has saved over the document's base; the base may be an agent's content that the
// reviewer has not seen yet. It returns the file if it is under review, else nil.
func (r *Reviewer) typedInto(name string, doc *documents.Document, saved, disk atomicfile.State) *file {
	for _, s := range r.shared().Starts.All() {
		if src := r.shared().WriterAt(snapshot.ChangeTime{Path: name, When: doc.Based}, nil); src != nil && doc.Base.Unreadable == "" && s.Older(name, doc.Based) {
			fd := snapshot.Change{Path: name, After: doc.Base, Source: src}
			fd.Before, fd.Known = s.At(name)
			r.takeScanned(r.shared(), s, fd)
			s.Saved(name, doc.Base, saved)
		}
	}
	f := r.shared().files[name]
	if f == nil || r.load(f) != nil {
		return f
	}
	f.giveUpSave(doc, saved, disk)
	if r.takeSave(f, saved) {
		return f
	}
	if !saved.Same(atomicfile.State{Content: f.Review.Current()}) {
		r.bringBack(f, saved.Content)
		before := f.Review.Copy()
		f.Review.Observe(saved.Content, nil)
		r.putAway(f, before)
	}
	return f
}
