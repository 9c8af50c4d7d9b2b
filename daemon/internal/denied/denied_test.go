package denied

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/sessions"
)

func TestDeniedCalls(t *testing.T) {
	shell := func(by agent.DeniedBy, commands ...string) (list []agent.Denial) {
		for _, c := range commands {
			list = append(list, agent.Denial{By: by, Name: "shell", Subject: c})
		}
		return list
	}
	every := func(string) bool { return true }
	plain := sessions.Turn{Mode: sessions.ModeAgent}
	const own = "~/.cursor/cli-config.json"
	const files = own + " or the workspace's .cursor/cli.json"
	for _, test := range []struct {
		name    string
		turn    sessions.Turn
		denials []agent.Denial
		held    []string
		want    string
	}{
		{"nothing", plain, nil, nil, ""},
		{"one", plain, shell(agent.DeniedByPolicy, "npm test"), nil, "1 command was denied: npm test; allow it with " +
			"sandbox enabled (cursord run --sandbox enabled), " +
			"auto-review (--auto-review), force (--force), or permissions.allow in " + own + ", such as Shell(npm)"},
		{"in a session that could not ask", sessions.Turn{Mode: sessions.ModeAgent, Driver: "print", Force: true}, shell(agent.DeniedByPolicy, "x"), nil,
			"1 command was denied: x; allow it with permissions.allow in " + own + ", such as Shell(x); a new session can ask you instead (cursord run --driver acp)"},
		{"what is on already is no way", sessions.Turn{Mode: sessions.ModeAgent, Sandbox: "enabled", AutoReview: true},
			shell(agent.DeniedByPolicy, "npm test", "git push", "npm test"), nil,
			"3 commands were denied: npm test (2 times), git push; allow them with " +
				"force and sandbox disabled (cursord run --force --sandbox disabled), or permissions.allow in " + own + ", such as Shell(npm)"},
		{"with force", sessions.Turn{Mode: sessions.ModeAgent, Force: true}, shell(agent.DeniedByPolicy, "$(x)"), nil,
			"1 command was denied: $(x); allow it with permissions.allow in " + own},
		{"by the deny list, for edits, too", sessions.Turn{Mode: sessions.ModeAgent, Force: true},
			append(shell(agent.DeniedByPermissions, "rm -rf x"), agent.Denial{By: agent.DeniedByPermissions, Name: "edit", Subject: "Edit a.go"}), nil,
			"2 calls were denied: rm -rf x, Edit a.go; what permissions.deny in " + files + " names is denied whatever else is allowed: take it out there"},
		{"by a hook", plain, shell(agent.DeniedByHook, "make"), nil,
			`1 command was denied: make; a hook of the agent's refuses calls: "cursord doctor" lists the hooks`},
		{"in mode ask", sessions.Turn{Mode: sessions.ModeAsk}, shell(agent.DeniedByPermissions, "make"), nil,
			`1 command was denied: make; in mode "ask" the agent only reads, and mode "agent" lets it do more (cursord run --mode agent; in cursord chat: /mode agent)`},
		{"held back", sessions.Turn{Mode: sessions.ModeAgent, AutoReview: true, Force: true}, nil, []string{"npm publish"},
			"1 command was held back by the agent's auto-review: npm publish; allow it with permissions.allow in " + own + ", such as Shell(npm)"},
		{"of several lines", sessions.Turn{Mode: sessions.ModePlan}, shell(agent.DeniedByMode, "\n cat <<E\nx\nE"), nil,
			`1 command was denied: cat <<E…; in mode "plan" the agent only reads, and mode "agent" lets it do more (cursord run --mode agent; in cursord chat: /mode agent)`},
	} {
		var d Calls
		d.Add(test.denials)
		for _, command := range test.held {
			d.Hold(&sessions.Tool{Name: "shell", Command: command})
		}
		require.Equal(t, test.want, d.Text(&test.turn, every), test.name)
	}

	// An option that the build lacks is not suggested.
	var one Calls
	one.Add(shell(agent.DeniedByPolicy, "npm test"))
	without := func(lacks string) func(string) bool { return func(option string) bool { return option != lacks } }
	require.NotContains(t, one.Text(&plain, without("--auto-review")), "auto-review")
	require.Contains(t, one.Text(&plain, without("--auto-review")), "sandbox enabled")
	require.Equal(t, "1 command was denied: npm test; allow it with auto-review (cursord run --auto-review), force (--force), "+
		"or permissions.allow in "+own+", such as Shell(npm)", one.Text(&plain, without("--sandbox")))

	// With any number of denied calls, messages and memory are bounded.
	var d Calls
	for i := range 10_000 {
		d.Add(shell(agent.DeniedByPolicy, fmt.Sprint(i, strings.Repeat("ä", 1000))))
	}
	text := d.Text(&plain, every)
	require.Contains(t, text, "10000 commands were denied: 0ää")
	require.Contains(t, text, ", and 9995 more; allow them")
	require.Less(t, len(text), 1500)
	require.Len(t, d.subjects, maxSubjects)
}
