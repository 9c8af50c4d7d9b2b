//go:build unix

package isolation

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// An apart is a file that an agent has changed in a copy in three places.
type apart struct {
	w             *world.World
	e             *world.Editor
	s             *sessions.Session
	before, after string
}

func newApart(t *testing.T) apart {
	t.Helper()
	w := newWorld(t)
	w.Start()
	return anotherApart(w, w.Joins())
}

// anotherApart makes an apart in a folder of its own, with a daemon that runs.
func anotherApart(w *world.World, e *world.Editor) apart {
	t := w.T
	t.Helper()
	a := apart{w: w, e: e, before: world.Numbered(30, nil), after: world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})}
	a.w.Elsewhere()
	a.w.Put("f", a.before)
	a.w.Put("other", "other\n")
	a.w.Commits()
	a.w.Plays(world.Lines(world.Edits("c", "f", a.before, a.after))...)
	a.e.Follows()
	a.s = a.e.Isolates()
	a.e.Ok(a.s)
	require.Len(t, a.e.Diffs()["f"].Hunks, 3)
	return a
}

// types has a person put now in the place of a line of the file, in an editor. It returns the document, and its text.
func (a apart) types(line, now string, unsaved bool) (doc *world.Document, text string) {
	a.w.T.Helper()
	doc, text = a.e.OpenDocument("f"), strings.Replace(a.before, line, now, 1)
	doc.Set(text)
	if !unsaved {
		doc.Save()
	}
	return doc, text
}

// copies requires this content of the copy's file.
func (a apart) copies(name, text string) {
	a.w.T.Helper()
	a.e.Diffs() // the daemon takes in the content on disk
	require.Equal(a.w.T, text, a.w.Copied(a.s, name))
}

func TestIsolatedHunksAndWhatPeopleType(t *testing.T) {
	bothKinds(t, testIsolatedHunksAndWhatPeopleType)
}

func testIsolatedHunksAndWhatPeopleType(t *testing.T) {
	a := newApart(t)
	mine := strings.NewReplacer("line 1\n", "mine 0\nline 1\n", "line 15\n", "line 15\nmine 15\n", "line 30\n", "line 30\nmine 31\n")
	a.w.Put("f", mine.Replace(a.before))
	// A person's line inside of a hunk, beside it, or at either end of the file is in the copy as well, and in no hunk.
	d := a.e.Diffs()["f"]
	require.Len(t, d.Hunks, 3)
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l[0] != ' ' {
				require.NotContains(t, l, "mine")
			}
		}
	}
	for _, line := range []string{"mine 0\n", "mine 15\n", "mine 31\n", "agent 15a\n"} {
		require.Contains(t, a.w.Copied(a.s, "f"), line)
	}
	ids := world.HunkIDs(d)
	a.e.Decides("diff/accept", world.Obj{"hunks": ids[1:2]})
	got := a.w.Get("f")
	for _, line := range []string{"mine 0\n", "mine 15\n", "mine 31\n", "agent 15a\nagent 15b\n", "line 5\n", "line 25\n"} {
		require.Contains(t, got, line)
	}
	require.NotContains(t, got, "line 15\n")
	a.w.Put("f", strings.Replace(got, "mine 15\n", "", 1))
	a.e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, strings.Replace(got, "mine 15\n", "", 1), a.w.Get("f"))
	require.Equal(t, a.w.Get("f"), a.w.Copied(a.s, "f"))
	a.e.Must("diff/undo", world.Obj{"workspace": a.w.Root}, nil)
	a.e.Must("diff/undo", world.Obj{"workspace": a.w.Root}, nil)
	require.Len(t, a.e.Diffs()["f"].Hunks, 3)
	require.Contains(t, a.w.Get("f"), "line 15\n")
	require.NotContains(t, a.w.Get("f"), "agent")
}

func TestIsolatedHunksThatPeopleMakeOrTakeAway(t *testing.T) {
	bothKinds(t, testIsolatedHunksThatPeopleMakeOrTakeAway)
}

