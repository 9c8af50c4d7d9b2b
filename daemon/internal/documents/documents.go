// Package documents knows what clients have open and unsaved. A [Set] is written by the connections and read by the reviewers,
// which it tells of changes; it is the one that owns the texts.
package documents

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
	"cursord/diffs"
)

// documentsMax bounds, in bytes, the text that is kept of one client's unsaved documents. What is beyond it is known to
// be unsaved, and not what it says.
const documentsMax = 256 << 20

// knownMax is the size, in bytes, up to which a file is read because a client has it.
const knownMax = 8 << 20

// A Document is a file that a client has open. It is not changed once others see it.
type Document struct {
	Client  api.ClientID
	Path    string // absolute, without symlinks
	Version int
	dirty   bool
	Order   uint64           // of dirty ones: which was first
	Held    bool             // text is there
	Text    string           // as the client has it, if dirty
	Base    atomicfile.State // what was on disk when it became dirty
	Based   int64            // when that came there, a moment of package clock
	Known   *diffs.Content   // what was on disk when the client had that last; nil: that is not known
	Form    editorfile.Form  // of the text, beside Known
	formed  bool             // Form is known
	Editing bool             // it is what the disk holds, and edits of it are on their way to the client
}

// A Reviewer of a workspace hears of documents in it. Its methods do not block.
type Reviewer interface {
	Root() string
	DocumentChanged(path string, atOnce bool) // at once, or in a moment; path is absolute
	DocumentSaved(name string, doc *Document) // a client says so; name is relative to Root; Set.TookIn ends it
	DocumentsClosed(client api.ClientID)      // all of a client that is gone
}

// A Set is what the clients have open.
type Set struct {
	reviewers func() []Reviewer // of all workspaces

	mu      sync.Mutex
	clients api.ClientID                          // guarded by mu; the last one
	orders  uint64                                // guarded by mu; the last one
	docs    map[api.ClientID]map[string]*Document // guarded by mu; by name (documentName)
	paths   map[string]map[api.ClientID]*Document // guarded by mu; the dirty ones
	saves   map[*Document]int                     // guarded by mu; saved ones, and how many reviewers have not taken that in
}

// New returns that of a daemon, whose reviewers hear of it.
func New(reviewers func() []Reviewer) *Set {
	return &Set{
		reviewers: reviewers, docs: map[api.ClientID]map[string]*Document{}, paths: map[string]map[api.ClientID]*Document{},
		saves: map[*Document]int{},
	}
}

// NewClient returns the name of a client that may open documents; CloseClient ends it.
func (ds *Set) NewClient() api.ClientID {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.clients++
	return ds.clients
}

// CloseClient closes all documents of a client.
func (ds *Set) CloseClient(client api.ClientID) {
	ds.mu.Lock()
	opened := ds.docs[client] != nil
	var paths []string
	for _, doc := range ds.docs[client] {
		paths = append(paths, doc.Path)
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
		r.DocumentsClosed(client)
	}
}

// Open records that a client has a file open. Its text, if given, is what the client has; while that is not what
// is on disk, the document is unsaved: the client's diffs of the file are measured against it, and what the client
// rejects there is answered as edits. Like those below, it returns an error if it does nothing.
func (ds *Set) Open(client api.ClientID, uri string, version int, text *string) error {
	name, err := documentName(uri)
	if err != nil {
		return err
	}
	ds.put(name, &Document{Client: client, Path: documentPath(name), Version: version}, text, true)
	return nil
}

// Change sets the whole text of an open document. A text that is not newer than the known one is ignored.
func (ds *Set) Change(client api.ClientID, uri string, version int, text string) error {
	name, old, err := ds.opened(client, uri)
	if err == nil && version > old.Version {
		ds.put(name, &Document{Client: client, Path: old.Path, Version: version}, &text, false)
	}
	return err
}

// Save records that an open document is on disk now. It may be newer than what is known. A text that was known to
// be unsaved is a person's, whatever an agent does at the same time.
func (ds *Set) Save(client api.ClientID, uri string, version *int) error {
	name, old, err := ds.opened(client, uri)
	if err != nil || version != nil && *version < old.Version {
		return err
	}
	if old.Held && (version == nil || *version == old.Version) {
		for _, r := range ds.reviewers() {
			if rel, inside := paths.Within(r.Root(), old.Path); inside {
				ds.mu.Lock()
				ds.saves[old]++
				ds.mu.Unlock()
				r.DocumentSaved(rel, old)
			}
		}
	}
	doc := &Document{Client: client, Path: old.Path, Version: old.Version}
	if version != nil {
		doc.Version = *version
	}
	ds.put(name, doc, nil, true)
	return nil
}

// TookIn reports that a reviewer has taken in a saved text, or never will.
func (ds *Set) TookIn(doc *Document) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.saves[doc]--; ds.saves[doc] <= 0 {
		delete(ds.saves, doc)
	}
}

// Close records that a client has closed a document.
func (ds *Set) Close(client api.ClientID, uri string) error {
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
	ds.changed(doc.Path, true)
	return nil
}

// opened returns a document that a client has open, and its name.
func (ds *Set) opened(client api.ClientID, uri string) (string, *Document, error) {
	name, err := documentName(uri)
	if err != nil {
		return "", nil, err
	}
	doc := ds.at(client, name)
	if doc == nil {
		return "", nil, api.Errorf(api.KindNotFound, "%s is not open: send document/didOpen first", uri)
	}
	return name, doc, nil
}

