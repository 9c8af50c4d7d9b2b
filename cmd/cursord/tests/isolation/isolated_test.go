//go:build unix

package isolation

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestIsolatedTurnLeavesTheWorkTree has the agent change files in every way, in a repository and in a plain folder.
func TestIsolatedTurnLeavesTheWorkTree(t *testing.T) {
	bothKinds(t, testIsolatedTurnLeavesTheWorkTree)
}

func testIsolatedTurnLeavesTheWorkTree(t *testing.T) {
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{3: "agent 3\n", 15: "agent 15\n", 28: ""})
	for _, repo := range []bool{true, false} {
		t.Run(fmt.Sprint("git ", repo), func(t *testing.T) {
			w := newWorld(t)
			w.PutAll(world.Tree{"f": before, "sed": "one\ntwo\n", "old": "moved\n", "gone": "gone\n", "run.sh": "#!/bin/sh\n", "d/deep": "deep\n", "link": "(absent)"})
			require.NoError(t, os.Symlink("f", w.Path("link")))
			if repo {
				w.Commits()
				w.Put("untracked", "mine\n")
			}
			was := w.Whole(w.Root)
			w.Plays(world.Lines(
				world.Edits("1", "f", before, after), world.Edits("2", "made/new.txt", "(absent)", "brand new\n"),
				world.Shells("3", "sed -i s/two/TWO/ sed; mv old moved; rm gone; rm -r d; chmod +x run.sh; ln -sfn sed link; echo n > shell.txt"),
			)...)
			w.Start()
			e := w.Opens()
			s := e.Isolates()
			turn := e.Ok(s)
			require.Equal(t, was, w.Whole(w.Root))
			require.Equal(t, w.CopyOf(s), w.Runs()[0].Cwd)
			found := e.Diffs()
			kinds := map[string]sessions.DiffKind{}
			for path, d := range found {
				kinds[path] = d.Kind
				for _, h := range d.Hunks {
					require.True(t, h.Isolated)
					require.Equal(t, turn.ID, h.Sources[0].TurnID)
				}
			}
			require.Equal(t, map[string]sessions.DiffKind{
				"f": "modified", "made/new.txt": "created", "sed": "modified", "moved": "renamed", "gone": "deleted", "d/deep": "deleted",
				"run.sh": "mode", "link": "symlink", "shell.txt": "created",
			}, kinds, e.Notices(turn.ID))

			// One accepted hunk is in the work tree now, and nothing else is.
			ids := world.HunkIDs(found["f"])
			require.Len(t, ids, 3)
			e.Decides("diff/accept", world.Obj{"hunks": ids[:1]})
			want := world.Numbered(30, map[int]string{3: "agent 3\n"})
			require.Equal(t, want, w.Get("f"))
			was["f"] = strings.Replace(was["f"], "line 3\n", "agent 3\n", 1)
			require.Equal(t, was, w.Whole(w.Root))
			require.Equal(t, after, w.Copied(s, "f"))

			// One rejected hunk is gone from the copy, and the work tree is as it was.
			e.Decides("diff/reject", world.Obj{"hunks": ids[1:2]})
			require.Equal(t, was, w.Whole(w.Root))
			require.Equal(t, world.Numbered(30, map[int]string{3: "agent 3\n", 28: ""}), w.Copied(s, "f"))

			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, after, w.Copied(s, "f"))
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, before, w.Get("f"))
			require.Equal(t, after, w.Copied(s, "f"))

			out := e.Decides("diff/accept", world.Obj{"all": true})
			require.Empty(t, out.Skipped)
			require.Empty(t, e.Diffs())
			require.Equal(t, w.Whole(w.Seen(s)), w.Whole(w.Root))
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			was["f"] = strings.Replace(was["f"], "agent 3\n", "line 3\n", 1)
			require.Equal(t, was, w.Whole(w.Root))
			require.Len(t, e.Diffs(), 9)

			out = e.Decides("diff/reject", world.Obj{"all": true})
			require.Empty(t, out.Skipped)
			require.Empty(t, e.Diffs())
			require.Equal(t, was, w.Whole(w.Root))
			require.Equal(t, was, w.Whole(w.Seen(s)))
		})
	}
}

// TestAPersonMakesAnIsolatedRename has a person make a move in the work tree that the agent has made in its copy. The move
// is no hunk any more, and the agent's changed lines still are.
func TestAPersonMakesAnIsolatedRename(t *testing.T) {
	bothKinds(t, testAPersonMakesAnIsolatedRename)
}

func testAPersonMakesAnIsolatedRename(t *testing.T) {
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{7: "agent 7\n"})
	for name, moves := range map[string]func(t *testing.T, a apart){
		"at once": func(t *testing.T, a apart) {
			require.NoError(t, os.Rename(a.w.Path("was"), a.w.Path("now")))
		},
		"with the agent's line": func(t *testing.T, a apart) {
			a.w.Put("was", after)
			require.NoError(t, os.Rename(a.w.Path("was"), a.w.Path("now")))
		},
		"and is seen to have taken it away": func(t *testing.T, a apart) {
			require.NoError(t, os.Rename(a.w.Path("was"), a.w.Path("../aside")))
			require.Equal(t, sessions.DiffCreated, a.e.Diffs()["now"].Kind)
			require.NoError(t, os.Rename(a.w.Path("../aside"), a.w.Path("now")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := apart{w: newWorld(t), before: before, after: after}
			a.w.Put("was", before)
			a.w.Commits()
			a.w.Plays(world.Lines(world.Shells("c", `text=$(sed "s/^line 7$/agent 7/" was); mv was now; echo "$text" >now`))...)
			a.w.Start()
			a.e = a.w.Opens()
			a.s = a.e.Isolates()
			a.e.Ok(a.s)
			require.Len(t, a.e.Diffs()["now"].Hunks, 2)
			moves(t, a)
			person := a.w.Get("now")
			found := a.e.Diffs()
			if person == after {
				require.Empty(t, found)
			} else {
				require.Len(t, found, 1)
				d := found["now"]
				require.Equal(t, sessions.DiffModified, d.Kind)
				require.Empty(t, d.OldPath)
				require.Len(t, d.Hunks, 1)
				changed := slices.DeleteFunc(slices.Clone(d.Hunks[0].Lines), func(l string) bool { return l[0] == ' ' })
				require.Equal(t, []string{"-line 7", "+agent 7"}, changed)
			}
			a.copies("now", after)
			a.e.Decides("diff/reject", world.Obj{"all": true})
			a.w.RequireTree(world.Tree{"now": person, "was": "(absent)"})
			a.copies("now", person)
		})
	}
}
