//go:build unix

package world

import (
	"strings"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// A Document is a file in an editor.
type Document struct {
	E       *Editor
	Path    string
	Uri     string
	Version int
	Text    string
}

// Note sends a notification about the document.
func (d *Document) Note(method string, params Obj) {
	d.E.T.Helper()
	params["uri"], params["version"] = d.Uri, d.Version
	require.NoError(d.E.T, d.E.Client.Notify(method, params))
}

// Types replaces a part of the text.
func (d *Document) Types(old, now string) {
	d.E.T.Helper()
	require.Contains(d.E.T, d.Text, old)
	d.Set(strings.Replace(d.Text, old, now, 1))
}

// Set replaces the document's text, as typing does: the daemon hears of it, and the file stays as it is.
func (d *Document) Set(text string) {
	d.E.T.Helper()
	d.Version++
	d.Text = text
	d.Note("document/didChange", Obj{"text": text})
}

// Save writes the document to its file and tells the daemon.
func (d *Document) Save() {
	d.E.T.Helper()
	d.E.World.Put(d.Path, d.Text)
	d.Note("document/didSave", Obj{})
}

// Closes tells the daemon that the document is closed.
func (d *Document) Closes() {
	d.E.T.Helper()
	d.Note("document/didClose", Obj{})
}

// Applies makes the edits of an answer in the text, and reports them to the daemon.
func (d *Document) Applies(all []api.DocumentEdits) {
	d.E.T.Helper()
	require.Len(d.E.T, all, 1)
	require.Equal(d.E.T, d.Path, all[0].Path)
	require.Equal(d.E.T, d.Version, all[0].Version)
	lines := strings.SplitAfter(d.Text, "\n")
	offset := func(p api.Position) (n int) {
		for _, l := range lines[:p.Line] {
			n += len(utf16.Encode([]rune(l)))
		}
		return n + p.Character
	}
	units := utf16.Encode([]rune(d.Text))
	var out []uint16
	at := 0
	for _, e := range all[0].Edits {
		require.GreaterOrEqual(d.E.T, offset(e.Range.Start), at, "edits in order, that do not overlap")
		out = append(out, units[at:offset(e.Range.Start)]...)
		out = append(out, utf16.Encode([]rune(e.NewText))...)
		at = offset(e.Range.End)
	}
	d.Set(string(utf16.Decode(append(out, units[at:]...))))
}

// LateReports are the ways in which a daemon may hear of the text of a document that the test has written to the file already.
var LateReports = map[string]func(*Document){
	"late": func(d *Document) {
		d.Set(d.Text)
		d.Note("document/didSave", Obj{})
	},
	"with the save": func(d *Document) {
		d.Version++
		d.Note("document/didSave", Obj{})
	},
	"never":        func(*Document) {},
	"with its end": func(d *Document) { d.Closes() },
}
