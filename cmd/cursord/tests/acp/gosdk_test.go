//go:build unix

package acp

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// TestGoSDK: a client of coder/acp-go-sdk asks, chooses, and opens a session again, in another process.
func TestGoSDK(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f.txt", "1\n")
	todos := `{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"read","status":"TODO_STATUS_COMPLETED"}]}`
	w.Plays(world.Playing([]string{world.Thinks("hm"), world.ThoughtEnd, world.Piece("Hello "), world.Piece("you."), world.Flush("Hello you.")},
		[]string{world.Started("t1", todos+`}}`), world.Completed("t1", todos+`,"result":{"success":{"todos":[{"id":"1","content":"read","status":"TODO_STATUS_COMPLETED"}]}}}}`)},
		world.Edits("c1", "f.txt", "1\n", "2\n"), world.Shells("c2", "make"), []string{world.Succeeds("Hello you.")})...)
	c, made := opensGoSDK(w)
	s := made.SessionId
	require.EqualValues(t, "agent", made.Modes.CurrentModeId)
	require.Equal(t, map[string]string{"mode": "agent", "model": "default", "isolation": "none", "sandbox": "default", "auto_review": "off"}, chosenOf(made.ConfigOptions))
	c.chosen <- "trust"
	told := goTexts(c.goes(s, "Say hello"))
	for name, want := range map[string]string{
		"agent": "Hello you.", "thought": "hm", "user": "", "plan read": "completed", "Edit f.txt": "completed", "usage": "told",
	} {
		require.Equal(t, want, told[name], name)
	}
	question := <-c.asked
	require.Contains(t, *question.ToolCall.Title, w.Root)
	require.Equal(t, "2\n", w.Get("f.txt"))

	sets := func(id sdk.SessionConfigId, value sdk.SessionConfigValueId) map[string]string {
		t.Helper()
		return chosenOf(valid(c.SetSessionConfigOption(c.ctx, sdk.SetSessionConfigOptionRequest{
			ValueId: &sdk.SetSessionConfigOptionValueId{SessionId: s, ConfigId: id, Value: value},
		}))(t).ConfigOptions)
	}
	require.Equal(t, "enabled", sets("sandbox", "enabled")["sandbox"])
	require.Equal(t, "on", sets("auto_review", "on")["auto_review"])
	valid(c.SetSessionMode(c.ctx, sdk.SetSessionModeRequest{SessionId: s, ModeId: "plan"}))(t)
	require.Equal(t, "fake-large", sets("model", "fake-large")["model"])
	require.Equal(t, "plan", sets("sandbox", "enabled")["mode"])
	c.goes(s, "Plan it")
	require.Subset(t, w.Runs()[1].Args, []string{"--mode", "plan", "--model", "fake-large", "--sandbox", "enabled", "--auto-review"})
	var list rpc.DiffList
	raw, err := c.CallExtension(c.ctx, "_cursord/diff/list", world.Obj{"sessionId": s})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &list))
	require.Len(t, list.Diffs, 1)
	var e *sdk.RequestError
	_, err = c.prompts(c.ctx, "nobody", "x")
	require.ErrorAs(t, err, &e)
	require.Equal(t, -32002, e.Code)
	_, err = c.CallExtension(c.ctx, "_other/thing", world.Obj{})
	require.ErrorAs(t, err, &e)
	require.Equal(t, -32601, e.Code)

	again, _ := opensGoSDK(w)
	listed := valid(again.ListSessions(again.ctx, sdk.ListSessionsRequest{Cwd: &w.Root}))(t).Sessions
	require.Len(t, listed, 1)
	require.Equal(t, []string{string(s), "Say hello"}, []string{string(listed[0].SessionId), *listed[0].Title})
	again.takes()
	loaded := valid(again.LoadSession(again.ctx, sdk.LoadSessionRequest{SessionId: s, Cwd: w.Root, McpServers: []sdk.McpServer{}}))(t)
	require.EqualValues(t, "plan", loaded.Modes.CurrentModeId)
	told = goTexts(again.takes())
	for name, want := range map[string]string{
		"agent": "Hello you.Hello you.", "thought": "hmhm", "user": "Say helloPlan it", "Edit f.txt": "completed",
	} {
		require.Equal(t, want, told[name], name)
	}
	valid(again.CloseSession(again.ctx, sdk.CloseSessionRequest{SessionId: s}))(t)
	again.takes()
	valid(again.ResumeSession(again.ctx, sdk.ResumeSessionRequest{SessionId: s, Cwd: w.Root}))(t)
	require.Empty(t, goTexts(again.takes()), "nothing is said again")
	require.Equal(t, "Hello you.", goTexts(again.goes(s, "Once more"))["agent"])
	_, err = again.UnstableDeleteSession(again.ctx, sdk.UnstableDeleteSessionRequest{SessionId: s})
	require.NoError(t, err)
	require.Empty(t, valid(again.ListSessions(again.ctx, sdk.ListSessionsRequest{}))(t).Sessions)
}

