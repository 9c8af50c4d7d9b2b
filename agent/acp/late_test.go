//go:build unix

package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEditsWrittenAfterTheNextWords come into review by the reported end. Without it they may be a person's, and a notice says so.
func TestEditsWrittenAfterTheNextWords(t *testing.T) {
	t.Parallel()
	const (
		edit = `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}`
		word = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}`
		ends = `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`
		lost = `failed edit "Edit b" 1 paths error="` + unreported + `" wrote b`
		late = `completed edit "Edit b" 1 paths wrote b`
	)
	for name, test := range map[string]struct {
		reported, cut, others bool
		want, notices         int
	}{
		"reported": {true, false, false, 1, 0}, "not reported": {false, false, false, 0, 1}, "cut off": {false, true, false, 0, 1}, "another call's": {false, false, true, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := newTalk(t, dir)
			c.says(updates(edit), updates(word))
			require.Contains(t, c.transcript(), lost)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte("x"), 0o600))
			if test.others {
				c.says(updates(strings.Replace(edit, `"1"`, `"2"`, 1)), updates(strings.Replace(ends, `"1"`, `"2"`, 1)))
			}
			if test.reported {
				c.says(updates(ends), updates(ends))
			}
			if test.cut {
				c.events = c.turn.dec.closeWritten(c.events)
			} else {
				c.events = c.turn.dec.closeCalls(c.events)
			}
			require.Equal(t, test.want, strings.Count(c.transcript(), late), c.transcript())
			require.Equal(t, test.notices, strings.Count(c.transcript(), "counts as a person's"), c.transcript())
		})
	}
}
