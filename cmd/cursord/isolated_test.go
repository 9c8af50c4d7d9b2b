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

// isolates makes a session whose agent works in a copy.
func (e *editor) isolates() *sessions.Session {
	e.t.Helper()
	var out struct{ Session *sessions.Session }
	e.must("session/create", obj{"workspace": e.w.ws, "isolation": "copy"}, &out)
	require.Equal(e.t, "copy", out.Session.Isolation)
	return out.Session
}

// ok runs one turn of a session to its good end.
func (e *editor) ok(s *sessions.Session) *sessions.Turn {
	e.t.Helper()
	turn := e.turn(obj{"sessionId": s.ID})
	require.Equal(e.t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	return turn
}

// copyOf returns where the session's agent works.
func (w *world) copyOf(s *sessions.Session) string {
	return filepath.Join(w.dir, "state", "copies", s.ID, "ws")
}

// copied reads a file of a session's copy.
func (w *world) copied(s *sessions.Session, name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.copyOf(s), filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		return "(absent)"
	}
	require.NoError(w.t, err)
	return string(b)
}

// whole returns all that a folder holds: files with their modes, links with their targets, folders.
func (w *world) whole(dir string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
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
	before := numbered(30, nil)
	after := numbered(30, map[int]string{3: "agent 3\n", 15: "agent 15\n", 28: ""})
	for _, repo := range []bool{true, false} {
		t.Run(fmt.Sprint("git ", repo), func(t *testing.T) {
			w := newWorld(t)
			w.putAll(tree{"f": before, "sed": "one\ntwo\n", "old": "moved\n", "gone": "gone\n", "run.sh": "#!/bin/sh\n", "d/deep": "deep\n", "link": "(absent)"})
			require.NoError(t, os.Symlink("f", w.path("link")))
			if repo {
				w.commits()
				w.put("untracked", "mine\n")
			}
			was := w.whole(w.ws)
			w.plays(lines(
				edits("1", "f", before, after), edits("2", "made/new.txt", "(absent)", "brand new\n"),
				shells("3", "sed -i s/two/TWO/ sed; mv old moved; rm gone; rm -r d; chmod +x run.sh; ln -sfn sed link; echo n > shell.txt"),
			)...)
			w.start()
			e := w.opens()
			s := e.isolates()
			turn := e.ok(s)
			require.Equal(t, was, w.whole(w.ws))
			require.Equal(t, w.copyOf(s), w.runs()[0].Cwd)
			found := e.diffs()
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
			}, kinds, e.notices(turn.ID))

			// One hunk accepted is that hunk in the work tree, and nothing else.
			ids := hunkIDs(found["f"])
			require.Len(t, ids, 3)
			e.decides("diff/accept", obj{"hunks": ids[:1]})
			want := numbered(30, map[int]string{3: "agent 3\n"})
			require.Equal(t, want, w.get("f"))
			was["f"] = strings.Replace(was["f"], "line 3\n", "agent 3\n", 1)
			require.Equal(t, was, w.whole(w.ws))
			require.Equal(t, after, w.copied(s, "f"))

			// One rejected is gone from the copy, and nowhere else.
			e.decides("diff/reject", obj{"hunks": ids[1:2]})
			require.Equal(t, was, w.whole(w.ws))
			require.Equal(t, numbered(30, map[int]string{3: "agent 3\n", 28: ""}), w.copied(s, "f"))

			e.must("diff/undo", obj{"workspace": w.ws}, nil)
			require.Equal(t, after, w.copied(s, "f"))
			e.must("diff/undo", obj{"workspace": w.ws}, nil)
			require.Equal(t, before, w.get("f"))
			require.Equal(t, after, w.copied(s, "f"))

			out := e.decides("diff/accept", obj{"all": true})
			require.Empty(t, out.Skipped)
			require.Empty(t, e.diffs())
			require.Equal(t, w.whole(w.copyOf(s)), w.whole(w.ws))
			e.must("diff/undo", obj{"workspace": w.ws}, nil)
			was["f"] = strings.Replace(was["f"], "agent 3\n", "line 3\n", 1)
			require.Equal(t, was, w.whole(w.ws))
			require.Len(t, e.diffs(), 9)

			out = e.decides("diff/reject", obj{"all": true})
			require.Empty(t, out.Skipped)
			require.Empty(t, e.diffs())
			require.Equal(t, was, w.whole(w.ws))
			require.Equal(t, was, w.whole(w.copyOf(s)))
		})
	}
}

// TestAPersonMakesAnIsolatedRename: what an agent has moved in its copy, a person moves in the work tree. Then the move is
// no hunk any more, and the agent's lines are still those.
func TestAPersonMakesAnIsolatedRename(t *testing.T) {
	t.Parallel()
	before := numbered(30, nil)
	after := numbered(30, map[int]string{7: "agent 7\n"})
	for name, moves := range map[string]func(t *testing.T, a apart){
		"at once": func(t *testing.T, a apart) {
			require.NoError(t, os.Rename(a.w.path("was"), a.w.path("now")))
		},
		"with the agent's line": func(t *testing.T, a apart) {
			a.w.put("was", after)
			require.NoError(t, os.Rename(a.w.path("was"), a.w.path("now")))
		},
		"and is seen to have taken it away": func(t *testing.T, a apart) {
			require.NoError(t, os.Rename(a.w.path("was"), a.w.path("../aside")))
			require.Equal(t, sessions.DiffCreated, a.e.diffs()["now"].Kind)
			require.NoError(t, os.Rename(a.w.path("../aside"), a.w.path("now")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := apart{w: newWorld(t), before: before, after: after}
			a.w.put("was", before)
			a.w.commits()
			a.w.plays(lines(shells("c", `text=$(sed "s/^line 7$/agent 7/" was); mv was now; echo "$text" >now`))...)
			a.w.start()
			a.e = a.w.opens()
			a.s = a.e.isolates()
			a.e.ok(a.s)
			require.Len(t, a.e.diffs()["now"].Hunks, 2)
			moves(t, a)
			person := a.w.get("now")
			found := a.e.diffs()
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
			a.e.decides("diff/reject", obj{"all": true})
			a.w.requireTree(tree{"now": person, "was": "(absent)"})
			a.copies("now", person)
		})
	}
}
