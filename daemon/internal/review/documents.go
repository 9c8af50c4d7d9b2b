package review

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// documentsMax bounds, in bytes, the text that is kept of one client's unsaved documents. What is beyond it is known to
// be unsaved, and not what it says.
const documentsMax = 256 << 20

// A document is a file that a client has open. It is not changed once others see it.
type document struct {
	client  api.ClientID
	path    string // absolute, without symlinks
	version int
	dirty   bool
	order   uint64           // of dirty ones: which was first
	held    bool             // text is there
	text    string           // as the client has it, if dirty
	base    atomicfile.State // what was on disk when it became dirty
	based   int64            // when that came there, a moment of package clock
}

// Documents are what the clients have open: written by the connections, read by the reviewers.
type Documents struct {
	reviewers func() []*Reviewer // of all workspaces

	mu      sync.Mutex
	clients api.ClientID                          // guarded by mu; the last one
	orders  uint64                                // guarded by mu; the last one
	docs    map[api.ClientID]map[string]*document // guarded by mu; by name (documentName)
	paths   map[string]map[api.ClientID]*document // guarded by mu; the dirty ones
}

// NewDocuments returns those of a daemon, whose reviewers hear of them.
func NewDocuments(reviewers func() []*Reviewer) *Documents {
	return &Documents{reviewers: reviewers, docs: map[api.ClientID]map[string]*document{}, paths: map[string]map[api.ClientID]*document{}}
}

// NewClient returns the name of a client that may open documents; CloseClient ends it.
func (ds *Documents) NewClient() api.ClientID {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.clients++
	return ds.clients
}

// CloseClient closes all documents of a client.
func (ds *Documents) CloseClient(client api.ClientID) {
	ds.mu.Lock()
	opened := ds.docs[client] != nil
	var paths []string
	for _, doc := range ds.docs[client] {
		paths = append(paths, doc.path)
		ds.dropLocked(doc)
	}
	delete(ds.docs, client)
	ds.mu.Unlock()
	for _, p := range paths {
		ds.changed(p, true)
	}
	if !opened {
		return
	}
	for _, r := range ds.reviewers() {
		r.later.Put(func() { r.forgetViews(client) })
	}
}

// Open tells that a client has a file open. Its text, if given, is what the client has; while that is not what
// is on disk, the document is unsaved: the client's diffs of the file are measured against it, and what the client
// rejects there is answered as edits. Like those below, it returns an error if it does nothing.
func (ds *Documents) Open(client api.ClientID, uri string, version int, text *string) error {
	name, err := documentName(uri)
	if err != nil {
		return err
	}
	ds.put(name, &document{client: client, path: documentPath(name), version: version}, text, true)
	return nil
}

// Change tells the whole text of an open document; one that is not newer than what is known is ignored.
func (ds *Documents) Change(client api.ClientID, uri string, version int, text string) error {
	name, old, err := ds.opened(client, uri)
	if err == nil && version > old.version {
		ds.put(name, &document{client: client, path: old.path, version: version}, &text, false)
	}
	return err
}

// Save tells that an open document is on disk now. It may be newer than what is known. A text that was known to
// be unsaved is a person's, whatever an agent does at the same time.
func (ds *Documents) Save(client api.ClientID, uri string, version *int) error {
	name, old, err := ds.opened(client, uri)
	if err != nil || version != nil && *version < old.version {
		return err
	}
	if old.held && (version == nil || *version == old.version) {
		for _, r := range ds.reviewers() {
			if rel, inside := paths.Within(r.setup.Root, old.path); inside {
				r.later.Put(func() { r.personSaved(rel, old) })
			}
		}
	}
	doc := &document{client: client, path: old.path, version: old.version}
	if version != nil {
		doc.version = *version
	}
	ds.put(name, doc, nil, true)
	return nil
}

// Close tells that a client has closed a document.
func (ds *Documents) Close(client api.ClientID, uri string) error {
	name, doc, err := ds.opened(client, uri)
	if err != nil {
		return err
	}
	ds.mu.Lock()
	if now := ds.docs[client][name]; now != nil { // a reviewer may have seen meanwhile that it is saved
		ds.dropLocked(now)
		delete(ds.docs[client], name)
	}
	ds.mu.Unlock()
	ds.changed(doc.path, true)
	return nil
}

// opened returns a document that a client has open, and its name.
func (ds *Documents) opened(client api.ClientID, uri string) (string, *document, error) {
	name, err := documentName(uri)
	if err != nil {
		return "", nil, err
	}
	doc := ds.at(client, name)
	if doc == nil {
		return "", nil, api.Errorf(api.KindNotFound, "%s is not open: document/didOpen comes first", uri)
	}
	return name, doc, nil
}

