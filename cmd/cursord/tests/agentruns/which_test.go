//go:build unix

package agentruns

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// These tests are about which program is the agent, which build it is, and whose environment it gets.

// systemPath has only the folders of the system's own programs, without an agent.
const systemPath = "/usr/bin:/bin"

// TestAgentOfAClient: a daemon that finds no agent uses the one that its clients find.
func TestAgentOfAClient(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*world.World, *world.Editor, string) {
		w := world.New(t)
		w.Start("PATH="+systemPath, "CURSORD_AGENT=")
		e := w.Opens()
		failed := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "hi"})
		require.Equal(t, -32010, failed.Code)
		return w, e, w.Program("bin/cursor-agent", w.Fake())
	}
	completes := func(t *testing.T, w *world.World, e *world.Editor, by string) {
		require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
		var a api.AgentStatus
		e.Must("agent/status", world.Obj{}, &a)
		require.Equal(t, "ready", a.State)
		require.Equal(t, by, a.FoundBy)
	}
	t.Run("PATH in daemon/join", func(t *testing.T) {
		w, e, bin := begin(t)
		other := w.Joins()
		other.Must("daemon/join", world.Obj{"version": "dev", "written": 0, "program": "", "environment": world.Obj{"path": systemPath + ":relative:" + filepath.Dir(bin)}}, nil)
		completes(t, w, e, "client")
	})
	t.Run("CURSORD_AGENT in initialize", func(t *testing.T) {
		w, e, bin := begin(t)
		other := w.Joins()
		other.Must("initialize", world.Obj{"environment": world.Obj{"agent": bin}}, nil)
		completes(t, w, e, "client")
	})
	t.Run("a command of another shell", func(t *testing.T) {
		w, e, bin := begin(t)
		run := w.Command("run", "--trust", "hello")
		run.Env = append(run.Env, "CURSORD_AGENT=", "PATH="+os.Getenv("PATH")+":"+filepath.Dir(bin))
		out, err := run.CombinedOutput()
		require.NoError(t, err, "%s", out)
		completes(t, w, e, "client")
	})
	t.Run("an editor of another shell", func(t *testing.T) {
		w, e, bin := begin(t)
		stdio := w.Command("stdio")
		stdio.Env = append(stdio.Env, "CURSORD_AGENT="+bin)
		stdio.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"daemon/status"}` + "\n")
		out, err := stdio.CombinedOutput()
		require.NoError(t, err, "%s", out)
		completes(t, w, e, "client")
	})
	t.Run("the configuration", func(t *testing.T) {
		w, e, bin := begin(t)
		w.Put("../config.toml", "agent = \""+bin+"\"\n")
		completes(t, w, e, "daemon")
	})
	t.Run("what it had has gone", func(t *testing.T) {
		w, e, bin := begin(t)
		other := w.Joins()
		other.Must("initialize", world.Obj{"environment": world.Obj{"agent": bin}}, nil)
		completes(t, w, e, "client")
		require.NoError(t, os.Remove(bin))
		require.Equal(t, -32010, e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "hi"}).Code)
		w.Joins().Must("initialize", world.Obj{"environment": world.Obj{"path": filepath.Dir(w.Program("else/cursor-agent", w.Fake()))}}, nil)
		completes(t, w, e, "client")
	})
	t.Run("a program that does not run", func(t *testing.T) {
		w, _, bin := begin(t)
		w.Kill()
		broken := w.Program("broken", "exec /no/such/program")
		w.Start("PATH="+systemPath, "CURSORD_AGENT="+broken)
		e := w.Joins()
		var a api.AgentStatus
		e.Must("agent/status", world.Obj{}, &a)
		require.Equal(t, "unknown", a.State)
		w.Joins().Must("initialize", world.Obj{"environment": world.Obj{"agent": bin}}, nil)
		completes(t, w, w.Opens(), "client")
	})
	t.Run("the daemon's CURSORD_AGENT is wrong", func(t *testing.T) {
		w, _, bin := begin(t)
		w.Kill()
		w.Start("PATH="+systemPath, "CURSORD_AGENT=/no/such/agent")
		w.Joins().Must("initialize", world.Obj{"environment": world.Obj{"path": filepath.Dir(bin)}}, nil)
		completes(t, w, w.Opens(), "client")
	})
	t.Run("another program that a client names does not stay", func(t *testing.T) {
		w, e, bin := begin(t)
		w.Joins().Must("initialize", world.Obj{"environment": world.Obj{"agent": w.Program("other", "echo other 1.0"), "path": systemPath}}, nil)
		var a api.AgentStatus
		e.Must("agent/status", world.Obj{}, &a)
		require.Equal(t, "other 1.0", a.Version)
		w.Joins().Must("initialize", world.Obj{"environment": world.Obj{"path": filepath.Dir(bin) + ":" + systemPath}}, nil)
		completes(t, w, e, "client")
	})
	t.Run("a daemon that has one keeps it", func(t *testing.T) {
		w := world.New(t)
		w.Start()
		w.Joins().Must("initialize", world.Obj{"environment": world.Obj{"agent": w.Program("bin/cursor-agent", "exit 1")}}, nil)
		completes(t, w, w.Opens(), "daemon")
	})
}

// TestAnotherVendorsAgent is a program called agent that is not Cursor's.
func TestAnotherVendorsAgent(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	grok := w.Program("grok/agent", "echo started >>"+filepath.Join(w.Dir, "grok-ran")+"; echo 'grok 0.4.1'")
	w.Start("PATH="+filepath.Dir(grok)+":"+systemPath, "CURSORD_AGENT=")
	e := w.Opens()
	failed := turnOrFailure(e)
	require.Equal(t, "agentNotInstalled", failed)
	var a api.AgentStatus
	e.Must("agent/status", world.Obj{}, &a)
	require.Equal(t, "notInstalled", a.State)
	require.Equal(t, grok, a.NotTaken[0].Path)
	require.Contains(t, a.NotTaken[0].Reason, "grok 0.4.1")
	doctor := w.Command("doctor")
	doctor.Env = append(doctor.Env, "CURSORD_AGENT=", "PATH="+filepath.Dir(mustLook(t, "cursord"))+":"+systemPath)
	out, err := doctor.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), grok+" was not taken for cursor-agent: its --version prints \"grok 0.4.1\"")
	require.Contains(t, string(out), "problem: cursor-agent is not installed")

	// The same, if only the client has it on its PATH.
	elsewhere := world.New(t)
	elsewhere.Start("PATH="+systemPath, "CURSORD_AGENT=")
	doctor = elsewhere.Command("doctor")
	doctor.Env = append(doctor.Env, "CURSORD_AGENT=", "PATH="+filepath.Dir(mustLook(t, "cursord"))+":"+systemPath+":"+filepath.Dir(grok))
	out, err = doctor.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 1, strings.Count(string(out), grok+" was not taken for cursor-agent"), "%s", out)
	there := elsewhere.Opens()
	there.Must("agent/status", world.Obj{}, &a)
	require.Equal(t, "notInstalled", a.State)
	require.Contains(t, a.Message, "there is neither cursor-agent nor agent on the daemon's PATH; there is no cursor-agent on a client's PATH, and "+
		grok+" is another program")

	ours := w.Program("cursor/agent", w.Fake())
	w.Joins().Must("initialize", world.Obj{"environment": world.Obj{"path": filepath.Dir(grok) + ":" + filepath.Dir(ours)}}, nil)
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	e.Must("agent/status", world.Obj{}, &a)
	require.Equal(t, "ready", a.State)
	require.Equal(t, ours, a.Path)
	ran, err := os.ReadFile(filepath.Join(w.Dir, "grok-ran"))
	require.NoError(t, err)
	// A turn and a client may ask at the same moment.
	require.LessOrEqual(t, bytes.Count(ran, []byte("started")), 4, "each daemon asks it once, or twice at a time")
}

// TestWrongNamesOfTheAgent: the error names the setting or variable, and says what is wrong with it.
func TestWrongNamesOfTheAgent(t *testing.T) {
	w := world.New(t)
	folder := filepath.Join(w.Dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	w.Put("../config.toml", "agent = \""+folder+"\"\n")
	w.Start("PATH="+systemPath, "CURSORD_AGENT=")
	e := w.Opens()
	failed := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "hi"})
	const remedy = "make it name cursor-agent, or remove it so that PATH is searched; to install cursor-agent: `curl https://cursor.com/install -fsS | bash`"
	inFile := "the setting agent in " + filepath.Join(w.Dir, "config.toml") + " names " + folder + ", which is a folder"
	require.Equal(t, inFile, failed.Message)
	require.Equal(t, remedy, failed.Data.Hint)
	require.EqualValues(t, "agentNotInstalled", failed.Data.Kind)

	// A wrong name in the client's environment gets the same error.
	nowhere := filepath.Join(w.Dir, "nowhere")
	w.Joins().Must("initialize", world.Obj{"environment": world.Obj{"agent": nowhere}}, nil)
	failed = e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "hi"})
	require.Equal(t, inFile+"; CURSORD_AGENT in a client's environment names "+nowhere+", which is not there", failed.Message)
	doctor := w.Command("doctor")
	doctor.Env = append(doctor.Env, "CURSORD_AGENT="+nowhere)
	out, err := doctor.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "problem: "+inFile+"; CURSORD_AGENT in a client's environment names "+nowhere+", which is not there\n  fix: "+remedy)
	require.Equal(t, 1, strings.Count(string(out), "problem: "), "%s", out)

	// The name of another program that runs.
	grok := w.Program("grok", `test "$1" = --version && { echo 'grok 1.2.3'; exit; }; echo "error: unknown option '$1'" >&2; exit 1`)
	w.Put("../config.toml", "agent = \""+grok+"\"\n")
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnFailed, turn.Status)
	require.Contains(t, turn.Error.Hint, "config.toml names "+grok+`, which may not be cursor-agent: its --version prints "grok 1.2.3"`)
	var a api.AgentStatus
	e.Must("agent/status", world.Obj{}, &a)
	require.Equal(t, "unknown", a.State)
	require.Contains(t, a.Message, "config.toml names "+grok+", which may not be cursor-agent")
}

