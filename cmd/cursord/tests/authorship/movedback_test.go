//go:build unix

package authorship

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestUndoOfARejectOfAMoveAndWhatCameInItsPlace: the old path has two reviews after the reject, and the undo finds both.
func TestUndoOfARejectOfAMoveAndWhatCameInItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, one, two string }{
		"a binary that is gone":  {"\x00b", `printf '\0q' >f; mv f g`, `cp g f; rm g; printf 'txt\n' >f`},
		"a binary that is moved": {"\x00b", `printf '\0q' >f; mv f g`, `printf 'txt\n' >f`},
		"a text that is gone":    {"b\nc\nd\n", `printf 'b\nc\nq\n' >f; mv f g`, `cp g f; rm g; printf 'txt\n' >f`},
		"a text that is moved":   {"b\nc\nd\n", `printf 'b\nc\nq\n' >f; mv f g`, `printf 'txt\n' >f`},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(name, again), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("f", c.before)
				w.Commits()
				w.Start()
				e := w.Opens()
				w.Plays(world.Shells("s", c.one)...)
				turn := e.Turn(nil)
				w.Plays(world.Shells("t", c.two)...)
				e.Turn(world.Obj{"sessionId": turn.SessionID})
				was, diffs := w.Listing(), e.Diffs()
				require.Len(t, diffs, 2)
				for range 2 {
					require.Empty(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped)
					require.Equal(t, c.before, w.Get("f"))
					if again {
						w.Kill()
						w.Start()
						e = w.Opens()
					}
					e.Decides("diff/undo", world.Obj{})
					require.Equal(t, was, w.Listing())
					e.Decides("diff/redo", world.Obj{})
					require.Equal(t, c.before, w.Get("f"))
					e.Decides("diff/undo", world.Obj{})
					now := e.Diffs()
					require.Len(t, now, 2)
					for path, d := range diffs {
						require.Equal(t, d.Hunks, now[path].Hunks)
					}
				}
				e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(diffs["f"])})
				e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(diffs["g"])})
				require.Equal(t, c.before, w.Get("f"))
				w.Put("g", "mine\n")
				e.Fails("diff/undo", world.Obj{"workspace": w.Root})
				require.NoError(t, os.Remove(w.Path("g")))
				e.Decides("diff/undo", world.Obj{})
				e.Decides("diff/undo", world.Obj{})
				require.Equal(t, was, w.Listing())
			})
		}
	}
}

// TestAFileThatComesBackWhereItWas: a turn moves a file and deletes it at its new place. Whoever brings it back, there is nothing to
// review, and no reject can remove it.
func TestAFileThatComesBackWhereItWas(t *testing.T) {
	t.Parallel()
	const text = "b\nc\nd\n"
	move, remove := world.Shells("m", "mv f g"), world.Shells("r", "rm g")
	pause := []string{`{"fake":"sleep","ms":100}`}
	back := world.Shells("b", "git checkout -q -- f")
	for name, c := range map[string]struct {
		turns  [][]string
		person bool
	}{
		"in one turn":        {turns: [][]string{world.Lines(move, pause, remove, pause, back)}},
		"without a pause":    {turns: [][]string{world.Lines(move, remove, back)}},
		"in three turns":     {turns: [][]string{world.Lines(move), world.Lines(remove), world.Lines(back)}},
		"by an edit":         {turns: [][]string{world.Lines(move), world.Lines(remove), world.Lines(world.Edits("e", "f", "(absent)", text))}},
		"after an edit":      {turns: [][]string{world.Lines(move), world.Lines(world.Edits("e", "g", text, text+"e\n"), pause, remove), world.Lines(back)}},
		"by a person":        {turns: [][]string{world.Lines(move), world.Lines(remove)}, person: true},
		"one turn, a person": {turns: [][]string{world.Lines(move, pause, remove)}, person: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", text)
			w.Commits()
			w.Start()
			e := w.Opens()
			session := ""
			for _, lines := range c.turns {
				w.Plays(lines...)
				params := world.Obj{}
				if session != "" {
					params["sessionId"] = session
				}
				session = e.Turn(params).SessionID
			}
			if c.person {
				w.Put("f", text)
			}
			require.Empty(t, e.Diffs())
			_ = e.Call("diff/reject", world.Obj{"workspace": w.Root, "path": "f"}, nil) // an error, unless f had a diff for a moment
			w.RequireTree(world.Tree{"f": text})
			require.Equal(t, "---", sourcesOf(w, e, "f"))
		})
	}
}

// TestAMovedFileThatIsCheckedOutAgain: a command moves a file, another one has git bring it back under its old name, and the moved one stays.
// That one is new, and the other is as it was.
func TestAMovedFileThatIsCheckedOutAgain(t *testing.T) {
	t.Parallel()
	const v = "a\nb\nc\n"
	for name, one := range map[string]struct {
		edit, decide, f string
	}{
		"alone": {}, "with a pending edit": {edit: "a\nB\nc\n"},
		"with an accepted edit": {"a\nB\nc\n", "diff/accept", "modified"}, "with a rejected edit": {"a\nB\nc\n", "diff/reject", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := world.WithCommitted(t, "f", v)
			if one.edit != "" {
				w.Plays(world.Lines(world.Edits("e", "f", v, one.edit))...)
				e.Turn(nil)
			}
			if one.decide != "" {
				e.Decides(one.decide, world.Obj{"all": true})
			}
			moved := w.Get("f")
			w.Plays(world.Lines(world.Shells("1", "mv f z"), world.Shells("2", "git checkout -q f"))...)
			e.Turn(nil)
			found := e.Diffs()
			require.Equal(t, "created", string(found["z"].Kind))
			require.Empty(t, found["z"].OldPath)
			if one.f == "" {
				require.NotContains(t, found, "f")
			} else {
				require.Equal(t, one.f, string(found["f"].Kind))
			}
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": map[bool]string{true: moved, false: v}[one.f != ""], "z": "(absent)"})
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			w.RequireTree(world.Tree{"f": v, "z": moved})
		})
	}
}
