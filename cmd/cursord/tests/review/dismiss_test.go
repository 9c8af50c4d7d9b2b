//go:build unix

package review

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// TestDismiss takes files outside of the workspace off the list, since nobody can decide them. They stay as they are on
// disk, files in the workspace stay pending, and a later change is listed again.
func TestDismiss(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	lib := w.Folder("lib")
	one, two := filepath.Join(lib, "one"), filepath.Join(lib, "two")
	for _, name := range []string{one, two, w.Path("in")} {
		require.NoError(t, os.WriteFile(name, []byte("a\n"), 0o600))
	}
	w.Plays(world.Lines(world.Edits("1", "../lib/one", "a\n", "b\n"), world.Edits("2", "../lib/two", "a\n", "b\n"), world.Edits("3", "in", "a\n", "b\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	listed := func() []string { return world.Keys(e.Diffs()) }
	require.ElementsMatch(t, []string{one, two, "in"}, listed())
	refused := e.Fails("diff/accept", world.Obj{"workspace": w.Root, "hunks": world.HunkIDs(e.Diffs()[one])})
	require.Equal(t, api.KindOutsideWorkspace, refused.Data.Kind)
	require.Contains(t, refused.Data.Hint, "diff/dismiss")

	require.Equal(t, "path", e.Fails("diff/dismiss", world.Obj{"workspace": w.Root, "path": "in"}).Data.Field)
	require.Equal(t, "path", e.Fails("diff/dismiss", world.Obj{"workspace": w.Root}).Data.Field)
	require.Equal(t, "path", e.Fails("diff/dismiss", world.Obj{"workspace": w.Root, "path": one, "all": true}).Data.Field)
	require.NotNil(t, e.Fails("diff/dismiss", world.Obj{"workspace": w.Root, "path": filepath.Join(lib, "none")}))
	require.ElementsMatch(t, []string{one, two, "in"}, listed())

	var out rpc.Dismissed
	e.Must("diff/dismiss", world.Obj{"workspace": w.Root, "path": one}, &out)
	require.Equal(t, 1, out.Dismissed)
	require.ElementsMatch(t, []string{two, "in"}, listed())
	e.Until("the end of its review", func(n world.Notification) bool {
		return n.Diff != nil && n.Diff.Path == one && n.Diff.State == "clean"
	})
	w.Kill() // the dismissal survives a kill
	w.Start()
	e = w.Opens()
	require.ElementsMatch(t, []string{two, "in"}, listed())

	shown, said, status := w.Cursord("dismiss", "--all")
	require.Zero(t, status, said)
	require.Equal(t, "dismissed 1 file\n", shown)
	require.Equal(t, []string{"in"}, listed())
	for _, name := range []string{one, two} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, "b\n", string(text))
	}
	shown, _, _ = w.Cursord("dismiss", "--all")
	require.Equal(t, "nothing to dismiss: no file outside of the workspace is listed\n", shown)

	w.Plays(world.Lines(world.Edits("4", "../lib/one", "b\n", "c\n"))...)
	e.Turn(nil)
	require.ElementsMatch(t, []string{one, "in"}, listed())
	require.Equal(t, []string{"-b", "+c"}, e.Diffs()[one].Hunks[0].Lines)
	_, said, status = w.Cursord("dismiss")
	require.Equal(t, 2, status)
	require.Contains(t, said, "needs either PATHs or --all")
}
