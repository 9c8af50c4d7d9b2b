//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestWhyOfWhatAnAgentBroughtBack: an agent takes a person's lines away by one command and brings them back by another one. They stay the
// person's, also for the trailers of a commit.
func TestWhyOfWhatAnAgentBroughtBack(t *testing.T) {
	t.Parallel()
	for name, does := range map[string][2]string{
		"stash":    {"git stash -q", "git stash pop -q"},
		"checkout": {"git checkout -q other", "git checkout -q -"},
		"move":     {"mv f f.bak", "mv f.bak f"},
		"turns":    {"sed -i /mine/d f", "sed -i '2a mine too' f; sed -i '2a mine' f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Makes("seq 5 >f")
			w.Commits()
			if w.Git("branch", "other"); name != "stash" {
				w.Makes("sed -i '2a mine\\nmine too' f")
				w.Git("commit", "-qam", "mine")
			}
			w.Start()
			e := w.Opens()
			if name == "stash" {
				w.Makes("sed -i '2a mine\\nmine too' f")
			}
			text := w.Get("f")
			first, then := world.Shells("a", does[0]), world.Shells("b", does[1])
			if name == "turns" {
				w.Plays(world.Lines([]string{world.InitLine}, first, []string{world.Succeeds("Done.")})...)
				e.Turn(nil)
				first = nil
			}
			w.Plays(world.Lines([]string{world.InitLine}, first, then, []string{world.Succeeds("Done.")})...)
			e.Turn(nil)
			e.Decides("diff/accept", world.Obj{"all": true})
			require.Equal(t, text, w.Get("f"))
			require.Equal(t, 2, strings.Count(text, "mine"))
			var out struct{ Lines []api.WhyLine }
			e.Must("file/why", world.Obj{"workspace": w.Root, "path": "f"}, &out)
			require.Len(t, out.Lines, 1)
			require.Nil(t, out.Lines[0].Source)
		})
	}
}
