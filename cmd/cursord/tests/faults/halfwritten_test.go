//go:build unix

package faults

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
)

// halfWrites kills the daemon between its write of a file in place and the truncation to the new, shorter length.
func halfWrites(t *testing.T) *crashes {
	t.Helper()
	c := newCrashes(t, scenario{
		name: "half", before: `seq 5 >f; ln f ../other`, does: `seq 100 130 >f`, asked: "diff/reject", taken: "diff/undo",
	})
	for n := 1; ; n++ {
		c.back()
		plans(c.World, "kill %d", n)
		c.Start(undertest.Fault + "=" + faultPlan(c.World))
		err := c.ask(c.Opens(), "diff/reject")
		steps := reached(c.World)
		require.Error(t, err, "no step cuts the file: %q", steps)
		<-c.Ended
		c.Cmd = nil
		if steps[len(steps)-1] == "truncate" {
			require.Regexp(t, "^1\n2\n3\n4\n5\n[^~]*130\n$", c.Get("f"))
			return c
		}
	}
}

// TestHalfWrittenFileIsFinishedAtStart: the next daemon finishes the file without any request.
func TestHalfWrittenFileIsFinishedAtStart(t *testing.T) {
	t.Parallel()
	c := halfWrites(t)
	c.Start()
	require.Eventually(t, func() bool { return c.Get("f") == "1\n2\n3\n4\n5\n" }, world.Patience, world.Patience/1000)
	c.requireSound("finished")
}

// TestHalfWrittenFileThatIsChangedBeforeTheStart has a person write into a half-written file. A notice says so, and undo
// brings back the former content with the person's lines.
func TestHalfWrittenFileThatIsChangedBeforeTheStart(t *testing.T) {
	t.Parallel()
	c := halfWrites(t)
	c.Makes("echo mine >>f")
	left := c.Get("f")
	c.Start()
	e := c.Opens()
	e.Until("word of the file", func(n world.Notification) bool {
		return strings.Contains(n.Message, "f in "+c.Root+" was half written")
	})
	require.Equal(t, left, c.Get("f"))
	require.NoError(t, c.ask(e, "diff/undo"))
	require.Contains(t, c.Get("f"), "100\n101\n")
	require.Contains(t, c.Get("f"), "mine\n")
	c.Stop()
	require.Contains(t, c.Log.String(), "half written")
}

// TestAFileThatIsChangedAfterItsWrite kills the daemon in mid-decision, and a person changes a file that it has written. The decision has happened
// there, so that an undo brings its lines back; the person's line stays.
func TestAFileThatIsChangedAfterItsWrite(t *testing.T) {
	t.Parallel()
	c := newCrashes(t, scenario{
		name: "changed", before: `mkdir a b; seq 9 >a/f; seq 9 >b/g`, does: `sed -i s/5/five/ a/f b/g`, asked: "diff/reject", taken: "diff/undo",
	})
	changed := false
	for n := 1; ; n++ {
		c.back()
		plans(c.World, "kill %d", n)
		c.Start(undertest.Fault + "=" + faultPlan(c.World))
		err := c.ask(c.Opens(), "diff/reject")
		if err == nil {
			c.Stop()
			break
		}
		<-c.Ended
		c.Cmd = nil
		if strings.Contains(c.Get("a/f"), "five") {
			continue
		}
		changed = true
		c.Makes("echo mine >>a/f")
		c.Start()
		e := c.Opens()
		e.Diffs()
		require.NoError(t, c.ask(e, "diff/undo"), "step %d", n)
		require.Equal(t, "1\n2\n3\n4\nfive\n6\n7\n8\n9\nmine\n", c.Get("a/f"), "step %d", n)
		require.Equal(t, "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", c.Get("b/g"), "step %d", n)
		c.Stop()
	}
	require.True(t, changed)
}
