//go:build unix

package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestRewindKeepsAPersonsWholeFiles: a person overwrites binary files, a link and a large file of the agent's, which are pending. A rewind
// leaves and names them, and so does a redo of one.
func TestRewindKeepsAPersonsWholeFiles(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes(`printf 'SQLite\0v0' >old.db; echo a >f`)
	w.Start()
	e := w.Opens()
	w.Plays(commands(`printf 'SQLite\0v1' >data.db; printf 'SQLite\0v1' >old.db; ln -s a nl; seq 400000 >large; echo b >f`)...)
	turn := e.Turn(nil)
	require.Len(t, e.Diffs(), 5)
	all := []string{"data.db", "old.db", "nl", "large"}
	w.Makes(`printf 'SQLite\0mine' >data.db; printf 'SQLite\0mine too' >old.db; ln -sfn mine nl; echo mine >>large`)
	then := w.Listing()
	dry := rewinds(e, turn, world.Obj{"dryRun": true})
	out := rewinds(e, turn, nil)
	require.Equal(t, "a\n", w.Get("f"))
	w.Put("f", "b\n")
	require.Equal(t, then, w.Listing())
	w.Put("f", "a\n")
	require.ElementsMatch(t, all, changedSince(out))
	require.ElementsMatch(t, all, changedSince(dry))
	require.Equal(t, 1, out.Applied)
	require.Equal(t, 1, dry.Applied)
	require.Empty(t, e.Diffs())
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, then, w.Listing())
	require.Len(t, e.Diffs(), 5)
	e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "a\n", w.Get("f"))
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, then, w.Listing())
}

// TestRedoOfARewindKeepsAPersonsWholeFile: after the undo of a rewind, a person overwrites a file that the rewind had removed.
func TestRedoOfARewindKeepsAPersonsWholeFile(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(commands(`printf 'SQLite\0v1' >data.db; ln -s a nl`)...)
	turn := e.Turn(nil)
	require.Empty(t, rewinds(e, turn, nil).Skipped)
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	w.Makes(`printf 'SQLite\0mine' >data.db; ln -sfn mine nl`)
	then := w.Listing()
	require.Contains(t, e.Fails("diff/redo", world.Obj{"workspace": w.Root}).Message, "have changed since")
	require.Equal(t, then, w.Listing())
}

// TestDryRewindIsLikeTheRealOne: a person has something where a rewind would put files again.
func TestDryRewindIsLikeTheRealOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ makes, agent, person string }{
		{"seq 9 >a", "mv a b", "echo mine >a"},
		{"mkdir d; seq 1 >d/a; seq 2 >d/b; seq 3 >d/c", "mv d e; rm e/c", "mkdir -p d; echo mine >d/b"},
		{"seq 9 >f", "rm f", "mkdir f; echo mine >f/mine"},
		{"seq 9 >f", "rm f", "mkdir f"},
		{"seq 9 >f", "rm f; mkdir f; echo x >f/x", "echo mine >f/mine"},
		{"seq 9 >f", "rm f; mkdir f; echo x >f/x", "true"},
		{"seq 9 >a", "mv a b; seq 30 35 >a", "true"},
		{"seq 9 >a; seq 20 >b", "mv b c; mv a b", "true"},
		{"mkdir d; seq 9 >d/a", "mv d/a a; rmdir d", "echo mine >d"},
		{"mkdir d; seq 9 >d/a", "rm -r d; echo x >d", "true"},
		{"seq 9 >tool", "chmod 755 tool", "rm tool; mkdir tool"},
		{"seq 9 >tool", "chmod 755 tool", "rm tool; ln -s x tool"},
	} {
		for _, accepts := range []bool{false, true} {
			t.Run(fmt.Sprint(c.agent, ", ", c.person, accepts), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Makes("umask 022; " + c.makes)
				w.Start()
				e := w.Opens()
				w.Plays(commands("umask 022; " + c.agent)...)
				turn := e.Turn(nil)
				if accepts {
					e.Decides("diff/accept", world.Obj{"all": true})
				}
				w.Makes(c.person)
				then := w.Listing()
				dry := rewinds(e, turn, world.Obj{"dryRun": true})
				require.Equal(t, then, w.Listing())
				out := rewinds(e, turn, nil)
				require.Equal(t, out.Applied, dry.Applied)
				require.Equal(t, out.Skipped, dry.Skipped)
				require.Equal(t, out.Applied > 0, then != w.Listing(), "%s", w.Listing())
				require.Equal(t, out.Applied > 0, dry.Patch != "", dry.Patch)
				t.Log(out.Applied, out.Skipped)
			})
		}
	}
}

// TestDryRewindWhereTwoFilesGoToOnePath: a person has made a file where an agent had moved one away, and the agent has taken that one away, too.
func TestDryRewindWhereTwoFilesGoToOnePath(t *testing.T) {
	t.Parallel()
	for _, agent := range [][]string{{"mv x y", "mv x z"}, {"mv x z", "mv x y"}, {"mv x y", "rm x"}, {"mv x a", "rm x"}} {
		for _, accepts := range []bool{false, true} {
			t.Run(fmt.Sprint(agent, accepts), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("x", "1\n2\n3\n4\n")
				w.Start()
				e := w.Opens()
				w.Plays(commands(agent[0])...)
				turn := e.Turn(nil)
				w.Put("x", "mine\nalso mine\n")
				w.Plays(commands(agent[1])...)
				e.Turn(world.Obj{"sessionId": turn.SessionID})
				if accepts {
					e.Decides("diff/accept", world.Obj{"all": true})
				}
				then := w.Listing()
				dry := rewinds(e, turn, world.Obj{"dryRun": true})
				require.Equal(t, then, w.Listing())
				out := rewinds(e, turn, nil)
				require.Equal(t, 1, out.Applied, out.Skipped)
				require.Len(t, out.Skipped, 1)
				require.Equal(t, out.Applied, dry.Applied)
				require.Equal(t, out.Skipped, dry.Skipped)
				lines := w.Listing()
				for _, d := range e.Diffs() {
					for _, h := range d.Hunks {
						lines += strings.Join(h.Lines, "\n")
					}
				}
				require.Contains(t, lines, "also mine", "there, or to be rejected")
				require.Contains(t, lines, "4")
				t.Log(lines, out.Skipped)
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, then, w.Listing())
			})
		}
	}
}

// TestRewindNamesAFileThatIsGone: a person has moved a file of the agent's to where nobody follows it.
func TestRewindNamesAFileThatIsGone(t *testing.T) {
	t.Parallel()
	for _, person := range []string{"mkdir z; cp new1 z/; rm new1", "mv new1 new4; echo mine >>new4"} {
		for _, accepts := range []bool{false, true} {
			t.Run(fmt.Sprint(person, accepts), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Start()
				e := w.Opens()
				w.Plays(commands("echo made >new1; echo other >new2")...)
				turn := e.Turn(nil)
				if accepts {
					e.Decides("diff/accept", world.Obj{"all": true})
				}
				w.Makes(person + "; rm new2")
				then := w.Listing()
				out := rewinds(e, turn, nil)
				require.Equal(t, then, w.Listing())
				require.Zero(t, out.Applied)
				var named []string
				for _, s := range out.Skipped {
					require.Equal(t, api.KindNotFound, s.Kind)
					named = append(named, s.Path)
				}
				require.ElementsMatch(t, []string{"new1", "new2"}, named)
			})
		}
	}
}
