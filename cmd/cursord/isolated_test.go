package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// Isolates makes a session whose agent works in a copy.
func (e *Editor) Isolates() *sessions.Session {
	e.T.Helper()
	var out struct{ Session *sessions.Session }
	e.Must("session/create", Obj{"workspace": e.World.Root, "isolation": "copy"}, &out)
	require.Equal(e.T, "copy", out.Session.Isolation)
	return out.Session
}

// Ok runs one turn of a session to its good end.
func (e *Editor) Ok(s *sessions.Session) *sessions.Turn {
	e.T.Helper()
	turn := e.Turn(Obj{"sessionId": s.ID})
	require.Equal(e.T, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	return turn
}

// CopyOf returns where the session's agent works.
func (w *World) CopyOf(s *sessions.Session) string {
	return filepath.Join(w.Dir, "state", "copies", s.ID, "ws")
}

// Copied reads a file of a session's copy.
func (w *World) Copied(s *sessions.Session, name string) string {
	w.T.Helper()
	b, err := os.ReadFile(filepath.Join(w.CopyOf(s), filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		return "(absent)"
	}
	require.NoError(w.T, err)
	return string(b)
}

// Whole returns all that a folder holds: files with their modes, links with their targets, folders.
func (w *World) Whole(dir string) map[string]string {
	w.T.Helper()
	all := map[string]string{}
	require.NoError(w.T, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			all[rel] = "folder"
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[rel] = "-> " + target
			return err
		default:
			b, err := os.ReadFile(path)
			all[rel] = fmt.Sprint(info.Mode(), " ", string(b))
			return err
		}
		return nil
	}))
	return all
}

// TestIsolatedTurnLeavesTheWorkTree has an agent do all that one may do, in a repository and in a plain folder.
func TestIsolatedTurnLeavesTheWorkTree(t *testing.T) {
	t.Parallel()
	before := Numbered(30, nil)
	after := Numbered(30, map[int]string{3: "agent 3\n", 15: "agent 15\n", 28: ""})
	for _, repo := range []bool{true, false} {
		t.Run(fmt.Sprint("git ", repo), func(t *testing.T) {
			w := New(t)
			w.PutAll(Tree{"f": before, "sed": "one\ntwo\n", "old": "moved\n", "gone": "gone\n", "run.sh": "#!/bin/sh\n", "d/deep": "deep\n", "link": "(absent)"})
			require.NoError(t, os.Symlink("f", w.Path("link")))
			if repo {
				w.Commits()
				w.Put("untracked", "mine\n")
			}
			was := w.Whole(w.Root)
			w.Plays(Lines(
				Edits("1", "f", before, after), Edits("2", "made/new.txt", "(absent)", "brand new\n"),
				Shells("3", "sed -i s/two/TWO/ sed; mv old moved; rm gone; rm -r d; chmod +x run.sh; ln -sfn sed link; echo n > shell.txt"),
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

			// One hunk accepted is that hunk in the work tree, and nothing else.
			ids := HunkIDs(found["f"])
			require.Len(t, ids, 3)
			e.Decides("diff/accept", Obj{"hunks": ids[:1]})
			want := Numbered(30, map[int]string{3: "agent 3\n"})
			require.Equal(t, want, w.Get("f"))
			was["f"] = strings.Replace(was["f"], "line 3\n", "agent 3\n", 1)
			require.Equal(t, was, w.Whole(w.Root))
			require.Equal(t, after, w.Copied(s, "f"))

			// One rejected is gone from the copy, and nowhere else.
			e.Decides("diff/reject", Obj{"hunks": ids[1:2]})
			require.Equal(t, was, w.Whole(w.Root))
			require.Equal(t, Numbered(30, map[int]string{3: "agent 3\n", 28: ""}), w.Copied(s, "f"))

			e.Must("diff/undo", Obj{"workspace": w.Root}, nil)
			require.Equal(t, after, w.Copied(s, "f"))
			e.Must("diff/undo", Obj{"workspace": w.Root}, nil)
			require.Equal(t, before, w.Get("f"))
			require.Equal(t, after, w.Copied(s, "f"))

			out := e.Decides("diff/accept", Obj{"all": true})
			require.Empty(t, out.Skipped)
			require.Empty(t, e.Diffs())
			require.Equal(t, w.Whole(w.CopyOf(s)), w.Whole(w.Root))
			e.Must("diff/undo", Obj{"workspace": w.Root}, nil)
			was["f"] = strings.Replace(was["f"], "agent 3\n", "line 3\n", 1)
			require.Equal(t, was, w.Whole(w.Root))
			require.Len(t, e.Diffs(), 9)

			out = e.Decides("diff/reject", Obj{"all": true})
			require.Empty(t, out.Skipped)
			require.Empty(t, e.Diffs())
			require.Equal(t, was, w.Whole(w.Root))
			require.Equal(t, was, w.Whole(w.CopyOf(s)))
		})
	}
}

// TestAPersonMakesAnIsolatedRename: what an agent has moved in its copy, a person moves in the work tree. Then the move is
// no hunk any more, and the agent's lines are still those.
func TestAPersonMakesAnIsolatedRename(t *testing.T) {
	t.Parallel()
	before := Numbered(30, nil)
	after := Numbered(30, map[int]string{7: "agent 7\n"})
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
			a := apart{w: New(t), before: before, after: after}
			a.w.Put("was", before)
			a.w.Commits()
			a.w.Plays(Lines(Shells("c", `text=$(sed "s/^line 7$/agent 7/" was); mv was now; echo "$text" >now`))...)
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
			a.e.Decides("diff/reject", Obj{"all": true})
			a.w.RequireTree(Tree{"now": person, "was": "(absent)"})
			a.copies("now", person)
		})
	}
}