// put makes doc what is known of a document. Whether it is unsaved shows now, not later: an agent may write the
// file before the editor has noticed.
func (ds *Documents) put(name string, doc *document, text *string, atOnce bool) {
	if text != nil {
		doc.based = filestat.Of(doc.path).Changed()
		disk := atomicfile.Read(filepath.Dir(doc.path), filepath.Base(doc.path))
		doc.base = disk
		doc.dirty = !disk.Exists || !bytes.Equal(disk.Data, []byte(editorfile.LikeFile(*text, disk.Data)))
	}
	ds.mu.Lock()
	open := ds.docs[doc.client]
	if open == nil {
		open = map[string]*document{}
		ds.docs[doc.client] = open
	}
	old := open[name]
	if old != nil {
		ds.dropLocked(old)
	}
	open[name] = doc
	if doc.dirty {
		if old != nil && old.dirty {
			doc.order, doc.base, doc.based = old.order, old.base, old.based
		} else {
			ds.orders++
			doc.order = ds.orders
		}
		if doc.held = ds.textLocked(doc.client)+len(*text) <= documentsMax; doc.held {
			doc.text = *text
		} else {
			doc.base = atomicfile.State{Unreadable: "too much is unsaved"}
		}
		if ds.paths[doc.path] == nil {
			ds.paths[doc.path] = map[api.ClientID]*document{}
		}
		ds.paths[doc.path][doc.client] = doc
	}
	if !doc.dirty {
		doc.base = atomicfile.State{}
	}
	concerns := doc.dirty || old != nil && old.dirty
	ds.mu.Unlock()
	if concerns {
		ds.changed(doc.path, atOnce)
	}
}

// dropLocked forgets a document's text. ds.mu must be held.
func (ds *Documents) dropLocked(doc *document) {
	if ds.paths[doc.path][doc.client] == doc {
		delete(ds.paths[doc.path], doc.client)
		if len(ds.paths[doc.path]) == 0 {
			delete(ds.paths, doc.path)
		}
	}
}

// textLocked counts the bytes that are kept for a client. ds.mu must be held.
func (ds *Documents) textLocked(client api.ClientID) (n int) {
	for _, doc := range ds.docs[client] {
		n += len(doc.text) + len(doc.base.Data)
	}
	return n
}

func (ds *Documents) at(client api.ClientID, name string) *document {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.docs[client][name]
}

// unsaved lists the dirty documents of a path; the one that was dirty first is the first.
func (ds *Documents) unsaved(path string) []*document {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if len(ds.paths[path]) == 0 {
		return nil
	}
	var docs []*document
	for _, doc := range ds.paths[path] {
		docs = append(docs, doc)
	}
	slices.SortFunc(docs, func(a, b *document) int { return cmp.Compare(a.order, b.order) })
	return docs
}

// typed returns the unsaved document whose text an image is, or nil: a person has written that, and the editor has not
// said so yet.
func (ds *Documents) typed(path string, img atomicfile.State) *document {
	if !img.Exists || img.Target != "" {
		return nil
	}
	for _, doc := range ds.unsaved(path) {
		if doc.held && editorfile.LikeFile(doc.text, img.Data) == string(img.Data) {
			return doc
		}
	}
	return nil
}

// has reports whether a client has a path open.
func (ds *Documents) has(client api.ClientID, path string) bool {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, doc := range ds.docs[client] {
		if doc.path == path {
			return true
		}
	}
	return false
}

// saved tells that the disk holds what doc has.
func (ds *Documents) saved(doc *document) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for name, have := range ds.docs[doc.client] {
		if have == doc {
			ds.dropLocked(doc)
			ds.docs[doc.client][name] = &document{client: doc.client, path: doc.path, version: doc.version}
		}
	}
}

// changed has the reviewers look at a document, in a moment or at once.
func (ds *Documents) changed(path string, atOnce bool) {
	for _, r := range ds.reviewers() {
		if _, inside := paths.Within(r.setup.Root, path); inside {
			r.documentChanged(path, atOnce)
		}
	}
}

// documentName returns the absolute path that a URI names, by which a client's document is known: however the client writes
// the URI, and wherever links lead by then.
func documentName(uri string) (string, error) {
	path, err := paths.Local(uri)
	if err != nil {
		return "", api.Invalid("uri", "%q is not the file:// URI of a local file", plaintext.Cut(uri, 200))
	}
	return path, nil
}

// documentPath returns the file of a document, without links.
func documentPath(name string) string {
	path := paths.ResolveDirs(name)
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
	}
	return path
}
