//go:build unix

package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
)

// refuses has a person say no to the talk's only question.
func (c *talk) refuses() {
	require.NoError(c.t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: noID}))
	c.hears()
}

// ends returns the ends of calls.
func (c *talk) ends() (list []agent.ToolEnd) {
	for _, ev := range c.events {
		if e, ok := ev.(agent.ToolEnd); ok {
			list = append(list, e)
		}
	}
	return list
}

// TestEditsThatWereRefused: an edit that the agent makes all the same is told with its file, however little the agent says of it.
func TestEditsThatWereRefused(t *testing.T) {
	t.Parallel()
	const (
		did      = `notice The agent did this although it was refused: Edit b`
		rejected = `rejected edit "Edit b" 1 paths error="a person refused it"`
		wrote    = rejected + ` wrote b`
		bare     = `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`
		diff     = `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[{"type":"diff","path":"b","newText":"x"}]}`
		runs     = `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress"}`
		word     = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}`
	)
	for name, test := range map[string]struct {
		says string // what the agent says after the refusal, a line each; "write" writes the file
		want []string
		not  string
	}{
		"openly":                     {runs + "\nwrite\n" + diff, []string{`completed edit "Edit b" 1 paths wrote b`, did}, "rejected"},
		"with a diff":                {"write\n" + diff, []string{`completed edit "Edit b" 1 paths wrote b`, did}, "rejected"},
		"silently":                   {"write\n" + bare, []string{wrote}, "notice"},
		"without a word":             {"write", []string{wrote}, "notice"},
		"before the next words":      {"write\n" + word, []string{wrote + "\ntext so"}, "notice"},
		"after the next words":       {word + "\nwrite", []string{rejected + "\ntext so\n" + wrote}, "notice"},
		"after a silent end":         {bare + "\nwrite", []string{rejected + "\n" + wrote}, "notice"},
		"with words after its end":   {bare + "\n" + runs + "\nwrite\n" + diff, []string{rejected, `completed edit "Edit b" 1 paths wrote b`, did}, ""},
		"not at all":                 {bare, []string{rejected}, "wrote"},
		"a diff that is not written": {diff, []string{rejected}, "wrote"},
		"as an error":                {`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"failed","rawOutput":{"error":"no"}}`, []string{rejected}, "wrote"},
		"as rejected":                {`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","rawOutput":{"rejected":true}}`, []string{rejected}, "policy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "b")
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			require.NoError(t, os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)))
			c := newTalk(t, dir)
			c.says(updates(`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","rawInput":{"path":"b"}}`))
			c.says(asksFor("7", `{"toolCallId":"1","rawInput":{"path":"b"}}`))
			c.refuses()
			for line := range strings.Lines(test.says) {
				if line = strings.TrimSpace(line); line == "write" {
					require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
				} else {
					c.says(updates(line))
				}
			}
			c.events = c.turn.dec.closeCalls(c.events)
			for _, want := range test.want {
				require.Contains(t, c.transcript(), want)
			}
			if test.not != "" {
				require.NotContains(t, c.transcript(), test.not)
			}
			for _, end := range c.ends() {
				require.False(t, end.Asked.IsZero() || end.Refused.Before(end.Asked), "%+v", end)
			}
		})
	}
}

// TestOthersBesideARefusedCall: what another edit has written, or a command may have, is not taken for the refused call's.
func TestOthersBesideARefusedCall(t *testing.T) {
	t.Parallel()
	const bare = `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`
	another := func(kind, status string) string {
		return updates(`{"sessionUpdate":"tool_call","toolCallId":"2","kind":"` + kind + `","status":"` + status + `","rawInput":{"path":"b","command":"make"}}`)
	}
	for name, test := range map[string]struct {
		others []string
		wrote  bool
	}{
		"an edit that has ended":   {[]string{another("edit", "completed")}, false},
		"an edit that is open":     {[]string{another("edit", "in_progress")}, false},
		"a command that has ended": {[]string{another("execute", "completed")}, true},
		"a command that is open":   {[]string{another("execute", "in_progress")}, true},
	} {
		dir := t.TempDir()
		c := newTalk(t, dir)
		c.says(updates(`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","rawInput":{"path":"b"}}`), asksFor("7", `{"toolCallId":"1"}`))
		c.refuses()
		no := c.turn.dec.calls["1"].refusedAt
		c.turn.dec.now = func() time.Time { return no.Add(time.Hour) }
		require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), nil, 0o600))
		c.says(test.others...)
		c.says(updates(bare))
		require.Equal(t, test.wrote, strings.Contains(c.transcript(), `rejected edit "Edit b" 1 paths error="a person refused it" wrote b`), "%s: %s", name, c.transcript())
		for _, end := range c.ends() {
			require.False(t, test.wrote && end.Call.ID == "1" && end.Refused.Before(no.Add(time.Minute)), "%s: it may be the command's", name)
		}
	}
}

// TestRefusedInATurnThatIsCancelled: a question that the end of the turn takes back was no yes.
func TestRefusedInATurnThatIsCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newTalk(t, dir)
	c.says(updates(`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","rawInput":{"path":"b"}}`), asksFor("7", `{"toolCallId":"1"}`))
	c.says(asksFor("8", `{"toolCallId":"2","kind":"execute","rawInput":{"command":"make"}}`))
	c.turn.cancel()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), nil, 0o600))
	c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`))
	c.events = c.turn.dec.closeWritten(c.events)
	require.Contains(t, c.transcript(), `rejected edit "Edit b" 1 paths error="`+neverRan+`" wrote b`)
	require.Contains(t, c.transcript(), `rejected shell "make" error="`+neverRan+`"`)
	for _, end := range c.ends() {
		require.False(t, end.Asked.IsZero(), "%+v", end)
	}
}

// TestWrittenAsItAsked: the agent may have gone on before the daemon reads its question.
func TestWrittenAsItAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newTalk(t, dir)
	read := time.Now()
	c.turn.dec.upTo = func() time.Time { return read }
	c.turn.dec.now = func() time.Time { return read.Add(time.Hour) }
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), nil, 0o600))
	c.says(updates(`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","rawInput":{"path":"b"}}`), asksFor("7", `{"toolCallId":"1"}`))
	c.refuses()
	c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`))
	require.Contains(t, c.transcript(), "wrote b")
}
