//go:build unix

package authorship

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestRulesOfTheTurnHideNothing has commands write ignore rules that hide new files from git. These files are listed all the
// same; files that were ignored before the turn are not.
func TestRulesOfTheTurnHideNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, command string
		listed        []string
	}{
		{"ignored before", `echo a > a.log; echo a > venv/new`, nil},
		{"a rule", `echo '*.sh' >> .gitignore; echo evil > x.sh; echo a > a.log; echo a > venv/new`, []string{".gitignore", "x.sh"}},
		{"a rule that hides itself", `echo '*' > sub/.gitignore; echo evil > sub/x`, []string{"sub/.gitignore", "sub/x"}},
		{"in a new folder", `mkdir -p new/er; echo '*' > new/er/.gitignore; echo evil > new/er/x`, []string{"new/er/.gitignore", "new/er/x"}},
		{"info/exclude", `echo x.sh >> .git/info/exclude; echo evil > x.sh; echo a > a.log`, []string{".git/info/exclude", "x.sh"}},
		{"a rule without a file", `echo '*.sh' >> .gitignore`, []string{".gitignore"}},
		{"a rule that stood there", `echo '*.sh' >> .gitignore; mkdir built; echo a > built/a`, []string{".gitignore"}},
		{"more than is listed", `echo many/ >> .gitignore; mkdir many; seq 250 | while read i; do echo $i > many/$i; done`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Git("init", "-q")
			w.PutAll(world.Tree{".gitignore": "*.log\nbuilt/\n", "sub/a": "a\n", "venv/.gitignore": "*\n", "venv/old": "a\n", "old.log": "old\n"})
			w.Git("add", "-A")
			w.Git("commit", "-q", "-m", "x")
			w.Rests()
			w.Start()
			e := w.Opens()
			w.Plays(world.Lines(world.Shells("s", c.command))...)
			turn := e.Turn(nil)
			found := e.Diffs()
			if c.name == "more than is listed" {
				require.Equal(t, 51, len(found))
				require.Contains(t, fmt.Sprint(e.Said(turn.ID, "notice")), "200 files that this turn's ignore rules hide are not listed for review")
				return
			}
			require.ElementsMatch(t, c.listed, world.Keys(found))
			for name, d := range found {
				require.Equal(t, "known", d.Baseline, name)
			}
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Empty(t, e.Diffs())
			for _, name := range c.listed {
				if d := found[name]; d.Kind == "created" {
					require.NoFileExists(t, w.Path(name))
				}
			}
			require.Empty(t, strings.TrimSpace(w.Git("status", "--porcelain")))
		})
	}
}
