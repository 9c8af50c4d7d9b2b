package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// client returns a typed client of the daemon.
func (w *world) client(onNotify func(string, json.RawMessage)) *Client {
	c := NewClient(w.dial(FramingHeaders).conn, onNotify)
	w.t.Cleanup(func() { require.NoError(w.t, c.Close()) })
	return c
}

func TestWrongParams(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	file := filepath.Join(w.workspace, "greeting.txt")
	where := fmt.Sprintf(`"workspace":%q`, w.workspace)
	require.NoError(t, c.Call(t.Context(), "workspace/trust", TrustParams{Workspace: w.workspace, Trusted: true}, nil))
	for _, test := range []struct{ method, params, field string }{
		{"workspace/subscribe", ``, "workspace"},
		{"workspace/subscribe", `[]`, "params"},
		{"workspace/subscribe", `{"workspace":null}`, "workspace"},
		{"workspace/subscribe", `{"workspace":""}`, "workspace"},
		{"workspace/subscribe", `{"workspace":5}`, "workspace"},
		{"workspace/subscribe", `{"Workspace":"/"}`, "workspace"},
		{"workspace/subscribe", `{"workspace":"relative"}`, "workspace"},
		{"workspace/subscribe", `{"workspace":"/no/such"}`, "workspace"},
		{"workspace/subscribe", fmt.Sprintf(`{"workspace":%q}`, file), "workspace"},
		{"workspace/subscribe", `{"workspace":"file://elsewhere/x"}`, "workspace"},
		{"workspace/subscribe", `{` + where + `,"after":-1}`, "after"},
		{"workspace/subscribe", `{` + where + `,"after":"1"}`, "after"},
		{"workspace/subscribe", `{` + where + `,"after":1.5}`, "after"},
		{"workspace/subscribe", `{` + where + `,"after":18446744073709551616}`, "after"},
		{"workspace/subscribe", `{` + where + `,"epoch":1}`, "epoch"},
		{"workspace/subscribe", `{` + where + `,"deltaInterval":-1}`, "deltaInterval"},
		{"workspace/subscribe", `{` + where + `,"deltaInterval":"1"}`, "deltaInterval"},
		{"workspace/subscribe", `{` + where + `,"diffs":"none"}`, "diffs"},
		{"workspace/unsubscribe", `{"workspace":"/no/such"}`, "workspace"},
		{"workspace/trust", `{` + where + `}`, "trusted"},
		{"workspace/trust", `{` + where + `,"trusted":1}`, "trusted"},
		{"session/create", `{}`, "workspace"},
		{"session/create", `{` + where + `,"mode":"x"}`, "mode"},
		{"session/create", `{` + where + `,"mode":1}`, "mode"},
		{"session/create", `{` + where + `,"isolation":"x"}`, "isolation"},
		{"session/create", `{` + where + `,"isolation":""}`, "isolation"},
		{"session/create", `{` + where + `,"isolation":5}`, "isolation"},
		{"session/create", `{` + where + `,"force":true}`, "force"},
		{"session/create", `{` + where + `,"sandbox":"on"}`, "sandbox"},
		{"session/create", `{` + where + `,"autoReview":"yes"}`, "autoReview"},
		{"session/create", `{` + where + `,"addDirs":["/no/such"]}`, "addDirs[0]"},
		{"session/create", `{` + where + `,"driver":"both"}`, "driver"},
		{"turn/start", `{` + where + `,"prompt":"p","isolation":"x"}`, "isolation"},
		{"turn/start", `{` + where + `,"prompt":"p","isolation":""}`, "isolation"},
		{"turn/start", `{` + where + `,"prompt":"p","isolation":true}`, "isolation"},
		{"turn/start", `{` + where + `,"prompt":"p","sandbox":"default"}`, "sandbox"},
		{"turn/start", `{` + where + `,"prompt":"p","sandbox":true}`, "sandbox"},
		{"turn/start", `{` + where + `,"prompt":"p","autoReview":"no"}`, "autoReview"},
		{"turn/start", `{` + where + `,"prompt":"p","addDirs":"/"}`, "addDirs"},
		{"turn/start", `{` + where + `,"prompt":"p","addDirs":["/",5]}`, "addDirs[1]"},
		{"turn/start", `{` + where + `,"prompt":"p","addDirs":["/",""]}`, "addDirs[1]"},
		{"turn/start", `{` + where + `,"prompt":"p","driver":"both"}`, "driver"},
		{"turn/start", `{` + where + `,"prompt":"p","approvals":"never"}`, "approvals"},
		{"turn/start", `{` + where + `,"prompt":"p","approvals":true}`, "approvals"},
		{"session/create", `{` + where + `,"approvals":"deny"}`, "approvals"},
		{"approval/answer", `{"optionId":"x"}`, "approvalId"},
		{"approval/answer", `{"approvalId":"x"}`, "optionId"},
		{"approval/removeRule", `{` + where + `}`, "n"},
		{"approval/removeRule", `{` + where + `,"n":0}`, "n"},
		{"approval/rules", `{}`, "workspace"},
		{"turn/start", `{` + where + `,"prompt":"p","sandbox":null,"sandbox":"maybe"}`, "sandbox"},
		{"session/create", `{` + where + `,"title":{}}`, "title"},
		{"session/list", `{"limit":-1}`, "limit"},
		{"session/list", `{"limit":"9"}`, "limit"},
		{"session/read", `{}`, "sessionId"},
		{"session/read", `{"sessionId":7}`, "sessionId"},
		{"session/read", `{"sessionId":"x","limit":-1}`, "limit"},
		{"session/update", `{"title":"x"}`, "sessionId"},
		{"session/delete", `{"sessionId":null}`, "sessionId"},
		{"item/read", `{}`, "itemId"},
		{"turn/start", `{` + where + `}`, "prompt"},
		{"turn/start", `{` + where + `,"prompt":""}`, "prompt"},
		{"turn/start", `{` + where + `,"prompt":" \n"}`, "prompt"},
		{"turn/start", `{` + where + `,"prompt":["x"]}`, "prompt"},
		{"turn/start", `{` + where + `,"prompt":"a\u0000b"}`, "prompt"},
		{"turn/start", `{"prompt":"x"}`, "workspace"},
		{"turn/start", `{` + where + `,"prompt":"x","force":"yes"}`, "force"},
		{"turn/start", `{` + where + `,"prompt":"x","mode":"x"}`, "mode"},
		{"turn/start", `{` + where + `,"prompt":"x","turnId":"` + strings.Repeat("ä", 65) + `"}`, "turnId"},
		{"turn/start", `{` + where + `,"prompt":"x","context":{}}`, "context"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[null]}`, "context[0]"},
		{"turn/start", `{` + where + `,"prompt":"x","context":["file"]}`, "context[0]"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{}]}`, "context[0].kind"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"movie"}]}`, "context[0].kind"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"image"}]}`, "context[0].path"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"image","path":""}]}`, "context[0].path"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"image","path":"a","data":"aaaa"}]}`, "context[0].data"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"image","data":"a"}]}`, "context[0].data"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"image","data":""}]}`, "context[0].data"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"image","data":"aaaa","mimeType":"text/plain"}]}`, "context[0].mimeType"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"text","text":""},{"kind":"file"}]}`, "context[1].path"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"file","path":"a","range":{}}]}`, "context[0].range.start"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"file","path":"a","range":{"start":{"line":1,"character":0},"end":{"line":0,"character":0}}}]}`, "context[0].range"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"selection","path":"a","text":"x"}]}`, "context[0].range"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"diagnostics","path":"a"}]}`, "context[0].items"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"diagnostics","path":"a","items":[{"message":"m"}]}]}`, "context[0].items[0].range"},
		{"turn/start", `{` + where + `,"prompt":"x","context":[{"kind":"text"}]}`, "context[0].text"},
		{"turn/wait", `{}`, "turnId"},
		{"turn/cancel", `{"turnId":1}`, "turnId"},
		{"diff/list", `{}`, "workspace"},
		{"diff/list", `{` + where + `,"path":1}`, "path"},
		{"diff/accept", `{` + where + `}`, "hunks"},
		{"diff/accept", `{` + where + `,"all":false}`, "hunks"},
		{"diff/accept", `{` + where + `,"all":true,"path":"a"}`, "hunks"},
		{"diff/accept", `{` + where + `,"hunks":[]}`, "hunks"},
		{"diff/accept", `{` + where + `,"hunks":[1]}`, "hunks[0]"},
		{"diff/reject", `{` + where + `,"hunks":"x"}`, "hunks"},
		{"diff/reject", `{` + where + `,"all":true,"lines":{"from":0,"to":1}}`, "lines"},
		{"diff/reject", `{` + where + `,"hunks":["a"],"lines":{"from":0}}`, "lines.to"},
		{"diff/reject", `{` + where + `,"hunks":["a"],"lines":{"from":2,"to":2}}`, "lines"},
		{"diff/reject", `{` + where + `,"all":true,"rev":1}`, "rev"},
		{"diff/undo", `{}`, "workspace"},
		{"diff/comment", `{` + where + `,"hunk":"x"}`, "text"},
		{"daemon/stop", `{"force":"no"}`, "force"},
		{"initialize", `{"protocolVersion":2}`, "protocolVersion"},
		{"initialize", `{"protocolVersion":"1"}`, "protocolVersion"},
		{"initialize", `{"clientInfo":"x"}`, "clientInfo"},
	} {
		var params any
		if test.params != "" {
			params = json.RawMessage(test.params)
		}
		err := c.Call(t.Context(), test.method, params, nil)
		var e *Error
		require.ErrorAs(t, err, &e, "%s %s", test.method, test.params)
		require.Equal(t, CodeInvalidParams, e.Code, "%s %s: %v", test.method, test.params, err)
		require.Equal(t, test.field, e.Data.Field, "%s %s: %v", test.method, test.params, err)
		require.Equal(t, api.KindInvalid, e.Data.Kind)
		require.NotEmpty(t, e.Message)
	}
}

func TestKinds(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	where := fmt.Sprintf(`"workspace":%q`, w.workspace)
	for _, test := range []struct {
		method, params string
		code           int
		kind           api.ErrorKind
	}{
		{"session/read", `{"sessionId":"x"}`, -32001, api.KindNotFound},
		{"session/update", `{"sessionId":"x"}`, -32001, api.KindNotFound},
		{"session/delete", `{"sessionId":"x"}`, -32001, api.KindNotFound},
		{"item/read", `{"itemId":"x:1"}`, -32001, api.KindNotFound},
		{"turn/wait", `{"turnId":"x"}`, -32001, api.KindNotFound},
		{"turn/cancel", `{"turnId":"x"}`, -32001, api.KindNotFound},
		{"diff/reject", `{` + where + `,"hunks":["x"]}`, -32001, api.KindNotFound},
		{"turn/start", `{` + where + `,"prompt":"x"}`, -32005, api.KindWorkspaceUntrusted},
		{"turn/start", `{` + where + `,"prompt":"` + strings.Repeat("x", MaxPrompt+1) + `"}`, -32021, api.KindTooLarge},
	} {
		var e *Error
		require.ErrorAs(t, c.Call(t.Context(), test.method, json.RawMessage(test.params), nil), &e, "%s", test.method)
		require.Equal(t, test.code, e.Code, "%s: %s", test.method, e.Message)
		require.Equal(t, test.kind, e.Data.Kind)
	}
}

// TestPipelinedScript plays a script's turn: it sends everything before it reads anything.
func TestPipelinedScript(t *testing.T) {
	w := newWorld(t)
	p := w.dial(FramingLines)
	where := fmt.Sprintf(`"workspace":%q`, w.workspace)
	p.raw(`{"id":1,"method":"workspace/trust","params":{` + where + `,"trusted":true}}` + "\n" +
		`{"id":2,"method":"workspace/subscribe","params":{` + where + `,"after":0}}` + "\n" +
		`{"id":3,"method":"turn/start","params":{` + where + `,"prompt":"x","turnId":"t1"}}` + "\n" +
		`{"id":4,"method":"turn/wait","params":{"turnId":"t1"}}` + "\n")
	var order []string
	text := map[string]string{}
	for len(order) == 0 || order[len(order)-1] != "4" {
		var m struct {
			ID     json.RawMessage
			Method string
			Error  *Error
			Params struct {
				Turn   *sessions.Turn
				Item   *sessions.Item
				ItemID string
				Offset int
				Text   string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(p.read()), &m))
		require.Nil(t, m.Error)
		switch {
		case m.ID != nil:
			order = append(order, string(m.ID))
		case m.Params.Turn != nil:
			order = append(order, string(m.Params.Turn.Status))
		case m.Method == "item/delta":
			require.Equal(t, len(text[m.Params.ItemID]), m.Params.Offset)
			text[m.Params.ItemID] += m.Params.Text
		case m.Params.Item != nil && m.Params.Item.Status != sessions.ItemRunning:
			require.Equal(t, m.Params.Item.Text, text[m.Params.Item.ID])
		}
	}
	require.Equal(t, []string{"1", "2", "3", "queued", "running", "completed", "4"}, order)
}

func TestSubscribingAgainAndUnsubscribing(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(filepath.Dir(w.workspace), "link")
	require.NoError(t, os.Symlink(w.workspace, link))
	titles := make(chan string, 10)
	c := w.client(func(method string, params json.RawMessage) {
		var p SessionChanged
		if json.Unmarshal(params, &p) == nil && p.Session != nil {
			titles <- p.Session.Title
		}
	})
	call := func(method string, params any) {
		t.Helper()
		require.NoError(t, c.Call(t.Context(), method, params, nil))
	}
	create := func(title string) { call("session/create", SessionCreateParams{Workspace: w.workspace, Title: &title}) }
	call("workspace/subscribe", WorkspaceParams{link})
	create("once")
	call("workspace/subscribe", SubscribeParams{Workspace: "file://" + w.workspace, After: new(uint64)})
	create("twice")
	for _, title := range []string{"once", "once", "twice"} { // an answer may come before the notifications of earlier requests
		require.Equal(t, title, <-titles)
	}
	call("workspace/unsubscribe", WorkspaceParams{link + "/."})
	create("unseen")
	call("daemon/status", nil)
	require.Empty(t, titles)
}

// TestSlowSubscriberSeesTheEnd: a client that does not read misses states in between, and never the last one.
func TestSlowSubscriberSeesTheEnd(t *testing.T) {
	w := newWorld(t)
	p := w.dial(FramingLines)
	p.send(fmt.Sprintf(`{"id":1,"method":"workspace/subscribe","params":{"workspace":%q}}`, w.workspace))
	p.read()
	c := w.client(nil)
	ctx := context.Background()
	var made SessionResult
	require.NoError(t, c.Call(ctx, "session/create", SessionCreateParams{Workspace: w.workspace}, &made))
	update := func(title string) error {
		return c.Call(ctx, "session/update", SessionUpdateParams{SessionID: made.Session.ID, Title: &title}, nil)
	}
	big := strings.Repeat("x", 4000)
	var done sync.WaitGroup
	for range 50 { // 4.8 MB
		done.Go(func() {
			for range 24 {
				assert.NoError(t, update(big))
			}
		})
	}
	done.Wait()
	require.NoError(t, update("the end"))
	last, count := uint64(0), 0
	for {
		var m struct{ Params SessionChanged }
		require.NoError(t, json.Unmarshal([]byte(p.read()), &m))
		require.Greater(t, m.Params.Seq, last)
		last = m.Params.Seq
		count++
		if m.Params.Session.Title == "the end" {
			break
		}
	}
	require.Less(t, count, 1202, "something was left out")
}

func TestCatchingUpWithMany(t *testing.T) {
	const clients, each = 8, 40
	w := newWorld(t)
	var done sync.WaitGroup
	for range clients {
		c := w.client(nil)
		done.Go(func() {
			for range each {
				assert.NoError(t, c.Call(context.Background(), "session/create", SessionCreateParams{Workspace: w.workspace}, nil))
			}
		})
	}
	done.Wait()
	p := w.dial(FramingHeaders)
	p.send(fmt.Sprintf(`{"id":1,"method":"workspace/subscribe","params":{"workspace":%q,"after":0}}`, w.workspace))
	require.Contains(t, p.read(), `"seq":320`)
	last := uint64(0)
	for range clients * each {
		var m struct{ Params SessionChanged }
		require.NoError(t, json.Unmarshal([]byte(p.read()), &m))
		require.Greater(t, m.Params.Seq, last)
		last = m.Params.Seq
	}
	require.Equal(t, uint64(clients*each), last)
}

func TestInitializeIsTheSameEverywhere(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	params := json.RawMessage(`{"processId":null,"rootUri":"file:///x","capabilities":{"a":1},"workspaceFolders":null,"trace":"off"}`)
	var got InitializeResult
	require.NoError(t, c.Call(t.Context(), "initialize", params, &got))
	want, err := Initialize(params, "1.2.3", api.AgentStatus{})
	require.Nil(t, err)
	got.Agent, want.Agent = AgentInfo{}, AgentInfo{}
	require.Equal(t, want, got)
	_, err = Initialize(json.RawMessage(`{"protocolVersion":7}`), "1.2.3", api.AgentStatus{})
	require.Equal(t, []int{1}, err.Data.Supported)
}

func TestServe(t *testing.T) {
	w := newWorld(t)
	l, err := net.Listen("unix", shortPath(t))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- Serve(ctx, l, w.d, w.log) }()
	var clients []*Client
	for range 3 {
		conn, err := net.Dial("unix", l.Addr().String())
		require.NoError(t, err)
		c := NewClient(conn, nil)
		var status api.Status
		require.NoError(t, c.Call(ctx, "daemon/status", nil, &status))
		clients = append(clients, c)
		require.Equal(t, len(clients), status.Clients)
	}
	cancel()
	require.NoError(t, <-served)
	for _, c := range clients {
		<-c.Done()
		require.NoError(t, c.Close())
	}
	_, err = net.Dial("unix", l.Addr().String())
	require.Error(t, err)
}
