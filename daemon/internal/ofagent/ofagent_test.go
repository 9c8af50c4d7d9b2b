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
