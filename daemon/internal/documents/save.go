package documents

import (
	"bytes"
	"path/filepath"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// inOneGo is the longest time between the reports of a text and of its save by an editor that changes the text as a part of the save,
// for instance formats it.
const inOneGo = 500 * time.Millisecond

// Save records that a client has saved a document. The saved text is a person's, whatever an agent writes at the same time:
// the known unsaved text or, if version is higher than that of the last known text, the content of the file. An Echo, which the client
// may have loaded, only takes rejects back.
func (ds *Set) Save(client api.ClientID, uri string, version *int) error {
	name, old, err := ds.opened(client, uri)
	if err != nil || version != nil && *version < old.Version {
		return err
	}
	doc := &Document{Client: client, Path: old.Path, Version: old.Version}
	if version != nil {
		doc.Version = *version
	}
	saved := old.savedAs(doc.Version)
	var concerned []Reviewer
	if saved != nil {
		for _, r := range ds.reviewers() {
			if _, inside := paths.Within(r.Root(), old.Path); inside {
				concerned = append(concerned, r)
			}
		}
	}
	if len(concerned) > 0 && !saved.Echo { // from here on, a look at the file finds the person's text
		ds.mu.Lock()
		ds.saves[saved] += len(concerned)
		ds.mu.Unlock()
	}
	tell := func() {
		for _, r := range concerned {
			rel, _ := paths.Within(r.Root(), old.Path)
			r.DocumentSaved(rel, saved)
		}
	}
	if saved == old {
		tell() // the reviewers' buffers still have this text
		tell = func() {}
	}
	ds.put(name, doc, nil, nil, false, true)
	tell()
	ds.changed(old.Path, true) // for a copy, the file's text tells what is decided, though it may be nothing new here
	return nil
}

// unsaid is the base of a text that may have been saved before it was reported.
var unsaid = atomicfile.State{Unreadable: "the client has not said when it began to change the text"}

// savedAs returns doc as its client has saved it with a version; nil if nothing is known to be new in that.
func (doc *Document) savedAs(version int) *Document {
	if version == doc.Version {
		if doc.Held {
			return doc
		}
		if doc.before != nil && doc.Known != nil {
			was := doc.before
			saved := &Document{
				Client: doc.Client, Path: doc.Path, Version: version, Held: true, Text: string(doc.Known.Data), Base: unsaid, Known: &was.content, Echo: true,
			}
			if doc.wroteFirst() {
				saved.Echo, saved.Base, saved.Based = false, atomicfile.State{Content: was.content}, was.stat.Changed()
			}
			return saved
		}
		return nil // it equals the file since the client has opened, loaded or saved it
	}
	disk := atomicfile.Read(filepath.Dir(doc.Path), filepath.Base(doc.Path))
	if disk.Unreadable != "" || !disk.Exists || disk.Target != "" {
		return nil
	}
	if doc.Held && !doc.Editing && doc.LikeFile(disk.Data) == string(disk.Data) {
		return doc
	}
	if doc.Known != nil && bytes.Equal(doc.Known.Data, disk.Data) {
		return nil // the client has had this text before
	}
	saved := &Document{
		Client: doc.Client, Path: doc.Path, Version: version, Held: true, Text: string(disk.Data),
		Base: doc.Base, Based: doc.Based, Known: doc.Known,
	}
	if !doc.dirty {
		saved.Base = unsaid
	}
	return saved
}

// wroteFirst reports whether the client had saved doc before the daemon heard of its text, and has not loaded that text: it reports the save
// right after the text, and nobody has written the file in between. A client that loads a text and saves it writes the file again.
// Zed does not write it again, but there a person presses the key, which takes longer.
func (doc *Document) wroteFirst() bool {
	return time.Since(doc.heard) < inOneGo && doc.stat.Slack() <= filestat.RacyTime && doc.stat.Touched(filestat.Of(doc.Path))
}

// TookIn reports that a reviewer has taken in a saved text, or ends without it.
func (ds *Set) TookIn(doc *Document) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.saves[doc]--; ds.saves[doc] <= 0 {
		delete(ds.saves, doc)
	}
}

// Typed returns the document with the same text as img, or nil. A person has typed that text: it is unsaved, or was saved
// and not all reviewers have taken that in.
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
		if doc.Held && doc.LikeFile(img.Data) == string(img.Data) {
			return doc
		}
	}
	return nil
}
