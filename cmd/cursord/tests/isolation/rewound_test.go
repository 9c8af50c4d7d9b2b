//go:build unix

package isolation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestRewindOfARemovedMove: the agent moves a file, removes it in another turn, and the removal that a person has accepted is rewound. The file is
// back in both trees, and the next turn, which does nothing, lists no deletion of it.
func TestRewindOfARemovedMove(t *testing.T) { bothKinds(t, testRewindOfARemovedMove) }

func testRewindOfARemovedMove(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "one line": "one\n", "more": "1\n2\n3\n4\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.PutAll(world.Tree{"a": text, "k": "k\n"})
			w.Commits()
			w.Start()
			e := w.Opens()
			s := e.Isolates()
			w.Plays(world.Lines(world.Shells("1", "mv a b"))...)
			e.Ok(s)
			w.Plays(world.Lines(world.Shells("2", "rm b"))...)
			turn := e.Ok(s)
			e.Decides("diff/accept", world.Obj{"all": true})
			require.Equal(t, "(absent)", w.Get("a"))
			e.Must("session/rewind", world.Obj{"sessionId": s.ID, "turnId": turn.ID}, nil)
			require.Equal(t, text, w.Get("a"))
			was := w.Whole(w.Root)
			w.Plays(world.Done)
			e.Ok(s)
			require.Empty(t, e.Diffs())
			require.Equal(t, was, w.Whole(w.Root))
			require.Equal(t, was, w.Whole(w.Seen(s)))
		})
	}
}

// TestRewindLeavesAPersonsDeletion: the agent's deletion of lines includes one that the person deletes, too.
func TestRewindLeavesAPersonsDeletion(t *testing.T) { bothKinds(t, testRewindLeavesAPersonsDeletion) }

func testRewindLeavesAPersonsDeletion(t *testing.T) {
	for name, accepts := range map[string]bool{"after an accept": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Makes("seq 10 >e")
			w.Commits()
			w.Start()
			e := w.Opens()
			s := e.Isolates()
			w.Plays(world.Lines(world.Shells("1", "sed -i '3s/.*/A/;7,8d' e"))...)
			turn := e.Ok(s)
			w.Makes("sed -i 7d e")
			if accepts {
				ids := world.HunkIDs(e.Diffs()["e"])
				e.Decides("diff/accept", world.Obj{"hunks": ids[:1]})
				require.Equal(t, "1\n2\nA\n4\n5\n6\n8\n9\n10\n", w.Get("e"))
			}
			e.Must("session/rewind", world.Obj{"sessionId": s.ID, "turnId": turn.ID}, nil)
			want := "1\n2\n3\n4\n5\n6\n8\n9\n10\n"
			require.Equal(t, want, w.Get("e"))
			require.Equal(t, want, w.Copied(s, "e"))
			w.Plays(world.Done)
			e.Ok(s)
			require.Empty(t, e.Diffs())
			require.Equal(t, want, w.Get("e"))
			require.Equal(t, want, w.Copied(s, "e"))
		})
	}
}
