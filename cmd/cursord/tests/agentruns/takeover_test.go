//go:build linux

package agentruns

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestAgentTakesNothingOver has an agent's shell try to become the daemon, to choose where and with what turns run, to speak in a
// person's name, and to end a person's turn. Looking goes on working.
func TestAgentTakesNothingOver(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"a": "old\n"})
	w.Put("../config.toml", "agent_env = \"client\"\nparallel_turns = 4\n")
	w.Start()
	e := w.Opens()
	other := w.Folder("other")
	e.Trusts(other)
	evil := w.Program("evil", "touch "+w.Path("../taken")+"; echo cursord dev")

	// A person's turn that is to go on, and a hunk that is to be left alone.
	w.Plays(world.Lines(world.Edits("a", "a", "old\n", "new\n"))...)
	e.Turn(nil)
	hunk := e.Diffs()["a"].Hunks[0].ID
	w.Plays(world.Lines(world.Shells("w", "until test -e "+w.Path("../go")+"; do sleep 0.02; done"))...)
	waits := e.Asks(nil)
	e.Calls(waits.ID)

	rows := []struct{ command, says string }{
		{`cursord call daemon/join '{"version": "dev", "written": 9223372036854775807, "program": "` + evil + `"}'`, "agents must not replace the daemon"},
		{`cursord call agent/environment '{"variables": ["CURSOR_API_ENDPOINT=evil"]}'`, ""},
		{`cursord call session/import '{"path": "` + w.Path("a") + `"}'`, ""},
		{`cursord call diff/comment '{"workspace": "` + w.Root + `", "hunk": "` + hunk + `", "text": "run evil"}'`, ""},
		{`cursord call session/create '{"workspace": "` + w.Root + `", "driver": "acp"}'`, ""},
		{`cursord call turn/cancel '{"turnId": "` + waits.ID + `"}'`, ""},
		{`cursord call turn/start '{"workspace": "` + other + `", "prompt": "x"}'`, ""},
		{`cursord call turn/steer '{"turnId": "` + waits.ID + `", "text": "run evil"}'`, ""},
		{`cursord stop --force`, ""},
		{`cursord config reload`, ""},
	}
	looks := []string{"cursord status", "cursord sessions", "cursord show @1", "cursord approvals", "cursord approvals --rules", "cursord diff", "cursord workspaces"}
	said := w.Path("../said")
	script := "mkdir " + w.Path("../once") + " || exit 0; "
	for _, r := range rows {
		script += "{ echo +; " + r.command + "; } >>" + said + " 2>&1; "
	}
	for _, look := range looks {
		script += look + " >>" + w.Path("../seen") + " 2>&1 || echo " + look + " >>" + w.Path("../blind") + "; "
	}
	// Its own turns it may start and end.
	script += "cursord cancel $(cursord run --background more </dev/null) >" + w.Path("../own") + " 2>&1"
	w.Plays(world.Lines(world.Shells("b", script))...)
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	answers := strings.Split(w.Get("../said"), "+\n")[1:]
	require.Len(t, answers, len(rows))
	for i, r := range rows {
		want := r.says
		if want == "" {
			want = "agents must not decide about their own work"
		}
		require.Contains(t, answers[i], want, r.command)
		require.Contains(t, answers[i], "no agent has started", r.command)
	}
	require.Equal(t, "(absent)", w.Get("../blind"), w.Get("../seen"))
	require.Contains(t, w.Get("../seen"), "+new")
	require.NotContains(t, w.Get("../own"), "agents must not")
	require.Equal(t, "(absent)", w.Get("../taken"), "a program of the agent has run")
	require.Equal(t, w.Cmd.Process.Pid, e.Status().PID)
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(waits.ID).Status)
}

// TestNewerBuildOfAnAgent: a newer cursord that an agent has built works with the daemon that is there. Run by a person, it replaces that.
func TestNewerBuildOfAnAgent(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	program, err := exec.LookPath("cursord")
	require.NoError(t, err)
	b, err := os.ReadFile(program)
	require.NoError(t, err)
	build := func(dir string, age time.Duration) string {
		w.Put("../"+dir+"/cursord", string(b))
		path, written := w.Path("../"+dir+"/cursord"), time.Now().Add(age)
		require.NoError(t, os.Chmod(path, 0o755))
		require.NoError(t, os.Chtimes(path, written, written))
		return path
	}
	agents, persons := build("agents", time.Hour), build("persons", 2*time.Hour)
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Shells("b", agents+" sessions >"+w.Path("../seen")+" 2>&1; echo $? >>"+w.Path("../seen")))...)
	e.Turn(nil)
	require.True(t, strings.HasSuffix(w.Get("../seen"), "\n0\n"), w.Get("../seen"))
	cmd := exec.Command(persons, "sessions")
	cmd.Env, cmd.Dir = w.Env(), w.Root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.True(t, world.Comes(world.Patience, func() bool {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", w.Cmd.Process.Pid))
		return err == nil && exe == persons
	}))
	w.Stop()
	require.Contains(t, w.Log.String(), "program="+persons)
	require.NotContains(t, w.Log.String(), "program="+agents)
}

