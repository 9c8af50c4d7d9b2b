//go:build linux

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestRejectSaysWhyItCannot has a folder take no writes: a reject of all once said "conflict" and no more.
func TestRejectSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mounted(t, w.path("sub"), "1m")
	w.putAll(tree{"sub/a": "old\n", "b": "old\n"})
	w.plays(lines(edits("a", "sub/a", "old\n", "new\n"), edits("b", "b", "old\n", "new\n"))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	id := hunkIDs(e.diffs()["sub/a"])[0]
	require.NoError(t, unix.Mount("", w.path("sub"), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	const why = "sub/a cannot be written: read-only file system; put the file or its folder right and try again\n"
	out, says, _ := w.cursord("reject", "--all")
	require.Contains(t, out, "rejected 1 hunk; 1 hunk left in 1 file\n")
	require.Equal(t, "not rejected: "+id+" of sub/a: "+why, says)
	w.requireTree(tree{"sub/a": "new\n", "b": "old\n"})
	_, says, code := w.cursord("reject", id)
	require.Equal(t, statusFailed, code)
	require.Contains(t, says, "sub/a cannot be written: read-only file system")

	require.NoError(t, unix.Mount("", w.path("sub"), "", unix.MS_REMOUNT, ""))
	w.cursordOK("reject", "--all")
	w.requireTree(tree{"sub/a": "old\n", "b": "old\n"})
}