// put makes doc what is known of a document. Whether it is unsaved shows now, not later: an agent may write the
// file before the editor has noticed.
func (ds *Set) put(name string, doc *Document, text *string, atOnce bool) {
	if text != nil {
		doc.Based = filestat.Of(doc.Path).Changed()
		disk := atomicfile.Read(filepath.Dir(doc.Path), filepath.Base(doc.Path))
		doc.Base = disk
		doc.dirty = !disk.Exists || !bytes.Equal(disk.Data, []byte(editorfile.LikeFile(*text, disk.Data)))
	}
	disk := doc.Base
	if text == nil && filestat.Of(doc.Path).Size <= knownMax {
		disk = atomicfile.Read(filepath.Dir(doc.Path), filepath.Base(doc.Path))
	}
	ds.mu.Lock()
	open := ds.docs[doc.Client]
	if open == nil {
		open = map[string]*Document{}
		ds.docs[doc.Client] = open
	}
	old := open[name]
	if old != nil {
		ds.dropLocked(old)
	}
	open[name] = doc
	doc.setForm(old, text, disk)
	switch {
	case doc.dirty && old != nil:
		doc.Known = old.Known
	case !doc.dirty && disk.Unreadable == "" && disk.Exists && disk.Target == "" && ds.textLocked(doc.Client)+len(disk.Data) <= documentsMax:
		doc.Known = &disk.Content
	}
	if doc.dirty {
		if old != nil && old.dirty {
			doc.Order, doc.Base, doc.Based = old.Order, old.Base, old.Based
		} else {
			ds.orders++
			doc.Order = ds.orders
		}
		if doc.Held = ds.textLocked(doc.Client)+len(*text) <= documentsMax; doc.Held {
			doc.Text = *text
		} else {
			doc.Base = atomicfile.State{Unreadable: "too much is unsaved"}
		}
		if ds.paths[doc.Path] == nil {
			ds.paths[doc.Path] = map[api.ClientID]*Document{}
		}
		ds.paths[doc.Path][doc.Client] = doc
	}
	if !doc.dirty {
		doc.Base = atomicfile.State{}
	}
	concerns := doc.dirty || old != nil && old.dirty
	ds.mu.Unlock()
	if concerns {
		ds.changed(doc.Path, atOnce)
	}
}

// dropLocked forgets a document's text. ds.mu must be held.
func (ds *Set) dropLocked(doc *Document) {
	if ds.paths[doc.Path][doc.Client] == doc {
		delete(ds.paths[doc.Path], doc.Client)
		if len(ds.paths[doc.Path]) == 0 {
			delete(ds.paths, doc.Path)
		}
	}
}

// textLocked counts the bytes that are kept for a client. ds.mu must be held.
func (ds *Set) textLocked(client api.ClientID) (n int) {
	for _, doc := range ds.docs[client] {
		n += len(doc.Text) + len(doc.Base.Data)
		if doc.Known != nil {
			n += len(doc.Known.Data)
		}
	}
	return n
}

func (ds *Set) at(client api.ClientID, name string) *Document {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.docs[client][name]
}

// Unsaved lists the dirty documents of a path; the one that was dirty first is the first.
func (ds *Set) Unsaved(path string) []*Document {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if len(ds.paths[path]) == 0 {
		return nil
	}
	var docs []*Document
	for _, doc := range ds.paths[path] {
		docs = append(docs, doc)
	}
	slices.SortFunc(docs, func(a, b *Document) int { return cmp.Compare(a.Order, b.Order) })
	return docs
}

// Typed returns the document whose text an image is, or nil: a person has written that, and the editor has not said so yet,
// or not all reviewers have taken in that it has.
func (ds *Set) Typed(path string, img atomicfile.State) *Document {
	if !img.Exists || img.Target != "" {
		return nil
	}
	docs := ds.Unsaved(path)
	ds.mu.Lock()
	for doc := range ds.saves {
		if doc.Path == path {
			docs = append(docs, doc)
		}
	}
	ds.mu.Unlock()
	for _, doc := range docs {
		if doc.Held && editorfile.LikeFile(doc.Text, img.Data) == string(img.Data) {
			return doc
		}
	}
	return nil
}

// Has reports whether a client has a path open.
func (ds *Set) Has(client api.ClientID, path string) bool { return ds.Opened(client, path) != nil }

// Opened returns the document of a path that a client has open; nil if there is none.
func (ds *Set) Opened(client api.ClientID, path string) *Document {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	_, doc := ds.openedLocked(client, path)
	return doc
}

func (ds *Set) openedLocked(client api.ClientID, path string) (string, *Document) {
	for name, doc := range ds.docs[client] {
		if doc.Path == path {
			return name, doc
		}
	}
	return "", nil
}

// Within reports whether a client has a document open that lies in a folder.
func (ds *Set) Within(root string) bool {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, open := range ds.docs {
		for _, doc := range open {
			if _, inside := paths.Within(root, doc.Path); inside {
				return true
			}
		}
	}
	return false
}

// Saved reports that the disk holds the document's text.
func (ds *Set) Saved(doc *Document) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for name, have := range ds.docs[doc.Client] {
		if have == doc {
			ds.dropLocked(doc)
			ds.docs[doc.Client][name] = &Document{
				Client: doc.Client, Path: doc.Path, Version: doc.Version, Known: &diffs.Content{Exists: true, Data: []byte(doc.Text)}, Form: doc.Form, formed: doc.formed,
			}
		}
	}
}

// changed has the reviewers look at a document, in a moment or at once.
func (ds *Set) changed(path string, atOnce bool) {
	for _, r := range ds.reviewers() {
		if _, inside := paths.Within(r.Root(), path); inside {
			r.DocumentChanged(path, atOnce)
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
