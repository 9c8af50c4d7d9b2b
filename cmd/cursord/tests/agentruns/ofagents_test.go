//go:build linux

package agentruns

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestAgentDoesNotDecide has the agent's shell call cursord itself: it can read and decide nothing, also if it removes the
// marks from its environment. The person can decide all the same.
func TestAgentDoesNotDecide(t *testing.T) {
	t.Parallel()
	const refused = "agents must not decide about their own work"
	w := world.New(t)
	w.PutAll(world.Tree{"a": "old\n"})
	commands := []string{
		"cursord accept --all", "cursord reject --all", "cursord undo", "cursord redo", "cursord trust", "cursord run --force again",
		"env -u CURSORD_STORE -u CURSORD_TURN_ID cursord accept --all",
	}
	var script strings.Builder
	for _, c := range commands {
		script.WriteString("echo + >>../said; " + c + " >>../said 2>&1; ")
	}
	w.Plays(world.Lines(world.Edits("a", "a", "old\n", "new\n"), world.Shells("b", script.String()+"cursord diff >../seen 2>&1"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	said := strings.Split(w.Get("../said"), "+\n")[1:]
	require.Len(t, said, len(commands))
	for i, text := range said {
		require.Contains(t, text, refused, commands[i])
		require.Contains(t, text, "do it in a terminal or an editor that no agent has started", commands[i])
	}
	require.Contains(t, w.Get("../seen"), "+new", "it can look")
	require.Len(t, e.Diffs()["a"].Hunks, 1)

	// A process with another daemon's mark, such as a daemon under test, is no agent of this daemon.
	cmd := exec.Command("cursord", "accept", "--all")
	cmd.Env, cmd.Dir = append(w.Env(), "CURSORD_STORE=other", "CURSORD_TURN_ID="+turn.ID), w.Root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "accepted 1 hunk")
	w.Stop()
	require.Equal(t, len(commands), strings.Count(w.Log.String(), "refused to a process of an agent"))
}

// TestConnectionOfAnEndedProcess: an agent lets a child without marks connect and exit, and decides over that connection,
// also if the daemon gets to see it only after the child has gone.
func TestConnectionOfAnEndedProcess(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"a": "old\n"})
	w.Start()
	e := w.Opens()
	request, err := json.Marshal(world.Obj{"jsonrpc": "2.0", "id": 1, "method": "diff/accept", "params": world.Obj{"workspace": w.Root, "all": true}})
	require.NoError(t, err)
	w.Put("../request", string(request)+"\n")
	said := w.Path("../said")
	attack := "borrow-connection %s <" + w.Path("../request") + " >>" + said + " 2>&1; "
	w.Plays(world.Lines(world.Edits("a", "a", "old\n", "new\n"), world.Shells("b", fmt.Sprintf(attack, "")+fmt.Sprintf(attack, fmt.Sprint(w.Cmd.Process.Pid))))...)
	e.Turn(nil)
	lines := strings.Split(strings.TrimSpace(w.Get("../said")), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `"kind":"invalid"`)
	require.Contains(t, lines[1], "connect from a process that lives")
	require.Len(t, e.Diffs()["a"].Hunks, 1)

	// No agent runs: nobody but a person can have made such a connection.
	cmd := exec.Command("borrow-connection")
	cmd.Env, cmd.Stdin = append(w.Env(), "PATH="+os.Getenv("PATH")), strings.NewReader(string(request)+"\n")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `"result"`)
	require.Empty(t, e.Diffs())
}

