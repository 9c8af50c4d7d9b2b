package join

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cursord/agent/fake"
	"cursord/daemon"
	"cursord/daemon/config"
	"cursord/rpc"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// agentVar makes the test binary the agent.
const agentVar = "JOIN_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentVar) != "" {
		os.Exit(fake.Main(os.Args[1:], time.Now))
	}
	goleak.VerifyTestMain(m)
}

// TestJoinerKnowsOurDaemon plays a turn: the joiner must understand its messages without decoding them, because it must be
// fast.
func TestJoinerKnowsOurDaemon(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the agent of this test is started by a shell script")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	script, bin, app := filepath.Join(dir, "script"), filepath.Join(dir, "agent"), filepath.Join(dir, "app")
	require.NoError(t, os.WriteFile(script, []byte(`{"fake":"begin"}
{"fake":"think","text":"Hm, a file."}
{"fake":"say","text":"A friendlier greeting."}
{"fake":"edit","path":"f","text":"two\n"}
{"fake":"say","text":"It is written."}
{"fake":"finish"}
`), 0o600))
	require.NoError(t, os.WriteFile(bin, fmt.Appendf(nil, "#!/bin/sh\n%s=1 CURSORD_FAKE_SCRIPT=%s exec %q \"$@\"\n", agentVar, script, os.Args[0]), 0o700))
	require.NoError(t, os.Mkdir(app, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(app, "f"), []byte("one\n"), 0o600))
	settings := config.Default()
	settings.Agent = bin
	log := slog.New(slog.DiscardHandler)
	d, err := daemon.Open(daemon.Options{Version: "1.2.3", StateDir: filepath.Join(dir, "state"), Config: settings, Log: log})
	require.NoError(t, err)
	conn, served := pair(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		rpc.ServeConn(context.Background(), served, d, log)
	}()
	t.Cleanup(func() {
		d.EndTurns()
		conn.Close()
		<-ended
		require.NoError(t, d.Close())
	})
	require.NoError(t, conn.SetDeadline(time.Now().Add(3*patience)))
	ask := func(id, method, params string) {
		_, err := conn.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, rpc.AppendRequest(nil, []byte(id), method, []byte(params))))
		require.NoError(t, err)
	}
	ask(`1`, "workspace/trust", fmt.Sprintf(`{"workspace":%q,"trusted":true}`, app))
	ask(`"two"`, "workspace/subscribe", fmt.Sprintf(`{"workspace":%q}`, app))
	ask(`3`, "turn/start", fmt.Sprintf(`{"workspace":%q,"prompt":"p","turnId":"t"}`, app))
	ask(`4`, "turn/wait", `{"turnId":"t"}`)
	ask(`5`, "no/such", `{}`)
	from := rpc.NewFrameReader(conn, rpc.HardCap)
	kinds, answers := map[string]int{}, map[string]bool{}
	for seq := uint64(0); len(answers) < 5; {
		body, err := from.Read()
		require.NoError(t, err)
		switch {
		case bytes.HasPrefix(body, deltaHead):
			id, ok := textAfter(body, `"itemId":"`)
			require.True(t, ok, "%s", body)
			require.True(t, strings.HasPrefix(string(id), "t:"), "%s", id)
			kinds["delta"]++
		case bytes.HasPrefix(body, noteHead):
			kind, workspace, now, rest, ok := changedParts(body)
			require.True(t, ok, "%s", body)
			require.Equal(t, app, string(workspace))
			require.Greater(t, now, seq)
			seq = now
			require.True(t, bytes.HasPrefix(rest, []byte(`,"`+string(kind)+`":{`)), "%s", rest)
			if string(kind) == "item" {
				require.True(t, bytes.HasPrefix(rest, []byte(`,"item":{"id":"t:`)), "%s", rest)
			}
			kinds[string(kind)]++
		default:
			rest, ok := bytes.CutPrefix(body, answerHead)
			require.True(t, ok, "%s", body)
			id, rest, ok := cutID(rest)
			require.True(t, ok, "%s", body)
			if answers[string(id)] = true; string(id) == "5" {
				require.True(t, bytes.HasPrefix(rest, []byte(`,"error":{"code":-32601,`)), "%s", rest)
			}
		}
	}
	for _, kind := range []string{"session", "turn", "item", "diff", "delta"} {
		require.NotZero(t, kinds[kind], kind)
	}
}
