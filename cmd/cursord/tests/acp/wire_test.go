//go:build unix

package acp

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestTheSchemaIsThere: the other tests hold messages against the published schema only where it is.
func TestTheSchemaIsThere(t *testing.T) { world.RequireACPSchema(t) }

// TestRecordings holds the golden files of package updates against the published schema.
func TestRecordings(t *testing.T) {
	world.RequireACPSchema(t)
	files, err := filepath.Glob(world.Top("editors", "acp", "updates", "testdata", "*.out.ndjson"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			world.CheckACP(t, "SessionNotification", json.RawMessage(`{"sessionId":"s","update":`+line+`}`))
		}
	}
}

// TestInitializeWithoutDaemon: initialize is answered where no daemon can be, by any client.
func TestInitializeWithoutDaemon(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]any{
		"nothing":   nil,
		"newest":    world.Obj{"protocolVersion": 99, "clientCapabilities": world.Obj{}},
		"Lua":       world.Obj{"protocolVersion": 1, "clientCapabilities": []any{}, "clientInfo": []any{}},
		"odd types": world.Obj{"protocolVersion": "2025-06-18", "clientCapabilities": world.Obj{"fs": []any{}, "terminal": "yes"}, "clientInfo": nil},
		"an array":  []any{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			c := starts(w, "CURSORD_STATE_DIR=/dev/null/nowhere")
			var result struct {
				ProtocolVersion   int
				AgentCapabilities struct {
					LoadSession bool
					Meta        struct{ Cursord struct{ Methods []string } } `json:"_meta"`
				}
				AgentInfo struct{ Name, Version string }
			}
			c.must("initialize", params, &result)
			require.Equal(t, 1, result.ProtocolVersion)
			require.True(t, result.AgentCapabilities.LoadSession)
			require.Equal(t, "cursord", result.AgentInfo.Name)
			require.Contains(t, result.AgentCapabilities.Meta.Cursord.Methods, "_cursord/diff/accept")
			e := c.fails("session/new", world.Obj{"cwd": w.Root, "mcpServers": []any{}})
			require.Equal(t, -32603, e.Code)
			require.NotEmpty(t, e.Data.Hint, e.Message)
			require.Equal(t, -32600, c.fails("initialize", params).Code)
		})
	}
}

// TestLines: each line is answered as JSON-RPC says, and the next one counts.
func TestLines(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	c := starts(w)
	for _, one := range []struct {
		line, id string
		code     int
	}{
		{"hello", "null", -32700}, {`{"jsonrpc":"2.0",`, "null", -32700}, {"\xff\xfe", "null", -32700}, {"[]", "null", -32600},
		{`[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, "null", -32600}, {"5", "null", -32600}, {`{"jsonrpc":"2.0","id":true,"method":"x"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":7,"method":7}`, "7", -32600}, {`{"jsonrpc":"2.0","id":"a","method":"x","params":3}`, `"a"`, -32600},
		{`{"jsonrpc":"2.0","id":3,"method":"session/new","params":{}}`, "3", -32600}, // before initialize
		{`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":[]}}`, "4", 0},
		{``, "", 0}, {"   ", "", 0},
		{`{"jsonrpc":"2.0","id":1.0,"method":"no/such"}`, "1.0", -32601}, {`{"jsonrpc":"2.0","id":"ü\n","method":"_other/thing"}`, `"ü\n"`, -32601},
		{`{"jsonrpc":"2.0","id":null,"method":"no/such"}`, "null", -32601}, {`{"jsonrpc":"2.0","id":-5,"method":"session/set_model","params":{}}`, "-5", -32601},
		{`{"jsonrpc":"2.0","method":"no/such"}`, "", 0}, {`{"jsonrpc":"2.0","method":"_other/thing","params":[]}`, "", 0},
		{`{"jsonrpc":"2.0","method":"session/prompt","params":{}}`, "", 0}, {`{"jsonrpc":"2.0","id":99,"result":{}}`, "", 0},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, "", 0}, {`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":5}}`, "", 0},
		{`{"jsonrpc":"2.0","id":8,"method":"session/new","params":{"cwd":"` + strings.Repeat("x", 17<<20) + `"}}`, "8", -32600},
		{`{"jsonrpc":"2.0","id":9,"method":"session/new","params":[]}`, "9", -32602}, {`{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"here"}}`, "9", -32602},
		{`{"jsonrpc":"2.0","id":10,"method":"session/prompt","params":{"sessionId":"nobody","prompt":[]}}`, "10", -32002},
		{`{"jsonrpc":"2.0","id":11,"method":"session/prompt","params":{"prompt":"text"}}`, "11", -32602},
		{`{"jsonrpc":"2.0","id":12,"method":"session/load","params":{"cwd":"/"}}`, "12", -32602},
	} {
		mark := c.mark()
		c.line(one.line)
		if one.id == "" {
			continue
		}
		m := c.hears(one.line[:min(len(one.line), 80)], mark, func(m rpc.Message) bool { return m.IsResponse() })
		require.Equal(t, one.id, string(m.ID), one.line[:min(len(one.line), 80)])
		var e rpc.Error
		if m.Error != nil {
			require.NoError(t, json.Unmarshal(m.Error, &e))
		}
		require.Equal(t, one.code, e.Code, "%.200s", one.line)
	}
}

// TestInputOfAScript: what was asked before the input's end is answered; the status is that of success, and nothing is on stderr.
func TestInputOfAScript(t *testing.T) {
	t.Parallel()
	w := trusted(t)
	cmd := exec.Command("cursord", "acp")
	cmd.Env = w.Env()
	cmd.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"` + w.Root + `","mcpServers":"inherit_from_config"}}`,
	}, "\n"))
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Empty(t, errors.String())
	for _, part := range []string{`"id":1,"result"`, `"id":2,"result":{"sessions":[]}`, `"id":3,"result":{"sessionId":"`} {
		require.Contains(t, string(out), part)
	}
}

// TestNoHome: an editor that starts it with PATH alone reaches the user's daemon.
func TestNoHome(t *testing.T) {
	t.Parallel()
	w := trusted(t)
	cmd := exec.Command("cursord", "acp")
	for _, variable := range w.Env() {
		if !strings.HasPrefix(variable, "HOME=") && !strings.HasPrefix(variable, "XDG_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	c := startsAs(w, cmd)
	c.must("initialize", world.Obj{"protocolVersion": 1}, nil)
	require.Equal(t, "end_turn", c.prompts(c.session(), "Do it"))
}