func testIsolatedHunksThatPeopleMakeOrTakeAway(t *testing.T) {
	a := newApart(t)
	ids := world.HunkIDs(a.e.Diffs()["f"])
	// A hunk that a person made by hand is no hunk any more. A hunk with new lines is a conflict for a client that names the
	// old one.
	a.w.Put("f", strings.NewReplacer("line 5\n", "agent 5\n", "line 15\n", "mine\n").Replace(a.before))
	err := a.e.Fails("diff/accept", world.Obj{"workspace": a.w.Root, "hunks": ids[1:2]})
	require.Equal(t, api.KindConflict, err.Data.Kind)
	require.NotNil(t, err.Data.Diff)
	require.Equal(t, api.KindNotFound, a.e.Fails("diff/accept", world.Obj{"workspace": a.w.Root, "hunks": ids[:1]}).Data.Kind)
	d := a.e.Diffs()["f"]
	require.Len(t, d.Hunks, 2)
	a.e.Decides("diff/accept", world.Obj{"all": true})
	got := a.w.Get("f")
	require.Contains(t, got, "mine\nagent 15a\nagent 15b\n", "both are kept")
	require.NotContains(t, got, "line 25\n")
	require.Equal(t, got, a.w.Copied(a.s, "f"))

	// The file is removed, and the agent's added lines are still offered.
	a.w.Plays(world.Lines(world.Edits("d", "f", got, strings.Replace(got, "line 20\n", "agent 20\n", 1)))...)
	a.e.Ok(a.s)
	require.NoError(t, os.Remove(a.w.Path("f")))
	d = a.e.Diffs()["f"]
	require.Equal(t, sessions.DiffCreated, d.Kind)
	a.e.Decides("diff/reject", world.Obj{"all": true})
	require.NoFileExists(t, a.w.Path("f"))
	require.Equal(t, "(absent)", a.w.Copied(a.s, "f"))
}

func TestIsolatedTurnAndWhatPeopleDoMeanwhile(t *testing.T) {
	bothKinds(t, testIsolatedTurnAndWhatPeopleDoMeanwhile)
}

func testIsolatedTurnAndWhatPeopleDoMeanwhile(t *testing.T) {
	w := newWorld(t)
	before := world.Numbered(30, nil)
	agent := world.Numbered(30, map[int]string{5: "agent 5\n"})
	w.PutAll(world.Tree{"f": before, "g": "g\n", "h": "h\n"})
	w.Commits()
	step := func(name string) []string {
		return []string{`{"fake":"write","path":"` + w.Path("../at-"+name) + `","text":""}`, `{"fake":"wait","path":"` + w.Path("../go-"+name) + `"}`}
	}
	w.Plays(world.Lines(step("start"), world.Edits("1", "f", before, agent), step("edited"), world.Shells("2", "echo agent >> g; sed -i 's/^line 20$/agent 20/' f"), step("end"))...)
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	turn := e.Asks(world.Obj{"sessionId": s.ID})
	reached := func(name string) {
		t.Helper()
		require.Eventually(t, func() bool { return w.Get("../at-"+name) != "(absent)" }, world.Patience, world.Patience/1000)
	}
	reached("start")
	w.Put("f", strings.Replace(before, "line 1\n", "mine 1\n", 1))
	w.Put("../go-start", "")
	reached("edited")
	e.Until("the agent's edit", func(n world.Notification) bool {
		return n.Method == "diff/changed" && n.Diff.Path == "f" && n.Diff.State == "pending"
	})
	w.Put("f", strings.NewReplacer("line 1\n", "mine 1\n", "line 10\n", "mine 10\n").Replace(before))
	require.Len(t, e.Diffs()["f"].Hunks, 1)
	require.Contains(t, w.Copied(s, "f"), "mine 10\n")
	w.Put("../go-edited", "")
	reached("end")
	w.Put("g", "mine first\ng\n")
	w.Put("h", "mine\n")
	mine := strings.NewReplacer("line 1\n", "mine 1\n", "line 10\n", "mine 10\n", "line 30\n", "mine 30\n").Replace(before)
	w.Put("f", mine)
	w.Put("../go-end", "")
	e.Ends(turn.ID)
	found := e.Diffs()
	require.Len(t, found, 2, "what people do is not the agent's: %v", found)
	require.Len(t, found["f"].Hunks, 2)
	require.Len(t, found["g"].Hunks, 1)
	require.Equal(t, mine, w.Get("f"))
	e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, strings.NewReplacer("line 5\n", "agent 5\n", "line 20\n", "agent 20\n").Replace(mine), w.Get("f"))
	w.RequireTree(world.Tree{"g": "mine first\ng\nagent\n", "h": "mine\n"})
}

func TestIsolatedTurnsTakeOverAndResume(t *testing.T) {
	bothKinds(t, testIsolatedTurnsTakeOverAndResume)
}

