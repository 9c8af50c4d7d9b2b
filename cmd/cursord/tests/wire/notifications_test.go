//go:build unix

package wire

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/paths"
)

// TestNotificationsThatDoNothingSaySo: mistakes in notifications have no answer, so a log/message reports them, once for
// each kind of mistake and connection.
func TestNotificationsThatDoNothingSaySo(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Hostile = true
	w.Put("f", "text\n")
	w.Start()
	uri := "file://" + w.Path("f")
	for _, c := range []struct{ method, params, level, says string }{
		{"document/didChange", `{"uri":"` + uri + `","version":2,"text":"x"}`, "warning", "is not open"},
		{"document/didSave", `{"uri":"` + uri + `"}`, "warning", "is not open"},
		{"document/didClose", `{"uri":"` + uri + `"}`, "warning", "is not open"},
		{"document/didOpen", `{"textDocument":{"uri":"` + uri + `","version":1,"text":"x"}}`, "warning", "textDocument"},
		{"document/didChange", `{"textDocument":{"uri":"` + uri + `","version":1},"contentChanges":[{"text":"x"}]}`, "warning", "textDocument"},
		{"document/didOpen", `{"version":1}`, "warning", "uri: is missing"},
		{"document/didOpen", `{"uri":"f","text":"x"}`, "warning", "file://"},
		{"document/didOpen", `{"uri":"untitled:1","text":"x"}`, "warning", "file://"},
		{"document/didOpen", `{"uri":"` + uri + `#L5","text":"x"}`, "warning", "file://"},
		{"document/didOpen", `{"uri":"` + w.Path("f") + `"}`, "warning", uri},
		{"textDocument/didOpen", `{}`, "debug", "textDocument/didOpen"},
		{"turn/start", `{"workspace":"` + w.Root + `","prompt":"x"}`, "warning", "is a request and needs an id"},
		{"shutdown", `{}`, "warning", "is a request and needs an id"},
	} {
		e := w.Joins()
		e.Must("initialize", world.Obj{"clientInfo": world.Obj{"name": "test"}}, nil)
		for range 3 {
			require.NoError(t, e.Client.Notify(c.method, json.RawMessage(c.params)))
		}
		e.Must("session/list", world.Obj{}, nil) // a barrier: the messages have arrived
		var told []string
		for _, n := range e.All() {
			if n.Method == "log/message" {
				told = append(told, n.Level+": "+n.Message)
			}
		}
		require.Len(t, told, 1, "%s %s", c.method, c.params)
		require.True(t, strings.HasPrefix(told[0], c.level+": "), told[0])
		require.Contains(t, told[0], c.says)
		require.Contains(t, told[0], c.method)
	}

	// No mistake gives no message, and even many kinds give at most 101.
	e := w.Joins()
	e.Must("initialize", world.Obj{}, nil)
	require.NoError(t, e.Client.Notify("initialized", world.Obj{}))
	d := &world.Document{E: e, Path: "f", Uri: uri, Version: 1, Text: "text\n"}
	d.Note("document/didOpen", world.Obj{})
	d.Set("more\n")
	d.Save()
	d.Closes()
	e.Must("session/list", world.Obj{}, nil)
	require.Empty(t, e.All())
	for range 2 {
		for i := range 120 {
			require.NoError(t, e.Client.Notify("document/didSave", world.Obj{"uri": fmt.Sprintf("%s%d", uri, i)}))
		}
	}
	e.Must("session/list", world.Obj{}, nil)
	messages := e.All()
	require.Contains(t, messages[99].Message, "f99", "the same mistake in another file is told")
	require.Contains(t, messages[100].Message, "further ones are not")
	require.Len(t, messages, 101)
}

// TestOneDocumentByAnyURI opens, changes and closes a document, each time with another spelling of its URI.
func TestOneDocumentByAnyURI(t *testing.T) {
	t.Parallel()
	const name = "a b/ü.txt"
	before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{5: "agent 5\n"})
	w, e := world.Reviewing(t, name, before, after)
	dir := filepath.Dir(filepath.Dir(w.Path(name)))
	spellings := []string{
		paths.URI(w.Path(name)), "file://" + w.Path(name), "file:" + w.Path(name), "file://localhost" + w.Path(name),
		"FILE://" + dir + "/a%20b/%C3%BC.txt", "file://" + dir + "/a%20b/%c3%bc.txt", "file://" + dir + "/a%20b/./%C3%BC%2Etxt", w.Path(name),
	}
	for i, uri := range spellings {
		other := spellings[(i+1)%len(spellings)]
		last := spellings[(i+2)%len(spellings)]
		d := &world.Document{E: e, Path: name, Uri: uri, Version: 1, Text: after}
		d.Note("document/didOpen", world.Obj{"text": after})
		d.Uri = other
		d.Set(strings.Replace(after, "agent 5\n", "typed\n", 1))
		require.NotContains(t, e.Diffs()[name].Hunks[0].Lines, "+agent 5", "the change of %s counts for %s", other, uri)
		d.Uri = last
		d.Closes()
		require.Contains(t, e.Diffs()[name].Hunks[0].Lines, "+agent 5", "%s closes %s", last, uri)
		var list struct{ Diffs []struct{ Path string } }
		e.Must("diff/list", world.Obj{"workspace": w.Root, "path": uri}, &list)
		require.Len(t, list.Diffs, 1, uri)
	}
	for _, n := range e.All() {
		require.NotContains(t, n.Message, "did nothing")
	}
}
