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
	"cursord/diffs"
)

// TestCommitsThatATurnHasNotMade: a turn brings commits into the work tree by git's commands. Those that it has made are not among them.
func TestCommitsThatATurnHasNotMade(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		commands string // of the turn, one after another
		want     string // branches that have come; "other" is somebody's
	}{
		"a commit":                     {"echo mine >> f; git commit -qam mine", ""},
		"a merge":                      {"git commit -q --allow-empty -m mine; git merge -q --no-edit other", "other"},
		"a merge that goes forward":    {"git merge -q other", "other"},
		"a checkout":                   {"git checkout -q other", "other"},
		"a reset":                      {"git reset -q --hard other", "other"},
		"a branch of its own":          {"git checkout -q -b own; echo mine >> f; git commit -qam mine; git checkout -q main; git merge -q own", "other~1"},
		"a rebase":                     {"echo mine > g; git add g; git commit -qm mine; git rebase -q other", "other"},
		"a cherry-pick":                {"git commit -q --allow-empty -m mine; git cherry-pick other", "HEAD"},
		"a cherry-pick of its own":     {"git checkout -q -b own; echo mine > g; git add g; git commit -qm mine; git checkout -q main; git commit -q --allow-empty -m m; git cherry-pick own", "other~1"},
		"a merge that is not over":     {"git commit -q --allow-empty -m mine; git merge -q --no-commit other", "other"},
		"a merge with a conflict":      {"echo mine > o; git add o; git commit -qm mine; git merge -q other; echo both > o; git commit -qam both", "other"},
		"somebody's commit from later": {"git checkout -q --detach late", "late"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			shell := func(script string) string {
				cmd := exec.Command("sh", "-c", script)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
				out, _ := cmd.CombinedOutput()
				return strings.TrimSpace(string(out))
			}
			shell(`export GIT_AUTHOR_DATE="2020-01-01 00:00 +0000"; git init -qb main; echo one > f; git add f; git commit -qm one
				git checkout -qb other; echo theirs > o; git add o; git commit -qm theirs; git checkout -q main`)
			l := Begin(root, &askgit.Guard{Home: t.TempDir(), Root: root})
			shell(`git branch late $(git commit-tree -p main -m late other^{tree})`) // fetched while the turn runs
			shell(c.commands)
			var want []other
			if c.want != "" {
				want = []other{{id: shell("git rev-parse " + c.want)}}
			}
			if c.want == "HEAD" { // git has made it of another one
				want[0].parent = shell("git rev-parse HEAD~1")
			}
			found, err := l.look(ctx, false)
			require.NoError(t, err)
			require.Equal(t, want, found, shell("cat .git/logs/HEAD"))
			again, err := l.look(ctx, true)
			require.NoError(t, err)
			require.Equal(t, want, again)
			texts, err := l.texts(ctx, found, []string{"o", "none"})
			require.NoError(t, err)
			if c.want == "other" {
				require.Equal(t, map[string][]diffs.Version{"o": {{Commit: want[0].id, Text: "theirs\n"}}}, texts)
			}
			if _, err := os.Stat(filepath.Join(root, ".git", "MERGE_HEAD")); err != nil {
				found, err = l.look(ctx, false)
				require.NoError(t, err)
				require.Empty(t, found, "it was said already")
			}
		})
	}
}
