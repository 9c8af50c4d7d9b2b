package daemon

import (
	"path/filepath"

	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// author returns who has made of a path of the work tree what it holds now: an agent whose call is open, or nil, a person.
func (r *reviewer) author(name string, img image) *diffs.Source {
	if r.w.d.docs.typed(r.shared().absolute(name), img) != nil {
		return nil
	}
	return r.shared().writer(name)
}

// writer returns the agent whose open call may have made of a path what it holds now; nil if there is none.
func (t *worktree) writer(name string) *diffs.Source {
	return t.windows.author(name, t.changedAt(name, filestat.Of(t.absolute(name))))
}

func (t *worktree) absolute(name string) string {
	if path := filepath.FromSlash(name); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.root, filepath.FromSlash(name))
}

// personSaved takes in what an editor says that a person has saved, although an agent may have written over it already.
func (r *reviewer) personSaved(name string, doc *document) {
	disk := readImage(r.w.root, name)
	if disk.odd != "" || disk.Target != "" {
		return
	}
	saved := image{Content: diffs.Content{Exists: true, Data: []byte(likeFile(doc.text, disk.Data)), Mode: disk.Mode}}
	if f := r.typedInto(name, doc, saved); f != nil {
		r.save(f)
	}
	for _, s := range r.shared().starts.list() {
		s.saved(name, saved, disk)
	}
}

// typedInto takes in that a file has come to hold what a person typed over what the document was based on, which may be
// an agent's that nobody has seen yet. It returns the file if it is under review.
func (r *reviewer) typedInto(name string, doc *document, saved image) *file {
	for _, s := range r.shared().starts.list() {
		if src := r.shared().windows.author(name, doc.based); src != nil && doc.base.odd == "" && s.older(name, doc.based) {
			fd := found{path: name, after: doc.base, source: src}
			fd.before, fd.known = s.at(name)
			r.takeFound(r.shared(), s, fd)
			s.saved(name, doc.base, saved)
		}
	}
	f := r.shared().files[name]
	if f == nil || r.load(f) != nil || r.adopt(f, saved) {
		return f
	}
	if !saved.same(image{Content: f.review.Current()}) {
		r.shared().windows.claim(nil, name) // what calls found there before is older
		f.review.Observe(saved.Content, nil)
	}
	return f
}
