//go:build unix

package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestCommandsTellTheEndsOfEdits: a command that the agent announces ends the edits whose files have changed, so that what it changes is its own.
// The others stay open: what the agent announces at once it may do at once.
func TestCommandsTellTheEndsOfEdits(t *testing.T) {
	t.Parallel()
	const (
		edit    = `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}`
		command = `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"pending"}`
		ended   = `completed edit "Edit b" 1 paths wrote b`
	)
	dir := t.TempDir()
	write := func(text string) { require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte(text), 0o600)) }
	c := newTalk(t, dir)
	end := func(id string) {
		c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"` + id + `","status":"completed"}`))
	}
	another := func(of, id, other string) string { return updates(strings.Replace(of, `"`+id+`"`, `"`+other+`"`, 1)) }

	c.says(updates(edit), another(command, "c", "c1"))
	require.NotContains(t, c.transcript(), ended, "it has not changed")
	end("c1")
	write("x")
	c.says(another(command, "c", "c2"))
	require.Contains(t, c.transcript(), ended)
	end("1")
	require.Equal(t, 1, strings.Count(c.transcript(), ended), "once")

	c.says(another(edit, "1", "2"), another(command, "c", "c3"))
	require.Equal(t, 1, strings.Count(c.transcript(), ended), "it has not changed since the edit before")
	c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"c3","status":"in_progress"}`))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "b"), time.Time{}, time.Now()))
	c.says(another(command, "c", "c4"))
	require.Equal(t, 1, strings.Count(c.transcript(), ended), "the command that runs may have changed it")
}

// TestEditThroughALink: the time of the file counts, not that of the link to it.
func TestEditThroughALink(t *testing.T) {
	t.Parallel()
	file, link, now := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "link"), time.Now().Add(time.Hour)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(file, link))
	d := newDecoder("/w", func() time.Time { return now }, false)
	require.False(t, d.hasChanged(&call{kind: "edit"}, link))
	require.NoError(t, os.Chtimes(file, now, now))
	require.True(t, d.hasChanged(&call{kind: "edit"}, link))
}
