//go:build unix

package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestLSPInput holds the server to LSP's order of messages, and to its answers to broken ones.
func TestLSPInput(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	c := lspProcess(w)
	for _, method := range []string{"textDocument/hover", "shutdown", "no/such"} {
		failed := (*rpc.Error)(nil)
		require.ErrorAs(t, c.call(method, world.Obj{}, nil), &failed)
		require.Equal(t, -32002, failed.Code, method)
		require.Contains(t, failed.Message, "before initialize")
	}
	c.notify("textDocument/didOpen", world.Obj{"textDocument": world.Obj{"uri": "file:///x", "version": 1, "text": "x"}})
	require.ErrorContains(t, c.call("initialize", []int{1}, nil), "params: must be an object")
	c.initialize(nil, world.Obj{"isolation": 3})
	require.ErrorContains(t, c.call("initialize", world.Obj{}, nil), "initialize came before")
	for _, one := range []struct{ method, params, want string }{
		{"textDocument/hover", `{}`, "textDocument: is missing"},
		{"textDocument/hover", `{"textDocument":{"uri":7},"position":{"line":0,"character":0}}`, "textDocument.uri: must be a string"},
		{"textDocument/hover", `{"textDocument":{"uri":"file:///x"},"position":{"line":"0","character":0}}`, "position.line: must be a whole number"},
		{"textDocument/codeAction", `{"textDocument":{"uri":"file:///x"},"range":5}`, "range: must be an object"},
		{"workspace/executeCommand", `{"command":"x","arguments":{}}`, "arguments: must be an array"},
		{"workspace/executeCommand", `{"command":"cursord.next","arguments":[{"line":1.5}]}`, "arguments[0].line: must be a whole number"},
		{"textDocument/rename", `{}`, "no such method: textDocument/rename"},
	} {
		require.ErrorContains(t, c.call(one.method, json.RawMessage(one.params), nil), one.want, "%s %s", one.method, one.params)
	}
	// Notifications without sense are ignored.
	for _, one := range []string{
		`"textDocument/didOpen","params":{}`, `"textDocument/didOpen","params":{"textDocument":{"uri":"::%zz","version":1,"text":"x"}}`,
		`"textDocument/didChange","params":{"textDocument":{"uri":"file:///nowhere"},"contentChanges":[{"text":"x"}]}`,
		`"textDocument/didClose","params":{"textDocument":{"uri":"file:///nowhere"}}`, `"$/anything","params":{}`, `"initialized","params":{}`,
		`"textDocument/didSave","params":{"textDocument":{"uri":"file:///nowhere"}}`, `"window/workDoneProgress/cancel","params":{"token":7}`,
		`"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"http://x","name":""}],"removed":[{"uri":"","name":""}]}}`,
		`"workspace/didChangeConfiguration","params":{"settings":{"cursord":{"isolation":["copy"]}}}`, `"workspace/didChangeWatchedFiles","params":{"changes":[]}`,
		`"$/cancelRequest","params":{"id":1}`, `"$/setTrace","params":{"value":"verbose"}`,
	} {
		c.send([]byte(`{"jsonrpc":"2.0","method":` + one + `}`))
	}
	// Changes beyond the text are made as far as they go.
	w.Put("f", "ä𝄞\n")
	d := c.opens("f")
	for _, change := range []string{
		`{"range":{"start":{"line":0,"character":99},"end":{"line":99,"character":0}},"text":"!"}`,
		`{"range":{"start":{"line":-1,"character":-5},"end":{"line":-1,"character":-9}},"text":"?"}`,
		`{"range":{"start":{"line":5,"character":0},"end":{"line":1,"character":0}},"text":"."}`,
		`{"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":3}},"text":"\u0000"}`,
	} {
		c.notify("textDocument/didChange", json.RawMessage(fmt.Sprintf(`{"textDocument":{"uri":%q,"version":null},"contentChanges":[%s]}`, d.uri, change)))
	}
	c.must("textDocument/hover", world.Obj{"textDocument": world.Obj{"uri": d.uri}, "position": world.Obj{"line": 1 << 40, "character": -1}}, nil)
	// Broken messages are answered, and the server goes on.
	for _, one := range []struct{ body, want string }{
		{`{"jsonrpc":"2.0","id":`, "-32700"}, {`[]`, "-32600"}, {`{"id":{},"method":"x"}`, "-32600"}, {`7`, "-32600"},
	} {
		c.mu.Lock()
		delete(c.answers, "null")
		c.mu.Unlock()
		c.send([]byte(one.body))
		c.until("an answer to "+one.body, func() bool { m, ok := c.answers["null"]; return ok && strings.Contains(string(m.Error), one.want) })
	}
	c.send([]byte(`{"jsonrpc":"2.0","id":"cursord-77","result":{}}`)) // an answer to no request
	c.must("shutdown", nil, nil)
	require.ErrorContains(t, c.call("textDocument/hover", world.Obj{}, nil), "shut down")
	c.notify("exit", nil)
	c.until("its end", func() bool { return c.gone })
	require.NoError(t, c.cmd.Wait())

	// An exit without shutdown and a wrong header are failures; the end of input is not.
	for _, one := range []struct {
		input string
		ok    bool
	}{
		{"Content-Length: 33\r\n\r\n" + `{"jsonrpc":"2.0","method":"exit"}`, false},
		{"nonsense\r\n\r\n", false},
		{"Content-Length: 999999999999\r\n\r\n", false},
		{"", true},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n", true},
	} {
		cmd := w.Command("lsp")
		cmd.Stdin = strings.NewReader(one.input)
		out, err := cmd.Output()
		require.Equal(t, one.ok, err == nil, "%q: %v", one.input, err)
		if strings.HasPrefix(one.input, "{") {
			require.Contains(t, string(out), `{"jsonrpc":"2.0","id":1,"result":{"capabilities":`)
			require.NotContains(t, string(out), "Content-Length", "lines for who sends lines")
		}
	}
}

// TestLSPNoDaemon: initialize is answered without a daemon, and commands are answered with an error.
func TestLSPNoDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "config.toml"), []byte("nonsense = [\n"), 0o644))
	c := lsp(w, world.LSPCapabilities(), nil)
	c.hears("window/showMessage", `"type":1`, "config.toml")
	mark := c.mark()
	c.does("cursord.ask", "x")
	c.hearsAfter(mark, "window/showMessage", `"type":1`, "config.toml")
	// Once a daemon can start, commands work.
	require.NoError(t, os.Remove(filepath.Join(w.Dir, "config.toml")))
	c.answering(allows)
	mark = c.mark()
	c.does("cursord.ask", "x")
	c.hearsAfter(mark, "window/showMessage", "done")
}

// TestLSPAnotherDatabase: a daemon that has lost its database is another one. The editor forgets the state of the first one
// and goes on.
func TestLSPAnotherDatabase(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	w.Plays(world.Lines(world.Edits("c", "f", "1\n", "1\n2\n"))...)
	w.Start()
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), nil)
	c.turn()
	c.waitsForHunks("f", 1)
	// Removed first: the language server may start the next daemon as soon as this one has ended.
	require.NoError(t, os.Remove(filepath.Join(w.Dir, "state", "cursord.db")))
	w.Kill()
	w.ComesBack()
	c.waitsForHunks("f", 0)
	c.answering(allows)
	w.Plays(world.Lines(world.Edits("c", "f", "1\n2\n", "1\n2\n3\n"))...)
	c.turn()
	c.waitsForHunks("f", 1)
	require.Equal(t, "1\n2\n3\n", w.Get("f"))
}
