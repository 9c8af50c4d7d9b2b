//go:build unix

package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// A goClient is an editor that uses coder/acp-go-sdk. The library drops a message that it cannot read, or that is not valid by its types,
// and logs this: here that is an error of the test, as is a member that its types do not have.
type goClient struct {
	*sdk.ClientSideConnection
	t      testing.TB
	w      *world.World
	ctx    context.Context
	cmd    *exec.Cmd
	files  map[string]string // what the editor holds unsaved, by path
	asked  chan sdk.RequestPermissionRequest
	chosen chan string // the ids of options, in the order of the questions
	over   chan error  // why the questions ended that nobody has answered

	mu      sync.Mutex
	updates []sdk.SessionUpdate
}

func startsGoSDK(w *world.World) *goClient {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), world.Patience)
	c := &goClient{t: w.T, w: w, ctx: ctx, cmd: exec.Command("cursord", "acp"), files: map[string]string{},
		asked: make(chan sdk.RequestPermissionRequest, 8), chosen: make(chan string, 8), over: make(chan error, 8)}
	c.cmd.Env, c.cmd.Dir = w.Env(), w.Dir
	var errors strings.Builder
	c.cmd.Stderr = &errors
	in, err := c.cmd.StdinPipe()
	require.NoError(w.T, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(w.T, err)
	require.NoError(w.T, c.cmd.Start())
	lines, checked := io.Pipe()
	go c.checks(out, checked)
	c.ClientSideConnection = sdk.NewClientSideConnection(c, in, lines)
	c.SetLogger(slog.New(slog.NewTextHandler(failing{w.T}, &slog.HandlerOptions{Level: slog.LevelWarn})))
	w.T.Cleanup(func() {
		in.Close()
		<-c.Done()
		require.NoError(w.T, c.cmd.Wait())
		require.Empty(w.T, errors.String())
		cancel()
		w.Cursord("stop", "--force")
	})
	return c
}

// failing is a log in which each line is an error of the test.
type failing struct{ t testing.TB }

func (f failing) Write(line []byte) (int, error) {
	f.t.Errorf("acp-go-sdk says: %s", line)
	return len(line), nil
}

// checks hands on what the agent sends, and holds it against the types of the SDK.
func (c *goClient) checks(from io.Reader, to *io.PipeWriter) {
	types := map[string]func() any{
		"session/update":             func() any { return new(sdk.SessionNotification) },
		"session/request_permission": func() any { return new(sdk.RequestPermissionRequest) },
		"fs/read_text_file":          func() any { return new(sdk.ReadTextFileRequest) },
		"fs/write_text_file":         func() any { return new(sdk.WriteTextFileRequest) },
	}
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			to.CloseWithError(err)
			return
		}
		var m rpc.Message
		if e := json.Unmarshal(line, &m); e != nil {
			c.t.Errorf("%v: %s", e, line)
		} else if made := types[m.Method]; made != nil {
			v := made()
			if e := json.Unmarshal(m.Params, v); e != nil {
				c.t.Errorf("%v: %s", e, line)
			}
			kept, e := json.Marshal(v)
			if e != nil {
				c.t.Errorf("%v: %s", e, line)
			}
			for _, name := range lost(parsed(m.Params), parsed(kept), "") {
				c.t.Errorf("acp-go-sdk has no member %s: %s", name, line)
			}
		}
		_, _ = to.Write(line)
	}
}

func parsed(raw json.RawMessage) (v any) {
	_ = json.Unmarshal(raw, &v)
	return v
}