func testIsolatedTurnsTakeOverAndResume(t *testing.T) {
	for _, how := range []struct {
		name    string
		restart func(*world.World)
	}{
		{"no restart", func(*world.World) {}},
		{"restart", func(w *world.World) { w.Stop(); w.Start() }},
		{"crash", func(w *world.World) { w.Kill(); w.Start() }},
	} {
		t.Run(how.name, func(t *testing.T) {
			w := newWorld(t)
			w.PutAll(world.Tree{"f": "1\n2\n3\n", "g": "g\n", "gone": "gone\n"})
			w.Commits()
			w.Plays(append([]string{`{"type":"system","subtype":"init","session_id":"{{session}}","cwd":"{{cwd}}"}`},
				world.Lines(world.Edits("1", "f", "1\n2\n3\n", "1\n2\nagent\n"), world.Shells("2", "rm gone; echo n > new"))...)...)
			w.Start()
			e := w.Opens()
			s := e.Isolates()
			e.Ok(s)
			was := e.Diffs()
			how.restart(w)
			e = w.Opens()
			now := e.Diffs()
			require.Len(t, now, 3)
			for path, d := range was {
				require.Equal(t, d.Hunks, now[path].Hunks, path)
			}
			// The person changes more.
			w.PutAll(world.Tree{"f": "mine\n2\n3\n", "g": "mine\n", "made/by/me": "x\n"})
			w.Git("commit", "-qam", "mine")
			require.NoError(t, os.Chmod(w.Path("g"), 0o755))
			w.Plays(world.Lines(world.Shells("3", "git log --format=%s > log; cat f g made/by/me > seen"))...)
			e.Ok(s)
			require.Equal(t, "mine\n2\nagent\nmine\nx\n", w.Copied(s, "seen"))
			require.Equal(t, "mine\nfirst\n", w.Copied(s, "log"))
			runs := w.Runs()
			require.Equal(t, runs[0].Cwd, runs[1].Cwd)
			require.Equal(t, runs[0].Session, runs[1].Session)
			require.Contains(t, strings.Join(runs[1].Args, " "), "--resume "+runs[0].Session)
			found := e.Diffs()
			require.Len(t, found, 5)
			require.Len(t, found["f"].Hunks, 1)
			how.restart(w)
			e = w.Opens()
			e.Decides("diff/accept", world.Obj{"path": "f"})
			w.RequireTree(world.Tree{"f": "mine\n2\nagent\n", "g": "mine\n", "gone": "gone\n", "new": "(absent)"})
			how.restart(w)
			e = w.Opens()
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			w.RequireTree(world.Tree{"f": "mine\n2\n3\n"})
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, w.Whole(w.Root), w.Whole(w.Seen(s)))
		})
	}
}

// TestIsolatedTurnThatIsCutShort kills the daemon while the agent works. The next turn lists its changes.
func TestIsolatedTurnThatIsCutShort(t *testing.T) {
	bothKinds(t, testIsolatedTurnThatIsCutShort)
}

func testIsolatedTurnThatIsCutShort(t *testing.T) {
	w := newWorld(t)
	w.PutAll(world.Tree{"f": "1\n2\n3\n", "g": "g\n"})
	w.Commits()
	script := world.Edits("1", "f", "1\n2\n3\n", "1\n2\nagent\n")
	w.Plays(script[0], script[1], world.Execs("echo n > new; rm g"), `{"fake":"write","path":"`+w.Path("../at")+`","text":""}`, `{"fake":"hang"}`)
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	e.Asks(world.Obj{"sessionId": s.ID})
	require.Eventually(t, func() bool { return w.Get("../at") != "(absent)" }, world.Patience, world.Patience/1000)
	w.Kill()
	w.Start()
	e = w.Opens()
	w.Plays(world.Done)
	w.Put("f", "mine\n2\n3\n")
	e.Ok(s)
	found := e.Diffs()
	require.Len(t, found, 3)
	require.Equal(t, "mine\n2\nagent\n", w.Copied(s, "f"))
	e.Decides("diff/accept", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "mine\n2\nagent\n", "g": "(absent)", "new": "n\n"})
}

// threeInOneFile has two isolated sessions write "agent a" and "agent b" into lines 5 and 15 of a file of 30 lines, as a script says, and one in
// the work tree "shared" into line 25.
func threeInOneFile(t *testing.T, script func(line int, text string) []string) (w *world.World, e *world.Editor, isolated []*sessions.Session, shared *sessions.Turn) {
	t.Helper()
	w = newWorld(t)
	before := world.Numbered(30, nil)
	w.Put("f", before)
	w.Commits()
	w.Start()
	e = w.Opens()
	for i, text := range []string{"agent a", "agent b"} {
		s := e.Isolates()
		isolated = append(isolated, s)
		w.Plays(world.Lines(script(5+10*i, text))...)
		e.Ok(s)
	}
	w.Plays(world.Lines(world.Edits("c", "f", before, world.Numbered(30, map[int]string{25: "shared\n"})))...)
	return w, e, isolated, e.Turn(nil)
}

func TestSeveralSessionsOnOnePath(t *testing.T) {
	bothKinds(t, testSeveralSessionsOnOnePath)
}

