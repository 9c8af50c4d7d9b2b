package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"cursord/daemon/paths"

	"github.com/stretchr/testify/require"
)

// TestNotificationsThatDoNothingSaySo: what is wrong with a notification cannot be answered, so a log/message says it, once
// for each kind of mistake and connection.
func TestNotificationsThatDoNothingSaySo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hostile = true
	w.put("f", "text\n")
	w.start()
	uri := "file://" + w.path("f")
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
		{"document/didOpen", `{"uri":"` + w.path("f") + `"}`, "warning", uri},
		{"textDocument/didOpen", `{}`, "debug", "textDocument/didOpen"},
		{"turn/start", `{"workspace":"` + w.ws + `","prompt":"x"}`, "warning", "is a request and needs an id"},
		{"shutdown", `{}`, "warning", "is a request and needs an id"},
	} {
		e := w.joins()
		e.must("initialize", obj{"clientInfo": obj{"name": "test"}}, nil)
		for range 3 {
			require.NoError(t, e.c.Notify(c.method, json.RawMessage(c.params)))
		}
		e.must("session/list", obj{}, nil) // what was said before it has been told
		var told []string
		for _, n := range e.all() {
			if n.Method == "log/message" {
				told = append(told, n.Level+": "+n.Message)
			}
		}
		require.Len(t, told, 1, "%s %s", c.method, c.params)
		require.True(t, strings.HasPrefix(told[0], c.level+": "), told[0])
		require.Contains(t, told[0], c.says)
		require.Contains(t, told[0], c.method)
	}

	// However many kinds of mistakes there are, and none where there is no mistake.
	e := w.joins()
	e.must("initialize", obj{}, nil)
	require.NoError(t, e.c.Notify("initialized", obj{}))
	d := &doc{e: e, path: "f", uri: uri, version: 1, text: "text\n"}
	d.note("document/didOpen", obj{})
	d.set("more\n")
	d.save()
	d.closes()
	e.must("session/list", obj{}, nil)
	require.Empty(t, e.all())
	for range 2 {
		for i := range 120 {
			require.NoError(t, e.c.Notify("document/didSave", obj{"uri": fmt.Sprintf("%s%d", uri, i)}))
		}
	}
	e.must("session/list", obj{}, nil)
	messages := e.all()
	require.Contains(t, messages[99].Message, "f99", "the same mistake in another file is told")
	require.Contains(t, messages[100].Message, "more are not")
	require.Len(t, messages, 101)
}

// TestOneDocumentByAnyURI opens, changes and closes a document, each time with its URI written otherwise.
func TestOneDocumentByAnyURI(t *testing.T) {
	t.Parallel()
	const name = "a b/ü.txt"
	before, after := numbered(10, nil), numbered(10, map[int]string{5: "agent 5\n"})
	w, e := reviewing(t, name, before, after)
	dir := filepath.Dir(filepath.Dir(w.path(name)))
	spellings := []string{
		paths.URI(w.path(name)), "file://" + w.path(name), "file:" + w.path(name), "file://localhost" + w.path(name),
		"FILE://" + dir + "/a%20b/%C3%BC.txt", "file://" + dir + "/a%20b/%c3%bc.txt", "file://" + dir + "/a%20b/./%C3%BC%2Etxt", w.path(name),
	}
	for i, uri := range spellings {
		other := spellings[(i+1)%len(spellings)]
		last := spellings[(i+2)%len(spellings)]
		d := &doc{e: e, path: name, uri: uri, version: 1, text: after}
		d.note("document/didOpen", obj{"text": after})
		d.uri = other
		d.set(strings.Replace(after, "agent 5\n", "typed\n", 1))
		require.NotContains(t, e.diffs()[name].Hunks[0].Lines, "+agent 5", "the change of %s counts for %s", other, uri)
		d.uri = last
		d.closes()
		require.Contains(t, e.diffs()[name].Hunks[0].Lines, "+agent 5", "%s closes %s", last, uri)
		var list struct{ Diffs []struct{ Path string } }
		e.must("diff/list", obj{"workspace": w.ws, "path": uri}, &list)
		require.Len(t, list.Diffs, 1, uri)
	}
	for _, n := range e.all() {
		require.NotContains(t, n.Message, "did nothing")
	}
}