// lost returns the members of sent that kept does not have.
func lost(sent, kept any, at string) (names []string) {
	switch sent := sent.(type) {
	case map[string]any:
		others, _ := kept.(map[string]any)
		for name, value := range sent {
			other, is := others[name]
			if !is && value != nil {
				names = append(names, at+"."+name)
				continue
			}
			names = append(names, lost(value, other, at+"."+name)...)
		}
	case []any:
		others, _ := kept.([]any)
		if len(others) != len(sent) {
			return []string{at}
		}
		for i := range sent {
			names = append(names, lost(sent[i], others[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	return names
}

func (c *goClient) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, n.Update)
	return nil
}

func (c *goClient) RequestPermission(ctx context.Context, p sdk.RequestPermissionRequest) (answer sdk.RequestPermissionResponse, err error) {
	c.asked <- p
	select {
	case id := <-c.chosen:
		answer.Outcome = sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(id))
		return answer, nil
	case <-ctx.Done():
		c.over <- context.Cause(ctx)
		return answer, ctx.Err()
	}
}

func (c *goClient) ReadTextFile(_ context.Context, p sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sdk.ReadTextFileResponse{Content: c.files[p.Path]}, nil
}

func (c *goClient) WriteTextFile(_ context.Context, p sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[p.Path] = p.Content
	return sdk.WriteTextFileResponse{}, os.WriteFile(p.Path, []byte(p.Content), 0o644)
}

// Terminals are never used.

func (c *goClient) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (answer sdk.CreateTerminalResponse, err error) {
	return answer, sdk.NewMethodNotFound("terminal")
}

func (c *goClient) KillTerminal(context.Context, sdk.KillTerminalRequest) (answer sdk.KillTerminalResponse, err error) {
	return answer, sdk.NewMethodNotFound("terminal")
}

func (c *goClient) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (answer sdk.TerminalOutputResponse, err error) {
	return answer, sdk.NewMethodNotFound("terminal")
}

func (c *goClient) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (answer sdk.ReleaseTerminalResponse, err error) {
	return answer, sdk.NewMethodNotFound("terminal")
}

func (c *goClient) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (answer sdk.WaitForTerminalExitResponse, err error) {
	return answer, sdk.NewMethodNotFound("terminal")
}

// valid returns what a call of the SDK has returned: an answer that is valid.
func valid[T any](answer T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		require.NoError(t, any(&answer).(interface{ Validate() error }).Validate())
		return answer
	}
}

// opensGoSDK starts "cursord acp" as an editor that holds texts, and makes a session.
func opensGoSDK(w *world.World) (c *goClient, made sdk.NewSessionResponse) {
	w.T.Helper()
	c = startsGoSDK(w)
	hello := valid(c.Initialize(c.ctx, sdk.InitializeRequest{
		ProtocolVersion:    sdk.ProtocolVersionNumber,
		ClientInfo:         &sdk.Implementation{Name: "go-sdk", Version: "1"},
		ClientCapabilities: sdk.ClientCapabilities{Fs: sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}},
	}))(w.T)
	require.EqualValues(w.T, sdk.ProtocolVersionNumber, hello.ProtocolVersion)
	require.Equal(w.T, "cursord", hello.AgentInfo.Name)
	can := hello.AgentCapabilities
	require.True(w.T, can.LoadSession && can.PromptCapabilities.Image && can.PromptCapabilities.EmbeddedContext)
	methods := can.SessionCapabilities
	require.True(w.T, methods.List != nil && methods.Resume != nil && methods.Close != nil && methods.Delete != nil)
	require.Empty(w.T, hello.AuthMethods)
	return c, valid(c.NewSession(c.ctx, sdk.NewSessionRequest{Cwd: w.Root, McpServers: []sdk.McpServer{}}))(w.T)
}

func (c *goClient) prompts(ctx context.Context, session sdk.SessionId, text string) (sdk.PromptResponse, error) {
	return c.Prompt(ctx, sdk.PromptRequest{SessionId: session, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
}

// goes sends a prompt whose turn comes to its end, and returns the updates up to the answer.
func (c *goClient) goes(session sdk.SessionId, text string) []sdk.SessionUpdate {
	c.t.Helper()
	c.takes()
	ended := valid(c.prompts(c.ctx, session, text))(c.t)
	require.Equal(c.t, sdk.StopReasonEndTurn, ended.StopReason)
	return c.takes()
}

// takes returns the updates since the last call.
func (c *goClient) takes() []sdk.SessionUpdate {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.updates
	c.updates = nil
	return all
}

// goTexts joins the chunks of each kind, and has the last state of each call.
func goTexts(all []sdk.SessionUpdate) map[string]string {
	texts := map[string]string{}
	for _, u := range all {
		switch {
		case u.UserMessageChunk != nil:
			texts["user"] += u.UserMessageChunk.Content.Text.Text
		case u.AgentMessageChunk != nil:
			texts["agent"] += u.AgentMessageChunk.Content.Text.Text
		case u.AgentThoughtChunk != nil:
			texts["thought"] += u.AgentThoughtChunk.Content.Text.Text
		case u.ToolCall != nil:
			texts[u.ToolCall.Title] = string(u.ToolCall.Status)
			texts[string(u.ToolCall.ToolCallId)] = u.ToolCall.Title
		case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
			texts[texts[string(u.ToolCallUpdate.ToolCallId)]] = string(*u.ToolCallUpdate.Status)
		case u.Plan != nil:
			for _, e := range u.Plan.Entries {
				texts["plan "+e.Content] = string(e.Status)
			}
		case u.UsageUpdate != nil:
			texts["usage"] = "told"
		}
	}
	return texts
}

// chosenOf returns the current values of options.
func chosenOf(all []sdk.SessionConfigOption) map[string]string {
	values := map[string]string{}
	for _, o := range all {
		values[string(o.Select.Id)] = string(o.Select.CurrentValue)
	}
	return values
}
