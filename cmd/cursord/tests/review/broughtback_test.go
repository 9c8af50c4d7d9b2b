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

// TestWhyOfAFileThatACommandMovesAndChanges: a command moves a file and changes a line of it at once. The other lines are the person's, in both
// places, whatever comes back by a stash, and an export says so too.
func TestWhyOfAFileThatACommandMovesAndChanges(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("for i in 1 2 3 4 5; do echo compute_value_$i = lookup_thing_$i; done >f.txt")
	w.Commits()
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines([]string{world.InitLine}, world.Shells("a", "mv f.txt g.txt; sed -i 3s/.*/line_of_the_turn/ g.txt"), []string{world.Succeeds("Done.")})...)
	session := e.Turn(nil).SessionID
	why := func(path string) (written []int) {
		t.Helper()
		var out struct{ Lines []api.WhyLine }
		e.Must("file/why", world.Obj{"workspace": w.Root, "path": path}, &out)
		for _, l := range out.Lines {
			for i := l.From; l.Source != nil && i < l.To; i++ {
				written = append(written, i)
			}
		}
		return written
	}
	var out api.SessionExport
	e.Must("session/export", world.Obj{"sessionId": session}, &out)
	var lines []string
	for _, p := range out.Parts {
		for i := 0; p.Written != nil && i < len(p.Written.Lines); i++ {
			lines = append(lines, p.Written.Lines[i].Text...)
		}
	}
	require.Equal(t, []string{"line_of_the_turn"}, lines)
	w.Git("stash", "-uq")
	require.Empty(t, why("f.txt"))
	w.Git("stash", "pop", "-q")
	require.Equal(t, []int{2}, why("g.txt"))
}