// TestGoSDKPermissions: a person answers what the agent asks, another client answers first, or the prompt is cancelled meanwhile.
func TestGoSDKPermissions(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		does func(c *goClient, s sdk.SessionId, cancel func())
		stop sdk.StopReason // "": the SDK itself answers the prompt
		runs string
	}{
		"yes":       {func(c *goClient, _ sdk.SessionId, _ func()) { c.chosen <- "allow-once" }, sdk.StopReasonEndTurn, "ran\n"},
		"no":        {func(c *goClient, _ sdk.SessionId, _ func()) { c.chosen <- "reject-once" }, sdk.StopReasonEndTurn, "(absent)"},
		"elsewhere": {func(c *goClient, _ sdk.SessionId, _ func()) { c.w.CursordOK("approve") }, sdk.StopReasonEndTurn, "ran\n"},
		"cancelled": {func(c *goClient, s sdk.SessionId, _ func()) {
			require.NoError(c.t, c.Cancel(c.ctx, sdk.CancelNotification{SessionId: s}))
		}, sdk.StopReasonCancelled, "(absent)"},
		"context": {func(_ *goClient, _ sdk.SessionId, cancel func()) { cancel() }, "", "(absent)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asking(t, `{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
			c, made := opensGoSDK(w)
			ctx, cancel := context.WithCancel(c.ctx)
			defer cancel()
			type ended struct {
				sdk.PromptResponse
				err error
			}
			end := make(chan ended, 1)
			go func() {
				answer, err := c.prompts(ctx, made.SessionId, "Run it")
				end <- ended{answer, err}
			}()
			question := <-c.asked
			require.Contains(t, *question.ToolCall.Title, "echo ran")
			require.True(t, slices.ContainsFunc(question.Options, func(o sdk.PermissionOption) bool { return o.Kind == sdk.PermissionOptionKindAllowOnce }))
			one.does(c, made.SessionId, cancel)
			got := <-end
			if one.stop != "" {
				require.NoError(t, got.err)
			}
			require.Equal(t, one.stop, got.StopReason)
			if name != "yes" && name != "no" {
				require.ErrorIs(t, <-c.over, context.Canceled, "the question is withdrawn")
			}
			require.True(t, world.Comes(world.Patience, func() bool { return turnsOf(w, string(made.SessionId))[0].Status.Final() }))
			require.Equal(t, one.stop == sdk.StopReasonEndTurn, turnsOf(w, string(made.SessionId))[0].Status == sessions.TurnCompleted)
			require.Equal(t, one.runs, w.Get("ran.txt"))
			c.chosen <- "allow-once"
			require.Equal(t, "Done.", goTexts(c.goes(made.SessionId, "Again"))["agent"], "the session goes on")
		})
	}
}

// TestGoSDKFiles: what is accepted is written into the text that the editor holds.
func TestGoSDKFiles(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "g.txt", "1\n2\n3\n4\n5\n", "1\n2\n3\n4\nagent 5\n"))...)
	w.Put("g.txt", "1\n2\n3\n4\n5\n")
	c, made := opensGoSDK(w)
	c.files[w.Path("g.txt")] = "mine 1\n2\n3\n4\n5\n"
	for _, set := range []sdk.SetSessionConfigOptionValueId{{ConfigId: "isolation", Value: "copy"}, {ConfigId: "write_through", Value: "on"}} {
		set.SessionId = made.SessionId
		valid(c.SetSessionConfigOption(c.ctx, sdk.SetSessionConfigOptionRequest{ValueId: &set}))(t)
	}
	c.goes(made.SessionId, "Do it")
	require.Contains(t, goTexts(c.goes(made.SessionId, "/accept"))["agent"], "Accepted 1 hunk")
	require.Equal(t, "mine 1\n2\n3\n4\nagent 5\n", w.Get("g.txt"))
}
