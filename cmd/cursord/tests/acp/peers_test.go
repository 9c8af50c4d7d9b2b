//go:build unix

package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// program returns a program that "make editors" gets.
func program(t *testing.T, name string) string {
	t.Helper()
	return world.EditorsFound(t, name, name)[0]
}

// runs runs a client in the world's folder, and returns what it printed.
func runs(w *world.World, command string, args ...string) (stdout, stderr string, status int) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), world.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env, cmd.Dir = w.Env(), w.Root
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	require.NoError(w.T, ctx.Err())
	if cmd.ProcessState == nil {
		require.NoError(w.T, err)
	}
	w.T.Cleanup(func() { w.Cursord("stop", "--force") })
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

func everything(w *world.World) {
	w.Put("f.txt", "1\n")
	w.Plays(world.Playing([]string{world.Thinks("hm"), world.ThoughtEnd, world.Piece("Hello "), world.Piece("you."), world.Flush("Hello you.")},
		world.Edits("c1", "f.txt", "1\n", "2\n"), []string{world.Succeeds("Hello you.")})...)
}

// TestOfficialSDK: a client of @agentclientprotocol/sdk, which checks all that it gets.
func TestOfficialSDK(t *testing.T) {
	t.Parallel()
	sdk := program(t, "acp-sdk")
	w := world.New(t)
	everything(w)
	stdout, stderr, status := runs(w, sdk, world.Top("cmd", "cursord", "tests", "acp", "testdata", "client.mjs"), w.Root, "Say hello", "cursord", "acp")
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	var got struct {
		Version, Asked                int
		Stop, Said, Replayed          string
		Kinds, Again, Options, Listed []string
		Status                        []int
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &got), stdout)
	require.Equal(t, 1, got.Version)
	require.Equal(t, 1, got.Asked, "for trust")
	require.Equal(t, []string{"end_turn", "Hello you.", "Hello you."}, []string{got.Stop, got.Said, got.Replayed})
	require.Subset(t, got.Kinds, []string{"agent_message_chunk", "agent_thought_chunk", "available_commands_update", "session_info_update", "tool_call", "tool_call_update", "usage_update"})
	require.Equal(t, []string{"agent_message_chunk", "agent_thought_chunk", "tool_call", "usage_update", "user_message_chunk"}, got.Again)
	require.Subset(t, got.Options, []string{"mode=plan", "model=default", "auto_review=false"})
	require.Equal(t, []string{"Say hello"}, got.Listed)
	require.Equal(t, []int{0, 0}, got.Status)
}

// TestACPX: acpx asks once, and in a session that goes on in another process.
func TestACPX(t *testing.T) {
	t.Parallel()
	acpx := program(t, "acpx")
	manual, err := os.ReadFile(world.Top("editors", "acp", "README.md"))
	require.NoError(t, err)
	for _, way := range []string{" exec \"", " sessions new`", " \""} { // which are run here
		require.Contains(t, string(manual), `acpx --agent "cursord acp"`+way)
	}
	w := world.New(t)
	everything(w)
	base := []string{"--ttl", "1", "--agent", "cursord acp"}
	with := func(args ...string) []string { return append(base[:len(base):len(base)], args...) }
	stdout, stderr, status := runs(w, acpx, with("--deny-all", "exec", "Say hello")...)
	require.Equal(t, 1, status, stdout)
	require.Contains(t, stdout+stderr, "is not trusted")
	require.Empty(t, w.Runs())

	stdout, stderr, status = runs(w, acpx, with("--approve-all", "--format", "quiet", "exec", "Say hello")...)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "Hello you.")

	_, stderr, status = runs(w, acpx, with("--approve-all", "sessions", "new")...)
	require.Zero(t, status, stderr)
	w.Plays(world.Playing([]string{world.Piece("Once more."), world.Succeeds("Once more.")})...)
	for _, prompt := range []string{"first", "second"} {
		// The process that acpx leaves behind for a second refuses a prompt while it ends. On a busy machine, acpx
		// does not wait long enough for that process to start.
		for range 10 {
			stdout, stderr, status = runs(w, acpx, with("--approve-all", "--format", "quiet", prompt)...)
			if !strings.Contains(stderr, "QUEUE_OWNER_CLOSED") && !strings.Contains(stderr, "queue owner failed to start") {
				break
			}
		}
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, "Once more.")
	}
	var list listed
	c := opens(w, nil)
	c.must("session/list", world.Obj{"cwd": w.Root}, &list)
	require.Len(t, list.Sessions, 2)
	require.Len(t, turnsOf(w, list.Sessions[0].SessionID), 2, "both prompts are in one session")
}
