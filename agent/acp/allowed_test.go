//go:build unix

package acp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
)

// allows has a person say yes to it.
func (c *talk) allows() {
	require.NoError(c.t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: "y"}))
	c.hears()
}

// TestAnnouncedBesideACommand: what the agent has announced beside a command is asked for, too, if the question has the command alone.
func TestAnnouncedBesideACommand(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ announced, asked, dir, detail string }{
		"a folder":            {`{"command":"go test ./a","cwd":"/etc"}`, `{"command":"go test ./a"}`, "/etc", ""},
		"null does not erase": {`{"command":"go test ./a","cwd":"/etc"}`, `{"command":"go test ./a","cwd":null}`, "/etc", `With cwd: "/etc"`},
		"an environment":      {`{"command":"go test ./a","env":{"X":"rm"}}`, `{"command":"go test ./a"}`, "", `With env: {"X":"rm"}`},
		"input":               {`{"stdin":"rm","command":"go test ./a"}`, `{"command":"go test ./a"}`, "", `With stdin: "rm"`},
		"arguments":           {`{"command":"go test ./a","args":["x"]}`, `{"command":"go test ./a","args":["y"]}`, "", `With args: ["y"]`},
		"another name for it": {`{"cmd":"rm"}`, `{"command":"go test ./a"}`, "", "The agent had announced another command: rm\nWith cmd: \"rm\""},
		"another command":     {`{"command":"rm"}`, `{"command":"go test ./a"}`, "", "The agent had announced another command: rm"},
		"too much": {`{"command":"go test ./a","x":"` + strings.Repeat("x", maxEarlier) + `"}`, `{"command":"go test ./a"}`, "",
			`With earlier: "65543 bytes of earlier arguments"`},
	} {
		c := newTalk(t, "/w")
		c.says(updates(`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","rawInput":` + test.announced + `}`))
		c.says(asksFor("7", `{"toolCallId":"1","rawInput":`+test.asked+`}`))
		require.Len(t, c.asked(), 1)
		r := c.asked()[0]
		require.Equal(t, "go test ./a", r.Command, name)
		require.Equal(t, test.dir, r.Dir, name)
		require.Equal(t, test.detail, r.Detail, name)
		require.Equal(t, test.detail == "", r.Whole, name)
		c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":` + test.asked + `}`))
		require.NotContains(t, c.transcript(), "withdraws", name)
	}
}

// TestAnotherCommandThanAllowed: a notice has both commands.
func TestAnotherCommandThanAllowed(t *testing.T) {
	t.Parallel()
	const evil = `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","rawInput":{"command":"touch EVIL"}}`
	const another = "notice The agent was allowed one command and runs another. Allowed: touch A. The other: touch EVIL"
	for name, test := range map[string]struct{ before, after, want string }{
		"changed":         {"", evil, another},
		"announced again": {"", strings.Replace(evil, "tool_call_update", "tool_call", 1), another},
		"with more": {"", `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","rawInput":{"command":"touch A","cwd":"/etc","args":["B"]}}`,
			`Allowed: touch A. The other: touch A ⏎ in /etc ⏎ With args: ["B"]`},
		"announced before": {`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","rawInput":{"command":"touch EVIL"}}`, "",
			"notice The agent had announced another command than it asked for, and may have run it. Allowed: touch A. The other: touch EVIL"},
		"the same": {"", `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","rawInput":{"command":"touch A","timeout":3}}`, ""},
	} {
		c := newTalk(t, "/w")
		if test.before != "" {
			c.says(updates(test.before))
		}
		c.says(asksFor("7", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"touch A"}}`))
		c.allows()
		if test.after != "" {
			c.says(updates(test.after), updates(test.after))
		}
		c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","rawOutput":{"exitCode":0}}`))
		require.Contains(t, c.transcript(), test.want, name)
		want := 1
		if test.want == "" {
			want = 0
		}
		require.Equal(t, want, strings.Count(c.transcript(), "notice "), name)
	}
}
