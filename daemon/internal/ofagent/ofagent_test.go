package ofagent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/sessions"
)

// TestCheck holds turns against the turn of the process that asks for them.
func TestCheck(t *testing.T) {
	t.Parallel()
	agent := sessions.Turn{Mode: sessions.ModeAgent, Driver: "print"}
	plan, denies, held, free := agent, agent, agent, agent
	plan.Mode, denies.Approvals = "plan", "deny"
	held.Sandbox = config.SandboxOn
	free.Sandbox, free.AutoReview, free.AddDirs = "disabled", true, []string{"/a"}
	forced, other, otherDir := agent, agent, agent
	here, below, beside, added := agent, agent, agent, agent
	here.Workspace, below.Workspace, beside.Workspace, added.Workspace, added.AddDirs = "/w", "/w/a", "/b", "/w", []string{"/b"}
	besideFreely := beside
	besideFreely.Sandbox = "disabled"
	forced.Force, other.Driver, otherDir.AddDirs = true, "acp", []string{"/b"}
	for _, c := range []struct {
		name      string
		bounds    *Bounds
		isolation string
		turn      sessions.Turn
		refused   string
	}{
		{"a person", nil, "none", forced, ""},
		{"its equal", &Bounds{Turn: &agent}, "none", agent, ""},
		{"isolated", &Bounds{Turn: &agent, Isolated: true}, "none", agent, "isolation"},
		{"isolated alike", &Bounds{Turn: &agent, Isolated: true}, config.IsolationCopy, agent, ""},
		{"stricter", &Bounds{Turn: &agent}, config.IsolationCopy, held, ""},
		{"its permits", &Bounds{Turn: &free}, "none", free, ""},
		{"fewer permits", &Bounds{Turn: &free}, "none", held, ""},
		{"the sandbox off", &Bounds{Turn: &agent}, "none", sessions.Turn{Mode: "agent", Driver: "print", Sandbox: "disabled"}, "sandbox"},
		{"the agent's own setting", &Bounds{Turn: &held}, "none", agent, "sandbox"},
		{"the classifier", &Bounds{Turn: &agent}, "none", sessions.Turn{Mode: "agent", Driver: "print", AutoReview: true}, "autoReview"},
		{"another folder", &Bounds{Turn: &free}, "none", otherDir, "addDirs"},
		{"force", &Bounds{Turn: &forced}, "none", forced, "force"},
		{"another driver", &Bounds{Turn: &agent}, "none", other, "driver"},
		{"writing", &Bounds{Turn: &plan}, "none", agent, "mode"},
		{"reading", &Bounds{Turn: &agent}, "none", plan, ""},
		{"questions", &Bounds{Turn: &denies}, "none", agent, "approvals"},
		{"no questions", &Bounds{Turn: &agent}, "none", denies, ""},
		{"below its workspace", &Bounds{Turn: &here}, "none", below, ""},
		{"above its workspace", &Bounds{Turn: &below}, "none", here, "workspace"},
		{"beside its workspace", &Bounds{Turn: &here}, "none", beside, "workspace"},
		{"a folder that a person has added", &Bounds{Turn: &added}, "none", beside, ""},
		{"elsewhere, without a sandbox", &Bounds{Turn: &free}, "none", besideFreely, ""},
		{"elsewhere, and it is not known whence", &Bounds{Isolated: true}, config.IsolationCopy, beside, ""},
		{"a hidden turn", &Bounds{Isolated: true}, config.IsolationCopy, agent, ""},
		{"a hidden turn with permits", &Bounds{Isolated: true}, config.IsolationCopy, free, "sandbox"},
	} {
		err := c.bounds.Check(c.isolation, &c.turn)
		if c.refused == "" {
			require.NoError(t, err, c.name)
			continue
		}
		var e *api.Error
		require.ErrorAs(t, err, &e, c.name)
		require.Equal(t, c.refused, e.Field, c.name)
		require.Equal(t, api.AgentsHint, e.Hint)
	}
}

// TestCancel: an agent's process ends turns of its own session, and those that this has started.
func TestCancel(t *testing.T) {
	t.Parallel()
	own := &Bounds{Turn: &sessions.Turn{SessionID: "S"}}
	for _, c := range []struct {
		name    string
		bounds  *Bounds
		session string
		by      string
		refused bool
	}{
		{"a person", nil, "T", "", false},
		{"its session's", own, "S", "", false},
		{"one that it has started", own, "T", "S", false},
		{"a person's", own, "T", "", true},
		{"another agent's", own, "T", "U", true},
		{"by a process that hides its turn", &Bounds{Isolated: true}, "T", "", true},
	} {
		err := c.bounds.Cancel(&sessions.Turn{SessionID: c.session}, c.by)
		require.Equal(t, c.refused, err != nil, c.name)
	}
}

// TestDriver: a session that an agent's process makes has the driver of the process's own turn.
func TestDriver(t *testing.T) {
	t.Parallel()
	own := &Bounds{Turn: &sessions.Turn{Driver: "print"}}
	for asked, want := range map[string]string{"": "print", "print": "print"} {
		got, err := own.Driver(asked)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := own.Driver("acp")
	require.ErrorContains(t, err, api.AgentsMessage)
	var person *Bounds
	got, err := person.Driver("acp")
	require.NoError(t, err)
	require.Equal(t, "acp", got)
}
