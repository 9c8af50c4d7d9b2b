//go:build unix

package trees

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestNewFilesAreListedWithoutTheRepository: a command makes files, and removes the repository or leads it elsewhere.
func TestNewFilesAreListedWithoutTheRepository(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]string{
		"removed":             "rm -rf .git",
		"moved behind a link": "mv .git ../real; ln -s ../real .git",
		"another one":         "mv .git ../real; echo \"gitdir: $PWD/../real\" > .git",
		"led to nothing":      "mv .git ../real; echo 'gitdir: nowhere' > .git",
		"broken":              "echo no index > .git/index",
		"the one above":       "rm -rf .git; git init -q ..; echo '*' > ../.gitignore",
	} {
		for _, at := range []string{"", "in/"} {
			if at != "" && name == "the one above" {
				continue // that .gitignore would be in the workspace, and be reviewed itself
			}
			t.Run(name+" "+at, func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.PutAll(world.Tree{at + "a": "a\n", at + ".gitignore": "*.o\n"})
				w.RepositoryIn(".", nil)
				if at != "" {
					w.RepositoryIn(at, nil)
				}
				w.PutAll(world.Tree{at + "untracked": "u\n", at + "old.o": "o\n", at + "same.o": "s\n"})
				for _, file := range []string{"a", ".gitignore", "untracked", "old.o", "same.o"} {
					w.Ages(at + file)
				}
				w.Rests()
				w.Plays(world.Lines(world.Shells("s", fmt.Sprintf("cd ./%s; %s; echo a2 > a; echo n > n; mkdir -p d; echo n > d/n; echo u2 > untracked; echo o2 > old.o", at, does)))...)
				w.Start()
				e := w.Opens()
				turn := e.Turn(nil)
				require.Equal(t, sessions.TurnCompleted, turn.Status)
				found := e.Diffs()
				for _, file := range []string{"a", "untracked", "n", "d/n"} {
					require.Contains(t, found, at+file)
				}
				for _, file := range []string{"n", "d/n"} {
					require.Equal(t, "created", string(found[at+file].Kind))
					require.Equal(t, "known", found[at+file].Baseline)
				}
				require.NotContains(t, found, at+"same.o")
				if d := found[at+"old.o"]; d != nil {
					require.Equal(t, "unknown", d.Baseline, "git ignored it, and it was there")
				}
				e.Decides("diff/reject", world.Obj{"all": true})
				require.NoFileExists(t, w.Path(at+"n"))
				require.NoDirExists(t, w.Path(at+"d"))
				require.Equal(t, "o2\n", w.Get(at+"old.o"), "nobody knows what it was")
			})
		}
	}
}

// TestFilesWhosePathsAreTooLong: commands make files whose paths are too long to open them.
func TestFilesWhosePathsAreTooLong(t *testing.T) {
	t.Parallel()
	for _, repo := range []bool{true, false} {
		for name, folders := range map[string]int{"a bit": 16, "much": 40} {
			t.Run(fmt.Sprint(name, " ", repo), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("a", "a\n")
				if repo {
					w.Commits()
				}
				name := strings.Repeat("d", 250)
				deep := func(from int) string {
					return fmt.Sprintf("i=0; while [ $i -lt %d ]; do mkdir -p %s; cd -P ./%s; i=$((i+1)); done; echo x > f%s%d", folders, name, name, strings.Repeat("f", 200), from)
				}
				w.Plays(world.Lines(world.Shells("1", deep(1)), world.Shells("2", "echo b >> a"))...)
				w.Start()
				e := w.Opens()
				turn := e.Turn(nil)
				require.Equal(t, sessions.TurnCompleted, turn.Status)
				require.Equal(t, []string{"a"}, world.Keys(e.Diffs()))
				told := e.Said(turn.ID, sessions.ItemNotice)
				require.Len(t, told, 1)
				require.Contains(t, told[0], "was not looked at: its path is too long")
				require.Less(t, len(told[0]), 600)
				w.Plays(world.Lines(world.Shells("3", "echo c >> a"))...)
				// A busy machine may have said that it could not look in time.
				require.NotContains(t, e.Notices(e.Turn(nil).ID), "was not looked at", "it was there before")
			})
		}
	}
}
