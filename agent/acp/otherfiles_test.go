//go:build unix

package acp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOtherFilesThanAllowed: a notice has the files that a person has allowed, and those that the agent names after it.
func TestOtherFilesThanAllowed(t *testing.T) {
	t.Parallel()
	const (
		begins = `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"pending","rawInput":{"path":"/w/p1"}}`
		asked  = `{"toolCallId":"1"}`
		update = `{"sessionUpdate":"tool_call_update","toolCallId":"1",`
		word   = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}`
		first  = "notice The agent was allowed to change some files and names others. Allowed: /w/p1. The other: /w/p2"
	)
	for name, test := range map[string]struct {
		begins, asked string
		after         []string
		want          []string
	}{
		"replaced":             {begins, asked, []string{update + `"rawInput":{"path":"/w/p2"}}`}, []string{first}},
		"added":                {begins, asked, []string{update + `"locations":[{"path":"/w/p1"},{"path":"/w/p2"}]}`}, []string{first}},
		"as a change":          {begins, asked, []string{update + `"status":"completed","content":[{"type":"diff","path":"/w/p2","newText":"x"}]}`}, []string{first}},
		"after the next words": {begins, asked, []string{word, update + `"status":"completed","content":[{"type":"diff","path":"/w/p2","newText":"x"}]}`}, []string{first}},
		"announced again":      {begins, asked, []string{strings.Replace(begins, "p1", "p2", 1)}, []string{first}},
		"one after another": {begins, asked, []string{update + `"locations":[{"path":"/w/p2"}]}`, update + `"locations":[{"path":"/w/p3"},{"path":"/w/p4"}]}`},
			[]string{first, strings.ReplaceAll(first, "/w/p1. The other: /w/p2", "/w/p1, /w/p2. The other: /w/p3, /w/p4")}},
		"a deletion": {strings.Replace(begins, "edit", "delete", 1), asked, []string{update + `"rawInput":{"path":"/w/p2"}}`}, []string{first}},
		"an edit of no named file": {"", `{"toolCallId":"1","kind":"edit","title":"Edit File"}`, []string{update + `"locations":[{"path":"/w/p2"}]}`},
			[]string{strings.Replace(first, "Allowed: /w/p1", "Allowed: Edit File", 1)}},
		"a command that becomes an edit": {"", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"ls"}}`, []string{update + `"kind":"edit","locations":[{"path":"/w/p2"}]}`},
			[]string{strings.Replace(first, "Allowed: /w/p1", "Allowed: ls", 1)}},
		"the same by another name": {begins, asked, []string{update + `"status":"completed","locations":[{"path":"p1"}],"content":[{"type":"diff","path":"/w/./p1","newText":"x"}]}`}, nil},
		"a file that is read":      {"", `{"toolCallId":"1","kind":"read","rawInput":{"path":"/w/p1"}}`, []string{update + `"rawInput":{"path":"/w/p2"}}`}, nil},
	} {
		c := newTalk(t, "/w")
		if test.begins != "" {
			c.says(updates(test.begins))
		}
		c.says(asksFor("7", test.asked))
		c.allows()
		for _, update := range test.after {
			c.says(updates(update), updates(update))
		}
		var notices []string
		for line := range strings.Lines(c.transcript() + "\n") {
			if strings.HasPrefix(line, "notice ") {
				notices = append(notices, strings.TrimSuffix(line, "\n"))
			}
		}
		require.Equal(t, test.want, notices, "%s: %s", name, c.transcript())
	}

	c := newTalk(t, "/w")
	c.says(updates(begins), asksFor("7", asked))
	c.allows()
	c.says(asksFor("8", `{"toolCallId":"1","rawInput":{"path":"/w/p2"}}`))
	require.NotContains(t, c.transcript(), "notice", "a person is asked about the other")
	require.Equal(t, []string{"/w/p2"}, c.asked()[1].Paths)
}
