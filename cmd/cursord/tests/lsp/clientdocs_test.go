//go:build unix

package lsp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// A langDoc is an open document.
type langDoc struct {
	c       *langClient
	uri     string
	path    string
	version int
	text    string
}

// A langEdit is a WorkspaceEdit.
type langEdit struct {
	Changes         map[string][]api.TextEdit
	DocumentChanges []struct {
		Kind         string
		URI          string
		OldURI       string
		NewURI       string
		TextDocument struct {
			URI     string
			Version *int
		}
		Edits []api.TextEdit
	}
}

// apply makes all changes of an edit or none, and reports them to the server. c.mu must be held.
func (c *langClient) apply(e langEdit) bool {
	for _, d := range e.DocumentChanges {
		if doc := c.docs[d.TextDocument.URI]; d.Kind == "" && (doc == nil || d.TextDocument.Version != nil && *d.TextDocument.Version != doc.version) {
			return false
		}
	}
	for uri, edits := range e.Changes {
		if c.docs[uri] == nil {
			return false
		}
		c.docs[uri].changeLocked(edits)
	}
	for _, d := range e.DocumentChanges {
		switch d.Kind {
		case "":
			c.docs[d.TextDocument.URI].changeLocked(d.Edits)
		case "delete":
			if err := os.Remove(strings.TrimPrefix(d.URI, "file://")); err != nil {
				c.t.Error(err)
			}
			c.closeLocked(d.URI)
		case "rename":
			// Like Helix, it does not rename a file that has been moved already.
			err := os.Rename(strings.TrimPrefix(d.OldURI, "file://"), strings.TrimPrefix(d.NewURI, "file://"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				c.t.Error(err)
			}
			doc := c.docs[d.OldURI]
			c.closeLocked(d.OldURI)
			if doc != nil {
				doc.uri = d.NewURI
				c.openLocked(doc)
			}
		default:
			c.t.Errorf("an edit of kind %q", d.Kind)
		}
	}
	return true
}

func (c *langClient) openLocked(d *langDoc) {
	c.docs[d.uri] = d
	raw, _ := json.Marshal(world.Obj{"textDocument": world.Obj{"uri": d.uri, "languageId": "text", "version": d.version, "text": d.text}})
	c.send(rpc.AppendRequest(nil, nil, "textDocument/didOpen", raw))
}

func (c *langClient) closeLocked(uri string) {
	if c.docs[uri] != nil {
		delete(c.docs, uri)
		raw, _ := json.Marshal(world.Obj{"textDocument": world.Obj{"uri": uri}})
		c.send(rpc.AppendRequest(nil, nil, "textDocument/didClose", raw))
	}
}

// opens opens a file of the workspace.
func (c *langClient) opens(path string) *langDoc {
	c.t.Helper()
	return c.opensFile("file://"+c.w.Path(path), c.w.Get(path))
}

func (c *langClient) opensFile(uri, text string) *langDoc {
	d := &langDoc{c: c, uri: uri, path: strings.TrimPrefix(uri, "file://"), text: text}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openLocked(d)
	return d
}

func (d *langDoc) closes() {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	d.c.closeLocked(d.uri)
}

// offset returns the offset of a position, in the agreed units.
func (d *langDoc) offset(p api.Position) int {
	at := 0
	for range p.Line {
		n := strings.IndexByte(d.text[at:], '\n')
		if n < 0 {
			return len(d.text)
		}
		at += n + 1
	}
	units := 0
	for i, r := range d.text[at:] {
		if units >= p.Character || r == '\n' {
			return at + i
		}
		switch {
		case d.c.units == "utf-8":
			units += len(string(r))
		case d.c.units == "utf-16" && r > 0xffff:
			units += 2
		default:
			units++
		}
	}
	return len(d.text)
}

// changeLocked makes edits, whose places are all in the present text, and reports them with their ranges.
func (d *langDoc) changeLocked(edits []api.TextEdit) {
	d.version++
	var changes []world.Obj
	for i := len(edits) - 1; i >= 0; i-- { // from the last one, so that the other places stay
		e := edits[i]
		from, to := d.offset(e.Range.Start), d.offset(e.Range.End)
		d.text = d.text[:from] + e.NewText + d.text[to:]
		changes = append(changes, world.Obj{"range": e.Range, "text": e.NewText})
	}
	d.tell(changes)
}

func (d *langDoc) tell(changes []world.Obj) {
	raw, _ := json.Marshal(world.Obj{"textDocument": world.Obj{"uri": d.uri, "version": d.version}, "contentChanges": changes})
	d.c.send(rpc.AppendRequest(nil, nil, "textDocument/didChange", raw))
}

// sets replaces the whole text.
func (d *langDoc) sets(text string) {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	d.version++
	d.text = text
	d.tell([]world.Obj{{"text": text}})
}

// saves writes the text to the disk.
func (d *langDoc) saves() {
	d.c.t.Helper()
	d.c.mu.Lock()
	text := d.text
	d.c.mu.Unlock()
	require.NoError(d.c.t, os.WriteFile(d.path, []byte(text), 0o644))
	d.c.notify("textDocument/didSave", world.Obj{"textDocument": world.Obj{"uri": d.uri}, "text": text})
}

func (d *langDoc) now() string {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	return d.text
}

// named returns the document's URI.
func (d *langDoc) named() string {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	return d.uri
}
