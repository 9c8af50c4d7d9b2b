//go:build linux

package review

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cursord/cmd/cursord/tests/world"
)

// TestRejectSaysWhyItCannot rejects in a folder without write permission. Before, the answer said only "conflict".
func TestRejectSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	world.Mounted(t, w.Path("sub"), "1m")
	w.PutAll(world.Tree{"sub/a": "old\n", "b": "old\n"})
	w.Plays(world.Lines(world.Edits("a", "sub/a", "old\n", "new\n"), world.Edits("b", "b", "old\n", "new\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	id := world.HunkIDs(e.Diffs()["sub/a"])[0]
	require.NoError(t, unix.Mount("", w.Path("sub"), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	const why = "sub/a cannot be written: read-only file system; repair the file or its folder, and try again\n"
	out, says, _ := w.Cursord("reject", "--all")
	require.Contains(t, out, "rejected 1 hunk; 1 hunk left in 1 file")
	require.Equal(t, "not rejected: "+id+" of sub/a: "+why+"the agent learns of the reject with its session's next prompt: cursord run -c\n", says)
	w.RequireTree(world.Tree{"sub/a": "new\n", "b": "old\n"})
	_, says, code := w.Cursord("reject", id)
	require.Equal(t, world.StatusFailed, code)
	require.Contains(t, says, "sub/a cannot be written: read-only file system")

	require.NoError(t, unix.Mount("", w.Path("sub"), "", unix.MS_REMOUNT, ""))
	w.CursordOK("reject", "--all")
	w.RequireTree(world.Tree{"sub/a": "old\n", "b": "old\n"})
}