// TestDoctorShowsBothAgents: the daemon and the shell that runs doctor find different agents.
func TestDoctorShowsBothAgents(t *testing.T) {
	w := world.New(t)
	w.Start("PATH=" + systemPath)
	doctor := func(env ...string) string {
		c := w.Command("doctor")
		c.Env = append(c.Env, env...)
		out, _ := c.CombinedOutput()
		return string(out)
	}
	require.NotContains(t, doctor(), "you would take")
	other := w.Program("other/cursor-agent", w.Fake())
	require.Contains(t, doctor("CURSORD_AGENT="+other), "you would take "+other+" (named by your CURSORD_AGENT), and the daemon does not")
	path := "PATH=" + filepath.Dir(mustLook(t, "cursord")) + ":" + filepath.Dir(other) + ":" + systemPath
	require.Contains(t, doctor("CURSORD_AGENT=", path), "you would take "+other+" (the first on your PATH), and the daemon does not")
	link := filepath.Join(w.Dir, "link")
	require.NoError(t, os.Symlink(filepath.Join(w.Dir, "agent"), link))
	require.NotContains(t, doctor("CURSORD_AGENT="+link), "you would take", "it is the same program")
	require.Contains(t, doctor("CURSORD_AGENT="+w.Dir), "problem: your CURSORD_AGENT names "+w.Dir+", which is a folder\n  fix: make it name cursor-agent")
	grok := w.Program("grok/agent", "echo grok 0.4.1")
	require.Contains(t, doctor("CURSORD_AGENT=", "PATH="+filepath.Dir(mustLook(t, "cursord"))+":"+filepath.Dir(grok)+":"+systemPath),
		grok+" was not taken for cursor-agent", "it is on our PATH alone")
}

