package doctor

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/daemon/config"
)

// TestPrint shows what is known, a line for each, then what is wrong.
func TestPrint(t *testing.T) {
	t.Parallel()
	d := &Diagnosis{Version: "v1", Platform: "linux/amd64", Socket: "/s", Database: "/d", Log: "/l", Config: "/c"}
	var out strings.Builder
	d.Print(&out)
	require.Equal(t, "✓ cursord   v1 (linux/amd64)\n✓ daemon    cannot be reached\n  socket    /s\n✓ database  /d\n  log       /l\n✓ config    /c\n\n✓ all is well\n",
		out.String())

	d.absent = " (not there)"
	out.Reset()
	d.Print(&out)
	require.Contains(t, out.String(), "\n  config    /c (not there)\n")
	d.absent = ""

	d.Daemon, d.Forgotten = &api.Status{Version: "v0", PID: 7}, 2
	d.Agent = &api.AgentStatus{State: "ready", Version: "2026\x1b[2J", Path: "/bin/agent"}
	d.problem("agent", "do this", "the %s", "first")
	d.problem("config", "", "the second")
	out.Reset()
	d.Print(&out)
	require.NotContains(t, out.String(), "\x1b")
	require.Contains(t, out.String(), "\n✓ daemon    v0, process 7\n✗ agent     ready, 2026")
	require.Contains(t, out.String(), "\n✓ hooks     none run programs\n")
	require.True(t, strings.HasSuffix(out.String(),
		"\nforgotten: 2 damaged objects in the database, which had been set aside\n\n✗ problem: the first\n  fix: do this\n\n✗ problem: the second\n"), out.String())
	require.Contains(t, out.String(), "\n✗ config    /c\n")
	require.Equal(t, []string{"the first: do this", "the second"}, d.Problems, "programs get all in one")
}

func TestHookLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"/h: cannot be read", "/h: afterFileEdit (after edits): gofmt -w", "/h: stop: say"}, hookLines([]api.AgentHook{
		{File: "/h", Problem: "not JSON"},
		{File: "/h", Event: "afterFileEdit", Command: "gofmt -w", AfterEdit: true},
		{File: "/h", Event: "stop", Command: "say"},
	}))
}

// TestEnvironmentLines names variables and never has their values.
func TestEnvironmentLines(t *testing.T) {
	t.Parallel()
	require.Empty(t, environmentLines(nil, ""))
	require.Empty(t, environmentLines(&api.EnvironmentDifference{}, ""))
	require.Equal(t, []string{
		"the daemon has other values than you: PATH", "only the daemon has: CURSOR_A, CURSOR_B", "only you have, not the daemon: CURSOR_API_KEY",
		`agents run in the daemon's, unless the configuration says agent_env = "client"`,
	}, environmentLines(&api.EnvironmentDifference{
		Differ: []string{"PATH"}, DaemonOnly: []string{"CURSOR_A", "CURSOR_B"}, ClientOnly: []string{"CURSOR_API_KEY"},
	}, ""))
	require.Contains(t, environmentLines(&api.EnvironmentDifference{Differ: []string{"PATH"}}, config.EnvClient)[1], "of who starts the turn")
}

// TestCompareOptions finds what the configuration asks of an agent that does not know it.
func TestCompareOptions(t *testing.T) {
	t.Parallel()
	settings := &config.Config{Sandbox: "enabled", AutoReview: true}
	d := &Diagnosis{Config: "/c"}
	d.compareOptions(settings)
	require.Empty(t, d.Problems, "there is no agent")
	d.Agent = &api.AgentStatus{Version: "2026.01.01", Options: []string{"sandbox"}}
	d.compareOptions(settings)
	require.Len(t, d.Problems, 1)
	require.Contains(t, d.Problems[0], "the configuration has auto_review, and cursor-agent 2026.01.01 does not know the option --auto-review")
}

// TestMistakesOfTheFileHaveFixes: each mistake of the configuration file has a fix of its own.
func TestMistakesOfTheFileHaveFixes(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"idle_exit = \"5x\"\nkeep_sessions = -1": {
			"mend it with: cursord config set idle_exit VALUE, cursord config unset idle_exit, or cursord config edit",
			"mend it with: cursord config set keep_sessions VALUE, cursord config unset keep_sessions, or cursord config edit",
		},
		"modle = 1":                          {`correct or remove the key with "cursord config edit"`},
		"[isolation_of]\n\"app\" = \"copy\"": {"mend the file with: cursord config edit"},
		"model = ":                           {"mend the file with: cursord config edit"},
		"model = \"m\"":                      nil,
	} {
		d := &Diagnosis{}
		_, warnings, err := config.Parse("/c.toml", []byte(file))
		d.reportConfig("/c.toml", warnings, err)
		var fixes []string
		for _, f := range d.found {
			require.Contains(t, f.what, "/c.toml:")
			fixes = append(fixes, f.fix)
		}
		require.Equal(t, want, fixes, file)
	}
}

// TestFindPrograms: a program of the configuration that is not there was never named.
func TestFindPrograms(t *testing.T) {
	t.Parallel()
	there, err := os.Executable()
	require.NoError(t, err)
	d := &Diagnosis{}
	d.findPrograms(&config.Config{OnTurnEnd: []string{there}})
	require.Empty(t, d.Problems)
	d.findPrograms(&config.Config{OnTurnEnd: []string{there + ".gone"}, OnApproval: []string{"no-such-program", "x"}})
	require.Equal(t, []string{
		"on_turn_end runs " + there + ".gone, which is not found as a program: install it, or name another with: cursord config set on_turn_end '[…]'",
		"on_approval runs no-such-program, which is not found on PATH: install it, or name another with: cursord config set on_approval '[…]'",
	}, d.Problems)
}