// TestAgentStartsNoFreerTurn: what an isolated agent's processes start is isolated too, and may do no more than their own turn.
func TestAgentStartsNoFreerTurn(t *testing.T) {
	t.Parallel()
	const refused = "agents must not decide about their own work"
	w := world.New(t)
	w.PutAll(world.Tree{"a": "old\n"})
	w.Start()
	e := w.Opens()
	makes := func(params world.Obj) string {
		var out struct{ Session *sessions.Session }
		params["workspace"] = w.Root
		e.Must("session/create", params, &out)
		return out.Session.ID
	}
	own := e.Isolates()
	plain, alike := makes(world.Obj{"isolation": "none"}), makes(world.Obj{"isolation": "copy"})
	open := makes(world.Obj{"isolation": "copy", "sandbox": "disabled"})
	judged := makes(world.Obj{"isolation": "copy", "autoReview": true})
	other := makes(world.Obj{"isolation": "copy", "driver": "acp"})
	rows := []struct {
		method, params string
		refused        bool
	}{
		{"turn/start", `"prompt": "x", "isolation": "none"`, true},
		{"turn/start", `"prompt": "x", "sessionId": "` + plain + `"`, true},
		{"turn/start", `"prompt": "x", "sessionId": "` + open + `"`, true},
		{"turn/start", `"prompt": "x", "sessionId": "` + judged + `"`, true},
		{"turn/start", `"prompt": "x", "sessionId": "` + other + `"`, true},
		{"turn/start", `"prompt": "x", "driver": "acp"`, true},
		{"turn/start", `"prompt": "x", "force": true`, true},
		{"turn/start", `"prompt": "x", "sandbox": "disabled"`, true},
		{"turn/start", `"prompt": "x", "addDirs": ["/"]`, true},
		{"session/create", `"isolation": "none"`, true},
		{"session/create", `"sandbox": "disabled"`, true},
		{"session/create", `"autoReview": true`, true},
		{"session/create", `"addDirs": ["/"]`, true},
		{"session/fork", `"sessionId": "` + own.ID + `", "isolation": "none"`, true},
		{"session/update", `"sessionId": "` + alike + `", "isolation": "none"`, true},
		{"daemon/backup", `"path": "` + w.Path("a") + `", "replace": true`, true},
		{"session/create", `"title": "t"`, false},
		{"turn/start", `"prompt": "x"`, false},
		{"turn/start", `"prompt": "x", "isolation": "copy"`, false},
		{"turn/start", `"prompt": "x", "sessionId": "` + alike + `"`, false},
	}
	said := w.Path("../said")
	script := "mkdir " + w.Path("../once") + " || exit 0; "
	for _, r := range rows {
		params := r.params
		if r.method == "turn/start" || r.method == "session/create" {
			params = fmt.Sprintf(`"workspace": %q, `, w.Root) + params
		}
		script += "{ echo +; cursord call " + r.method + " '{" + params + "}'; } >>" + said + " 2>&1; "
	}
	script += "cursord run --isolation none --background x >" + w.Path("../ran") + " 2>&1"
	w.Plays(world.Lines(world.Shells("b", script))...)
	e.Ok(own)
	answers := strings.Split(w.Get("../said"), "+\n")[1:]
	require.Len(t, answers, len(rows))
	for i, r := range rows {
		if r.refused {
			require.Contains(t, answers[i], refused, "%+v", r)
			continue
		}
		require.NotContains(t, answers[i], "cursord:", "%+v", r)
		require.Regexp(t, `"isolation": ?"copy"`, answers[i], "%+v", r)
	}
	require.Contains(t, w.Get("../ran"), refused)
	require.Equal(t, "old\n", w.Get("a"))
}

// TestOtherUserNamespace: a process in another user namespace than the daemon counts as an agent's, as those on an overlay
// are, also without marks and far from every agent.
func TestOtherUserNamespace(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "--user", "true").CombinedOutput(); err != nil {
		t.Skipf("no user namespaces here: %v: %s", err, out)
	}
	w := world.New(t)
	w.PutAll(world.Tree{"a": "old\n"})
	w.Plays(world.Lines(world.Edits("a", "a", "old\n", "new\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	request := fmt.Sprintf(`{"workspace": %q, "all": true}`, w.Root)
	cmd := exec.Command("unshare", "--user", "--map-root-user", "cursord", "call", "diff/accept", request)
	cmd.Env, cmd.Dir = w.Env(), w.Root
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "agents must not decide about their own work")
	require.Len(t, e.Diffs()["a"].Hunks, 1)
}
