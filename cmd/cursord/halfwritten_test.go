package main

import (
	"strings"
	"testing"

	"cursord/cmd/cursord/internal/undertest"

	"github.com/stretchr/testify/require"
)

// halfWrites has a daemon die between the write of a file in place and the cut of what was longer before.
func halfWrites(t *testing.T) *crashes {
	t.Helper()
	c := newCrashes(t, scenario{
		name: "half", before: `seq 5 >f; ln f ../other`, does: `seq 100 130 >f`, asked: "diff/reject", taken: "diff/undo",
	})
	for n := 1; ; n++ {
		c.back()
		c.plans("kill %d", n)
		c.start(undertest.Fault + "=" + c.faultPlan())
		err := c.ask(c.opens(), "diff/reject")
		steps := c.reached()
		require.Error(t, err, "no step cuts the file: %q", steps)
		<-c.ended
		c.cmd = nil
		if steps[len(steps)-1] == "truncate" {
			require.Regexp(t, "^1\n2\n3\n4\n5\n[^~]*130\n$", c.get("f"))
			return c
		}
	}
}

// TestHalfWrittenFileIsFinishedAtStart starts a daemon, of which nobody asks anything.
func TestHalfWrittenFileIsFinishedAtStart(t *testing.T) {
	t.Parallel()
	c := halfWrites(t)
	c.start()
	require.Eventually(t, func() bool { return c.get("f") == "1\n2\n3\n4\n5\n" }, patience, patience/1000)
	c.requireSound("finished")
}

// TestHalfWrittenFileThatIsChangedBeforeTheStart has a person write into a file that is half written. It is said, and the former
// content comes back by undo, with what the person wrote.
func TestHalfWrittenFileThatIsChangedBeforeTheStart(t *testing.T) {
	t.Parallel()
	c := halfWrites(t)
	c.makes("echo mine >>f")
	left := c.get("f")
	c.start()
	e := c.opens()
	e.until("word of the file", func(n told) bool { return strings.Contains(n.Message, "f in "+c.ws+" was half written") })
	require.Equal(t, left, c.get("f"))
	require.NoError(t, c.ask(e, "diff/undo"))
	require.Contains(t, c.get("f"), "100\n101\n")
	require.Contains(t, c.get("f"), "mine\n")
	c.stop()
	require.Contains(t, c.log.String(), "half written")
}
