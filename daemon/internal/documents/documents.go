// Package documents keeps the texts that clients have open and unsaved. Connections write to a [Set]; reviewers read it, and
// hear from it of changes.
package documents

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// documentsMax bounds the kept texts of one client's unsaved documents, in bytes. Beyond it the daemon knows that a document
// is unsaved, but not its text.
const documentsMax = 256 << 20

// knownMax is the largest file, in bytes, that is read because a client opens it.
const knownMax = 8 << 20

// A Document is a file that a client has open. It does not change once other goroutines see it.
type Document struct {
	Client  api.ClientID
	Path    string // absolute, without symlinks
	Version int
	dirty   bool
	Order   uint64           // among dirty ones: the lowest became dirty first
	Held    bool             // Text is kept
	Text    string           // the client's text, if the document is dirty
	Base    atomicfile.State // the file when the document became dirty
	Based   int64            // when the file got that content, a moment of package clock
	Known   *diffs.Content   // the file when the client last had the same content; nil: unknown
	Form    editorfile.Form  // what Text leaves out of the file, such as line ends; taken from Known
	formed  bool             // Form is known
	stat    filestat.Stat    // the file with the content Known
	since   []known          // what the daemon has written into the file since; empty if the document is dirty
	heard   time.Time        // when the daemon has heard of the text
	before  *known           // what the client had before it reported the text that the file has already; nil: it has reported no such text
	Editing bool             // the text equals the file, and edits of it are on their way to the client
	Echo    bool             // the text was in the file before the client reported it, which may have loaded it from there
}

// A known is a content that a client and the file had in common, with the file's state then.
type known struct {
	content diffs.Content
	stat    filestat.Stat
}

// A Reviewer of a workspace hears of changes of its documents. Its methods do not block.
type Reviewer interface {
	Root() string
	DocumentChanged(path string, atOnce bool) // it looks at once, or in a moment; path is absolute
	DocumentSaved(name string, doc *Document) // a client has saved; name is relative to Root; the Reviewer calls Set.TookIn when it has taken that in
	DocumentsClosed(client api.ClientID)      // a client is gone, with all its documents
}

// A Set has the open documents of all clients.
type Set struct {
	reviewers func() []Reviewer // of all workspaces

	mu      sync.Mutex
	clients api.ClientID                          // guarded by mu; the last one given out
	orders  uint64                                // guarded by mu; the last one given out
	docs    map[api.ClientID]map[string]*Document // guarded by mu; by name (documentName)
	paths   map[string]map[api.ClientID]*Document // guarded by mu; the dirty ones
	saves   map[*Document]int                     // guarded by mu; saved documents, with the number of reviewers that have not taken them in
}

// New returns an empty Set; reviewers lists those that hear of changes.
func New(reviewers func() []Reviewer) *Set {
	return &Set{
		reviewers: reviewers, docs: map[api.ClientID]map[string]*Document{}, paths: map[string]map[api.ClientID]*Document{},
		saves: map[*Document]int{},
	}
}

// NewClient returns an ID for a client that may open documents. CloseClient ends it.
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

// Open records that a client has a file open. text, if given, is the client's text. While the text differs from the file,
// the document is unsaved: the client's diffs of the file are compared with the text, and its rejects are answered as edits.
// saved says that the client has read the text from the file, or written it there: if the file has another, the client is about to load it.
// Open, and the methods below, have changed nothing if they return an error.
func (ds *Set) Open(client api.ClientID, uri string, version int, text *string, saved bool) error {
	name, err := documentName(uri)
	if err != nil {
		return err
	}
	ds.put(name, &Document{Client: client, Path: documentPath(name), Version: version}, text, nil, saved, true)
	return nil
}

// Change sets the whole text of an open document; saved is as in Open. It ignores a text that is not newer than the known one.
func (ds *Set) Change(client api.ClientID, uri string, version int, text string, saved bool) error {
	name, old, err := ds.opened(client, uri)
	if err == nil && version > old.Version {
		doc := &Document{Client: client, Path: old.Path, Version: version, heard: time.Now()}
		if old.Known != nil && string(old.Known.Data) != text {
			doc.before = &known{*old.Known, old.stat}
		}
		ds.put(name, doc, &text, old, saved, false)
	}
	return err
}

// Close records that a client has closed a document.
func (ds *Set) Close(client api.ClientID, uri string) error {
	name, doc, err := ds.opened(client, uri)
	if err != nil {
		return err
	}
	ds.mu.Lock()
	if now := ds.docs[client][name]; now != nil { // a reviewer may have called Saved meanwhile
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

// put stores doc in the place of was, which may be nil. It compares text and file at once, because an agent may write the file before the next look.
func (ds *Set) put(name string, doc *Document, text *string, was *Document, saved, atOnce bool) {
	var behind *diffs.Content // a saved text that the file does not have
	if text != nil {
		doc.Based = filestat.Of(doc.Path).Changed()
		disk := atomicfile.Read(filepath.Dir(doc.Path), filepath.Base(doc.Path))
		doc.Base = disk
		like := []byte(editorfile.LikeFile(*text, disk.Data, was.sendsEnds()))
		doc.dirty = !disk.Exists || !bytes.Equal(disk.Data, like)
		if doc.dirty && saved {
			doc.dirty, behind = false, &diffs.Content{Exists: true, Mode: disk.Mode, Data: like}
		}
	}
	disk := doc.Base
	if text == nil && filestat.Of(doc.Path).Size <= knownMax {
		disk = atomicfile.Read(filepath.Dir(doc.Path), filepath.Base(doc.Path))
	}
	stat := filestat.Of(doc.Path)
	if behind != nil {
		disk, stat = atomicfile.State{Content: *behind}, filestat.Stat{}
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
	if had, later := old.loaded(text); doc.dirty && had != nil {
		doc.dirty, doc.since, disk.Content, stat = false, later, had.content, had.stat
	}
	doc.setForm(old, text, disk)
	switch {
	case doc.dirty && old != nil:
		doc.Known, doc.stat = old.Known, old.stat
	case !doc.dirty && disk.Unreadable == "" && disk.Exists && disk.Target == "" && ds.textLocked(doc.Client)+len(disk.Data) <= documentsMax:
		doc.Known, doc.stat = &disk.Content, stat
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
		for _, k := range doc.since {
			n += len(k.content.Data)
		}
	}
	return n
}

func (ds *Set) at(client api.ClientID, name string) *Document {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.docs[client][name]
}

// Unsaved lists the dirty documents of a path in the order in which they became dirty.
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

// HeldElsewhere reports whether an editor that reports nothing may have a file open: an editor's swap or lock file exists for
// it, and no client has its document open.
func (ds *Set) HeldElsewhere(path string) bool {
	if !editorfile.Held(path) {
		return false
	}
	return !ds.HasAny(path)
}

// HasAny reports whether any client has a path open.
func (ds *Set) HasAny(path string) bool {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for client := range ds.docs {
		if _, doc := ds.openedLocked(client, path); doc != nil {
			return true
		}
	}
	return false
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

// Saved records that the file has the document's text.
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

// documentName returns the absolute path of a URI. A client's document has this name however the client writes the URI, and
// wherever links on the way lead later.
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
