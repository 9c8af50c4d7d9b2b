//go:build unix

package isolation

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

func TestIsolatedHunksAsAPatch(t *testing.T) {
	bothKinds(t, testIsolatedHunksAsAPatch)
}

func testIsolatedHunksAsAPatch(t *testing.T) {
	a := newApart(t)
	a.w.Plays(world.Lines(world.Shells("2", "mv other moved; chmod +x moved; echo n > new; rm -f nothing; ln -s f link"))...)
	a.e.Ok(a.s)
	var out struct{ Patch string }
	a.e.Must("diff/unified", world.Obj{"workspace": a.w.Root}, &out)
	patch := filepath.Join(a.w.Dir, "patch")
	require.NoError(t, os.WriteFile(patch, []byte(out.Patch), 0o644))
	want := a.w.Whole(a.w.Seen(a.s))
	cmd := exec.Command("git", "apply", "--whitespace=nowarn", patch)
	cmd.Dir = a.w.Root
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", said, out.Patch)
	require.Equal(t, want, a.w.Whole(a.w.Root))
	require.Empty(t, a.e.Diffs(), "what people have made by hand is not pending")
}

// TestACommitIsNoWordAboutACopy has a person commit while hunks of a copy are pending.
func TestACommitIsNoWordAboutACopy(t *testing.T) {
	bothKinds(t, testACommitIsNoWordAboutACopy)
}

func testACommitIsNoWordAboutACopy(t *testing.T) {
	a := newApart(t)
	a.w.Put("f", strings.Replace(a.before, "line 30\n", "mine\n", 1))
	a.w.Git("commit", "-qam", "mine")
	require.Len(t, a.e.Diffs()["f"].Hunks, 3)
	ids := world.HunkIDs(a.e.Diffs()["f"])
	a.e.Decides("diff/accept", world.Obj{"hunks": ids[:1]})
	a.w.Git("commit", "-qam", "accepted")
	require.Equal(t, ids[1:], world.HunkIDs(a.e.Diffs()["f"]))
	a.e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, "accepted\n", a.w.Git("log", "-1", "--format=%s"))
	require.Empty(t, a.w.Git("status", "--porcelain"))
}