func testSeveralSessionsOnOnePath(t *testing.T) {
	before := world.Numbered(30, nil)
	w, e, all, shared := threeInOneFile(t, func(line int, text string) []string {
		return world.Edits("c", "f", before, world.Numbered(30, map[int]string{line: text + "\n"}))
	})
	d := e.Diffs()["f"]
	require.Len(t, e.Diffs(), 1)
	require.Len(t, d.Hunks, 3)
	require.Len(t, d.Turns, 3)
	require.Equal(t, 3, d.Added)
	byLine := map[string]sessions.Hunk{}
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l[0] == '+' {
				byLine[l[1:]] = h
			}
		}
	}
	require.False(t, byLine["shared"].Isolated)
	require.True(t, byLine["agent a"].Isolated)
	withShared := world.Numbered(30, map[int]string{25: "shared\n"})
	require.Equal(t, withShared, w.Get("f"))
	require.Contains(t, w.Copied(all[0], "f"), "shared\n", "what is in the work tree is in the copies")

	rev := d.Rev
	out := e.Decides("diff/accept", world.Obj{"hunks": []string{byLine["agent a"].ID}, "rev": rev})
	require.Len(t, out.Diffs, 1)
	require.Len(t, out.Diffs[0].Hunks, 2)
	require.Greater(t, out.Diffs[0].Rev, rev)
	require.Equal(t, world.Numbered(30, map[int]string{5: "agent a\n", 25: "shared\n"}), w.Get("f"))
	require.Contains(t, w.Copied(all[1], "f"), "agent a\n")
	require.Equal(t, api.KindConflict, e.Fails("diff/reject", world.Obj{"workspace": w.Root, "path": "f", "rev": rev}).Data.Kind)

	e.Decides("diff/reject", world.Obj{"turnId": shared.ID})
	require.Equal(t, world.Numbered(30, map[int]string{5: "agent a\n"}), w.Get("f"))
	require.NotContains(t, w.Copied(all[1], "f"), "shared\n")
	w.Kill()
	w.Start()
	e = w.Opens()
	d = e.Diffs()["f"]
	require.Equal(t, []string{byLine["agent b"].ID}, world.HunkIDs(d))
	require.Greater(t, d.Rev, rev)
	e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, world.Numbered(30, map[int]string{5: "agent a\n", 15: "agent b\n"}), w.Get("f"))
	for _, want := range []string{
		world.Numbered(30, map[int]string{5: "agent a\n"}), world.Numbered(30, map[int]string{5: "agent a\n", 25: "shared\n"}), withShared,
	} {
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		require.Equal(t, want, w.Get("f"))
	}
	require.Len(t, e.Diffs()["f"].Hunks, 3)
	last := uint64(0)
	for _, n := range e.All() {
		if n.Method == "diff/changed" {
			require.Greater(t, n.Diff.Rev, last)
			last = n.Diff.Rev
		}
	}
}

func TestIsolatedHunksAndUnsavedText(t *testing.T) {
	bothKinds(t, testIsolatedHunksAndUnsavedText)
}

func testIsolatedHunksAndUnsavedText(t *testing.T) {
	a := newApart(t)
	doc := a.e.OpenDocument("f")
	doc.Types("line 10\n", "typed 10\n")
	a.e.Diffs()
	d := a.e.Diffs()["f"]
	require.Len(t, d.Hunks, 3)
	ids := world.HunkIDs(d)
	out := a.e.Decides("diff/accept", world.Obj{"hunks": ids[:1]})
	require.Equal(t, a.before, a.w.Get("f"), "nothing is written under an editor")
	doc.Applies(out.Edits)
	require.Equal(t, strings.NewReplacer("line 10\n", "typed 10\n", "line 5\n", "agent 5\n").Replace(a.before), doc.Text)
	require.Len(t, a.e.Diffs()["f"].Hunks, 2)

	// A reject changes only the copy.
	out = a.e.Decides("diff/reject", world.Obj{"hunks": ids[1:2]})
	require.Empty(t, out.Edits)
	require.NotContains(t, a.w.Copied(a.s, "f"), "agent 15a\n")

	// Another client sees the text on disk, and cannot write while the editor has unsaved text.
	other := a.w.Opens()
	require.Len(t, other.Diffs()["f"].Hunks, 2)
	require.Equal(t, api.KindConflict, other.Fails("diff/accept", world.Obj{"workspace": a.w.Root, "hunks": ids[2:]}).Data.Kind)

	doc.Save()
	require.Equal(t, ids[2:], world.HunkIDs(a.e.Diffs()["f"]))
	require.Equal(t, ids[2:], world.HunkIDs(other.Diffs()["f"]))
	a.copies("f", strings.Replace(doc.Text, "line 25\n", "", 1))
	a.e.Must("diff/undo", world.Obj{"workspace": a.w.Root}, nil)
	a.e.Must("diff/undo", world.Obj{"workspace": a.w.Root}, nil)
	require.Equal(t, strings.Replace(a.before, "line 10\n", "typed 10\n", 1), a.w.Get("f"))
	require.Len(t, a.e.Diffs()["f"].Hunks, 3)
}
