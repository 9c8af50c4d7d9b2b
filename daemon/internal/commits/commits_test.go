package commits

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/askgit"
)

// TestALookInTheMiddleOfACommit: git has written its log and not yet the branch, as happens on a busy machine. The next look sees the
// commit.
func TestALookInTheMiddleOfACommit(t *testing.T) {
	root := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	run("commit", "-q", "--allow-empty", "-m", "one")
	h := &Head{Root: root, Guard: &askgit.Guard{Home: t.TempDir(), Root: root}}
	require.Nil(t, h.Look(context.Background()))
	require.Nil(t, h.Look(context.Background()))
	old := run("rev-parse", "HEAD")
	now := run("commit-tree", "-p", old, "-m", "two", "HEAD^{tree}")

	log := filepath.Join(root, ".git", "logs", "HEAD")
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(old + " " + now + " a <a@example.org> 1 +0000\tcommit: two\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Nil(t, h.Look(context.Background()))
	branch := strings.TrimPrefix(run("symbolic-ref", "HEAD"), "refs/heads/")
	require.NoError(t, os.WriteFile(filepath.Join(root, ".git", "refs", "heads", branch), []byte(now+"\n"), 0o644))
	require.Equal(t, &Move{old, now}, h.Look(context.Background()))
	require.Nil(t, h.Look(context.Background()))
}