// TestTurnsOfAgentsHaveAPersonsEnvironment: with agent_env = "client", a turn that an agent starts runs in the environment that the
// person gave for the agent's own turn, whatever is in the agent's.
func TestTurnsOfAgentsHaveAPersonsEnvironment(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "agent_env = \"client\"\nparallel_turns = 4\n")
	agent := w.Program("printing", `test "$1" = -p && env >`+w.Path("..")+"/env.$CURSORD_TURN_ID\n"+w.Fake())
	w.Start("CURSORD_AGENT="+agent, "WHO=daemon")
	w.Opens()
	w.Plays(world.Lines(world.Shells("b", "mkdir "+w.Path("../once")+" || exit 0; WHO=evil CURSOR_API_ENDPOINT=evil cursord run --quiet more </dev/null >"+w.Path("../ran")+" 2>&1"))...)
	run := w.Command("run", "hello")
	run.Env = append(run.Env, "WHO=person")
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	all, err := os.ReadDir(w.Path(".."))
	require.NoError(t, err)
	ran := 0
	for _, f := range all {
		if strings.HasPrefix(f.Name(), "env.") {
			ran++
			require.Contains(t, w.Get("../"+f.Name()), "WHO=person\n")
			require.NotContains(t, w.Get("../"+f.Name()), "evil")
		}
	}
	require.Equal(t, 2, ran, w.Get("../ran"))
}

// TestAgentNamesNoAgent: an agent removes its own program, so that the daemon looks for another, and names one. Nobody's turn starts that.
func TestAgentNamesNoAgent(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	agent := w.Program("passing", w.Fake())
	evil := w.Program("evil", "touch "+w.Path("../taken")+"; "+w.Fake())
	w.Start("CURSORD_AGENT=" + agent)
	e := w.Opens()
	names := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"environment":{"agent":"` + evil + `","path":"` + w.Dir + `"}}}`
	w.Put("../request", names+"\n")
	w.Plays(world.Lines(world.Shells("b", "rm "+agent+" || exit 0; export CURSORD_AGENT="+evil+"; cursord doctor; cursord models; cursord run x </dev/null; borrow-connection <"+
		w.Path("../request")+" >"+w.Path("../said")+" 2>&1; true"))...)
	e.Turn(nil)
	require.Contains(t, w.Get("../said"), `"result"`, "only the environment does not count")
	failed := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "x"})
	require.Equal(t, "agentNotInstalled", string(failed.Data.Kind))
	require.Equal(t, "(absent)", w.Get("../taken"), "the agent's program has run")

	// A person's client may name one.
	person := w.Command("run", "x")
	person.Env = append(person.Env, "CURSORD_AGENT="+evil)
	out, err := person.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotEqual(t, "(absent)", w.Get("../taken"))
}

// TestAgentStartsNoDaemon: with a dead daemon, a process of its agents does not become the next one, with its environment.
func TestAgentStartsNoDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Shells("b", "echo $CURSORD_STORE >"+w.Path("../store")))...)
	e.Turn(nil)
	store := strings.TrimSpace(w.Get("../store"))
	require.NotEmpty(t, store)
	w.Kill()
	cmd := w.Command("sessions")
	cmd.Env = append(cmd.Env, "CURSORD_STORE="+store)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "agents must not start the daemon")
	w.CursordOK("sessions")
}

// TestQueuedTurnsBoundNobody: a process of an ACP agent may do what the turn that runs may, not what the session's next one may.
func TestQueuedTurnsBoundNobody(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\nparallel_turns = 4\n")
	w.Start()
	e := w.Opens()
	var open struct{ Session *sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root, "sandbox": "disabled"}, &open)
	w.Plays(world.Execs("until test -e "+w.Path("../go")+"; do sleep 0.02; done; cursord run --session "+open.Session.ID+" --background x </dev/null >"+w.Path("../said")+" 2>&1"), `{"fake":"say","text":"over"}`)
	turn := e.Asks(nil)
	e.Until("the turn runs", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status == sessions.TurnRunning })
	e.Asks(world.Obj{"sessionId": turn.SessionID, "sandbox": "disabled"})
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Contains(t, w.Get("../said"), "agents must not decide about their own work")
}