// TestKeyThatTheDaemonLacks: a person with an API key learns that the daemon has none.
func TestKeyThatTheDaemonLacks(t *testing.T) {
	w := world.New(t)
	w.Start("CURSORD_FAKE_STATUS=logged-out", "CURSORD_FAKE_BUILD=2026.10.01")
	with := func(args ...string) string {
		c := w.Command(args...)
		c.Env = append(c.Env, "CURSOR_API_KEY="+envSecret)
		out, err := c.CombinedOutput()
		require.Error(t, err)
		require.NotContains(t, string(out), envSecret)
		return string(out)
	}
	const says = "your environment has CURSOR_API_KEY, and the daemon's, in which agents run, has not"
	require.Contains(t, with("doctor"), says)
	require.Contains(t, with("run", "--trust", "hi"), says)
	out, _, _ := w.Cursord("doctor")
	require.NotContains(t, out, says)
	_, out, _ = w.Cursord("run", "hi")
	require.Contains(t, out, "cursor-agent login")
	require.NotContains(t, out, says)
}

// turnOrFailure starts a turn that must fail and returns its error.
func turnOrFailure(e *world.Editor) string {
	e.T.Helper()
	var started struct{ Turn *sessions.Turn }
	if err := e.Call("turn/start", world.Obj{"workspace": e.World.Root, "prompt": "hi"}, &started); err != nil {
		return string(e.Fails("turn/start", world.Obj{"workspace": e.World.Root, "prompt": "hi"}).Data.Kind)
	}
	var ended struct{ Turn *sessions.Turn }
	e.Must("turn/wait", world.Obj{"turnId": started.Turn.ID}, &ended)
	require.NotNil(e.T, ended.Turn.Error)
	return ended.Turn.Error.Kind
}

func mustLook(t *testing.T, name string) string {
	path, err := exec.LookPath(name)
	require.NoError(t, err)
	return path
}
