//go:build unix

package life

import (
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestAdoptedChat continues a chat that was begun without cursord.
func TestAdoptedChat(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start("CURSOR_CONFIG_DIR=" + w.Dir)
	folder := fmt.Sprintf("../chats/%x/", md5.Sum([]byte(w.Root)))
	w.Put(folder+"outside-1/meta.json", `{"title":"Begun outside"}`)
	w.Put(folder+"outside-2/store.db", "")
	e := w.Opens()
	var created struct{ Session *sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root, "agentSessionId": "outside-2"}, &created)
	e.Turn(world.Obj{"sessionId": created.Session.ID})
	args := w.Runs()[0].Args
	require.Equal(t, "outside-2", args[slices.Index(args, "--resume")+1], "the first turn resumes it")

	out, _, status := w.Cursord("sessions", "--agent")
	require.Zero(t, status)
	require.Regexp(t, `(?m)^Begun outside .* outside-1 +-$`, out)
	require.Regexp(t, `outside-2 .* `+created.Session.ID, out)
	for range 2 { // the second call finds the chat adopted
		_, _, status = w.Cursord("run", "--chat", "outside-1", "hello")
		require.Zero(t, status)
	}
	runs := w.Runs()
	require.Contains(t, runs[1].Args, "outside-1")
	require.Contains(t, runs[2].Args, "outside-1")
	var list struct{ Sessions []*sessions.Session }
	e.Must("session/list", world.Obj{"workspace": w.Root}, &list)
	require.Len(t, list.Sessions, 2)
	require.Equal(t, "Begun outside", list.Sessions[0].Title)
	_, says, status := w.Cursord("run", "--chat", "nobody", "hello")
	require.Equal(t, 1, status)
	require.Contains(t, says, "sessions --agent")
	_, says, status = w.Cursord("run", "--recap", "hello")
	require.Equal(t, 2, status)
	require.Contains(t, says, "--session")
	_, _, status = w.Cursord("run", "--resume", created.Session.ID, "--recap", "again")
	require.Zero(t, status)
	require.Contains(t, w.Runs()[3].Prompt, "<transcript>\n[user]\ndo it\n")
}

// TestAChatGivesTheAgentNoOptions names chats like options of the agent's command line, as a foreign file might.
func TestAChatGivesTheAgentNoOptions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	for _, id := range []string{"--force", "-f", "a\x00b", "a\nb", strings.Repeat("x", 257)} {
		refused := e.Fails("session/create", world.Obj{"workspace": w.Root, "agentSessionId": id})
		require.Equal(t, -32602, refused.Code, id)
		require.Equal(t, "agentSessionId", refused.Data.Field, id)
	}
	w.Plays(world.InitLine, world.Succeeds(""))
	turn := e.Turn(nil)
	file := filepath.Join(w.Dir, "s.ndjson")
	w.CursordOK("export", turn.SessionID, "--format", "ndjson", "-o", file)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	evil := strings.ReplaceAll(string(raw), w.Runs()[0].Session, "--force")
	require.NoError(t, os.WriteFile(file, []byte(evil), 0o600))
	var imported struct{ Session *sessions.Session }
	e.Must("session/import", world.Obj{"path": file, "newIds": true}, &imported)
	require.Equal(t, sessions.TurnCompleted, e.Turn(world.Obj{"sessionId": imported.Session.ID}).Status)
	require.NotContains(t, strings.Join(w.Runs()[1].Args, " "), "force")

	// If the agent itself names its chat so, the daemon passes the name as the chat's, not as an option.
	w.Plays(strings.Replace(world.InitLine, "{{session}}", "--force", 1), `{"type":"result","subtype":"success","result":""}`)
	turn = e.Turn(nil)
	e.Turn(world.Obj{"sessionId": turn.SessionID})
	require.Contains(t, w.Runs()[3].Args, "--resume=--force")
}

// TestTheCurrentModelIsTheConfigurations: agent/models marks the configured model as the current one.
func TestTheCurrentModelIsTheConfigurations(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", `model = "fake-large"`)
	w.Start()
	var list struct {
		Models []struct {
			ID      string
			Current bool
		}
	}
	w.Opens().Must("agent/models", nil, &list)
	var current []string
	for _, m := range list.Models {
		if m.Current {
			current = append(current, m.ID)
		}
	}
	require.Equal(t, []string{"fake-large"}, current)
}
