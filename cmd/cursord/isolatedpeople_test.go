package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// An apart is a file that an agent has changed in a copy, in three places.
type apart struct {
	w             *world
	e             *editor
	s             *sessions.Session
	before, after string
}

func newApart(t *testing.T, env ...string) apart {
	t.Helper()
	a := apart{before: numbered(30, nil), after: numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})}
	a.w = newWorld(t)
	a.w.put("f", a.before)
	a.w.put("other", "other\n")
	a.w.commits()
	a.w.plays(lines(edits("c", "f", a.before, a.after))...)
	a.w.start(env...)
	a.e = a.w.opens()
	a.s = a.e.isolates()
	a.e.ok(a.s)
	require.Len(t, a.e.diffs()["f"].Hunks, 3)
	return a
}

// copies requires what the copy of a file holds.
func (a apart) copies(name, text string) {
	a.w.t.Helper()
	a.e.diffs() // what the disk holds is taken in
	require.Equal(a.w.t, text, a.w.copied(a.s, name))
}

func TestIsolatedHunksAndWhatPeopleType(t *testing.T) {
	t.Parallel()
	a := newApart(t)
	mine := strings.NewReplacer("line 1\n", "mine 0\nline 1\n", "line 15\n", "line 15\nmine 15\n", "line 30\n", "line 30\nmine 31\n")
	a.w.put("f", mine.Replace(a.before))
	// Inside of a hunk, beside it, at both ends: it is in the copy as well, and in no hunk.
	d := a.e.diffs()["f"]
	require.Len(t, d.Hunks, 3)
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l[0] != ' ' {
				require.NotContains(t, l, "mine")
			}
		}
	}
	for _, line := range []string{"mine 0\n", "mine 15\n", "mine 31\n", "agent 15a\n"} {
		require.Contains(t, a.w.copied(a.s, "f"), line)
	}
	ids := hunkIDs(d)
	a.e.decides("diff/accept", obj{"hunks": ids[1:2]})
	got := a.w.get("f")
	for _, line := range []string{"mine 0\n", "mine 15\n", "mine 31\n", "agent 15a\nagent 15b\n", "line 5\n", "line 25\n"} {
		require.Contains(t, got, line)
	}
	require.NotContains(t, got, "line 15\n")
	a.w.put("f", strings.Replace(got, "mine 15\n", "", 1))
	a.e.decides("diff/reject", obj{"all": true})
	require.Equal(t, strings.Replace(got, "mine 15\n", "", 1), a.w.get("f"))
	require.Equal(t, a.w.get("f"), a.w.copied(a.s, "f"))
	a.e.must("diff/undo", obj{"workspace": a.w.ws}, nil)
	a.e.must("diff/undo", obj{"workspace": a.w.ws}, nil)
	require.Len(t, a.e.diffs()["f"].Hunks, 3)
	require.Contains(t, a.w.get("f"), "line 15\n")
	require.NotContains(t, a.w.get("f"), "agent")
}

func TestIsolatedHunksThatPeopleMakeOrTakeAway(t *testing.T) {
	t.Parallel()
	a := newApart(t)
	ids := hunkIDs(a.e.diffs()["f"])
	// One made by hand is no hunk any more; one whose lines are other ones now is in conflict for who has seen the old one.
	a.w.put("f", strings.NewReplacer("line 5\n", "agent 5\n", "line 15\n", "mine\n").Replace(a.before))
	err := a.e.fails("diff/accept", obj{"workspace": a.w.ws, "hunks": ids[1:2]})
	require.Equal(t, api.KindConflict, err.Data.Kind)
	require.NotNil(t, err.Data.Diff)
	require.Equal(t, api.KindNotFound, a.e.fails("diff/accept", obj{"workspace": a.w.ws, "hunks": ids[:1]}).Data.Kind)
	d := a.e.diffs()["f"]
	require.Len(t, d.Hunks, 2)
	a.e.decides("diff/accept", obj{"all": true})
	got := a.w.get("f")
	require.Contains(t, got, "mine\nagent 15a\nagent 15b\n", "both are kept")
	require.NotContains(t, got, "line 25\n")
	require.Equal(t, got, a.w.copied(a.s, "f"))

	// The file goes, and what the agent has added is still offered.
	a.w.plays(lines(edits("d", "f", got, strings.Replace(got, "line 20\n", "agent 20\n", 1)))...)
	a.e.ok(a.s)
	require.NoError(t, os.Remove(a.w.path("f")))
	d = a.e.diffs()["f"]
	require.Equal(t, sessions.DiffCreated, d.Kind)
	a.e.decides("diff/reject", obj{"all": true})
	require.NoFileExists(t, a.w.path("f"))
	require.Equal(t, "(absent)", a.w.copied(a.s, "f"))
}

func TestIsolatedTurnAndWhatPeopleDoMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := numbered(30, nil)
	agent := numbered(30, map[int]string{5: "agent 5\n"})
	w.putAll(tree{"f": before, "g": "g\n", "h": "h\n"})
	w.commits()
	step := func(name string) []string {
		return []string{`{"fake":"write","path":"` + w.path("../at-"+name) + `","text":""}`, `{"fake":"wait","path":"` + w.path("../go-"+name) + `"}`}
	}
	w.plays(lines(step("start"), edits("1", "f", before, agent), step("edited"), shells("2", "echo agent >> g; sed -i 's/^line 20$/agent 20/' f"), step("end"))...)
	w.start()
	e := w.opens()
	s := e.isolates()
	turn := e.asks(obj{"sessionId": s.ID})
	reached := func(name string) {
		t.Helper()
		require.Eventually(t, func() bool { return w.get("../at-"+name) != "(absent)" }, patience, patience/1000)
	}
	reached("start")
	w.put("f", strings.Replace(before, "line 1\n", "mine 1\n", 1))
	w.put("../go-start", "")
	reached("edited")
	e.until("the agent's edit", func(n told) bool {
		return n.Method == "diff/changed" && n.Diff.Path == "f" && n.Diff.State == "pending"
	})
	w.put("f", strings.NewReplacer("line 1\n", "mine 1\n", "line 10\n", "mine 10\n").Replace(before))
	require.Len(t, e.diffs()["f"].Hunks, 1)
	require.Contains(t, w.copied(s, "f"), "mine 10\n")
	w.put("../go-edited", "")
	reached("end")
	w.put("g", "mine first\ng\n")
	w.put("h", "mine\n")
	mine := strings.NewReplacer("line 1\n", "mine 1\n", "line 10\n", "mine 10\n", "line 30\n", "mine 30\n").Replace(before)
	w.put("f", mine)
	w.put("../go-end", "")
	e.ends(turn.ID)
	found := e.diffs()
	require.Len(t, found, 2, "what people do is not the agent's: %v", found)
	require.Len(t, found["f"].Hunks, 2)
	require.Len(t, found["g"].Hunks, 1)
	require.Equal(t, mine, w.get("f"))
	e.decides("diff/accept", obj{"all": true})
	require.Equal(t, strings.NewReplacer("line 5\n", "agent 5\n", "line 20\n", "agent 20\n").Replace(mine), w.get("f"))
	w.requireTree(tree{"g": "mine first\ng\nagent\n", "h": "mine\n"})
}

func TestIsolatedTurnsTakeOverAndResume(t *testing.T) {
	t.Parallel()
	for _, how := range []struct {
		name    string
		restart func(*world)
	}{
		{"no restart", func(*world) {}},
		{"restart", func(w *world) { w.stop(); w.start() }},
		{"crash", func(w *world) { w.kill(); w.start() }},
	} {
		t.Run(how.name, func(t *testing.T) {
			w := newWorld(t)
			w.putAll(tree{"f": "1\n2\n3\n", "g": "g\n", "gone": "gone\n"})
			w.commits()
			w.plays(append([]string{`{"type":"system","subtype":"init","session_id":"{{session}}","cwd":"{{cwd}}"}`},
				lines(edits("1", "f", "1\n2\n3\n", "1\n2\nagent\n"), shells("2", "rm gone; echo n > new"))...)...)
			w.start()
			e := w.opens()
			s := e.isolates()
			e.ok(s)
			was := e.diffs()
			how.restart(w)
			e = w.opens()
			now := e.diffs()
			require.Len(t, now, 3)
			for path, d := range was {
				require.Equal(t, d.Hunks, now[path].Hunks, path)
			}
			// People go on.
			w.putAll(tree{"f": "mine\n2\n3\n", "g": "mine\n", "made/by/me": "x\n"})
			w.git("commit", "-qam", "mine")
			require.NoError(t, os.Chmod(w.path("g"), 0o755))
			w.plays(lines(shells("3", "git log --format=%s > log; cat f g made/by/me > seen"))...)
			e.ok(s)
			require.Equal(t, "mine\n2\nagent\nmine\nx\n", w.copied(s, "seen"))
			require.Equal(t, "mine\nfirst\n", w.copied(s, "log"))
			runs := w.runs()
			require.Equal(t, runs[0].Cwd, runs[1].Cwd)
			require.Equal(t, runs[0].Session, runs[1].Session)
			require.Contains(t, strings.Join(runs[1].Args, " "), "--resume "+runs[0].Session)
			found := e.diffs()
			require.Len(t, found, 5)
			require.Len(t, found["f"].Hunks, 1)
			how.restart(w)
			e = w.opens()
			e.decides("diff/accept", obj{"path": "f"})
			w.requireTree(tree{"f": "mine\n2\nagent\n", "g": "mine\n", "gone": "gone\n", "new": "(absent)"})
			how.restart(w)
			e = w.opens()
			e.must("diff/undo", obj{"workspace": w.ws}, nil)
			w.requireTree(tree{"f": "mine\n2\n3\n"})
			e.decides("diff/reject", obj{"all": true})
			require.Equal(t, w.whole(w.ws), w.whole(w.copyOf(s)))
		})
	}
}

// TestIsolatedTurnThatIsCutShort has the daemon die while the agent is at work: what it left is reviewed by the next turn.
func TestIsolatedTurnThatIsCutShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"f": "1\n2\n3\n", "g": "g\n"})
	w.commits()
	script := edits("1", "f", "1\n2\n3\n", "1\n2\nagent\n")
	w.plays(script[0], script[1], execs("echo n > new; rm g"), `{"fake":"write","path":"`+w.path("../at")+`","text":""}`, `{"fake":"hang"}`)
	w.start()
	e := w.opens()
	s := e.isolates()
	e.asks(obj{"sessionId": s.ID})
	require.Eventually(t, func() bool { return w.get("../at") != "(absent)" }, patience, patience/1000)
	w.kill()
	w.start()
	e = w.opens()
	w.plays(done)
	w.put("f", "mine\n2\n3\n")
	e.ok(s)
	found := e.diffs()
	require.Len(t, found, 3)
	require.Equal(t, "mine\n2\nagent\n", w.copied(s, "f"))
	e.decides("diff/accept", obj{"all": true})
	w.requireTree(tree{"f": "mine\n2\nagent\n", "g": "(absent)", "new": "n\n"})
}

func TestSeveralSessionsOnOnePath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := numbered(30, nil)
	w.put("f", before)
	w.commits()
	w.start()
	e := w.opens()
	var all []*sessions.Session
	for i, line := range []int{5, 15} {
		s := e.isolates()
		all = append(all, s)
		w.plays(lines(edits("c", "f", before, numbered(30, map[int]string{line: "agent " + string(rune('a'+i)) + "\n"})))...)
		e.ok(s)
	}
	w.plays(lines(edits("c", "f", before, numbered(30, map[int]string{25: "shared\n"})))...)
	shared := e.turn(nil)
	d := e.diffs()["f"]
	require.Len(t, e.diffs(), 1)
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
	withShared := numbered(30, map[int]string{25: "shared\n"})
	require.Equal(t, withShared, w.get("f"))
	require.Contains(t, w.copied(all[0], "f"), "shared\n", "what is in the work tree is in the copies")

	rev := d.Rev
	out := e.decides("diff/accept", obj{"hunks": []string{byLine["agent a"].ID}, "rev": rev})
	require.Len(t, out.Diffs, 1)
	require.Len(t, out.Diffs[0].Hunks, 2)
	require.Greater(t, out.Diffs[0].Rev, rev)
	require.Equal(t, numbered(30, map[int]string{5: "agent a\n", 25: "shared\n"}), w.get("f"))
	require.Contains(t, w.copied(all[1], "f"), "agent a\n")
	require.Equal(t, api.KindConflict, e.fails("diff/reject", obj{"workspace": w.ws, "path": "f", "rev": rev}).Data.Kind)

	e.decides("diff/reject", obj{"turnId": shared.ID})
	require.Equal(t, numbered(30, map[int]string{5: "agent a\n"}), w.get("f"))
	require.NotContains(t, w.copied(all[1], "f"), "shared\n")
	w.kill()
	w.start()
	e = w.opens()
	d = e.diffs()["f"]
	require.Equal(t, []string{byLine["agent b"].ID}, hunkIDs(d))
	require.Greater(t, d.Rev, rev)
	e.decides("diff/accept", obj{"all": true})
	require.Equal(t, numbered(30, map[int]string{5: "agent a\n", 15: "agent b\n"}), w.get("f"))
	for _, want := range []string{
		numbered(30, map[int]string{5: "agent a\n"}), numbered(30, map[int]string{5: "agent a\n", 25: "shared\n"}), withShared,
	} {
		e.must("diff/undo", obj{"workspace": w.ws}, nil)
		require.Equal(t, want, w.get("f"))
	}
	require.Len(t, e.diffs()["f"].Hunks, 3)
	last := uint64(0)
	for _, n := range e.all() {
		if n.Method == "diff/changed" {
			require.Greater(t, n.Diff.Rev, last)
			last = n.Diff.Rev
		}
	}
}

func TestIsolatedHunksAndUnsavedText(t *testing.T) {
	t.Parallel()
	a := newApart(t)
	doc := a.e.openDoc("f")
	doc.types("line 10\n", "typed 10\n")
	a.e.diffs()
	d := a.e.diffs()["f"]
	require.Len(t, d.Hunks, 3)
	ids := hunkIDs(d)
	out := a.e.decides("diff/accept", obj{"hunks": ids[:1]})
	require.Equal(t, a.before, a.w.get("f"), "nothing is written under an editor")
	doc.applies(out.Edits)
	require.Equal(t, strings.NewReplacer("line 10\n", "typed 10\n", "line 5\n", "agent 5\n").Replace(a.before), doc.text)
	require.Len(t, a.e.diffs()["f"].Hunks, 2)

	// A reject is about the copy alone.
	out = a.e.decides("diff/reject", obj{"hunks": ids[1:2]})
	require.Empty(t, out.Edits)
	require.NotContains(t, a.w.copied(a.s, "f"), "agent 15a\n")

	// Another client sees what is on disk, and cannot write below the editor.
	other := a.w.opens()
	require.Len(t, other.diffs()["f"].Hunks, 2)
	require.Equal(t, api.KindConflict, other.fails("diff/accept", obj{"workspace": a.w.ws, "hunks": ids[2:]}).Data.Kind)

	doc.save()
	require.Equal(t, ids[2:], hunkIDs(a.e.diffs()["f"]))
	require.Equal(t, ids[2:], hunkIDs(other.diffs()["f"]))
	a.copies("f", strings.Replace(doc.text, "line 25\n", "", 1))
	a.e.must("diff/undo", obj{"workspace": a.w.ws}, nil)
	a.e.must("diff/undo", obj{"workspace": a.w.ws}, nil)
	require.Equal(t, strings.Replace(a.before, "line 10\n", "typed 10\n", 1), a.w.get("f"))
	require.Len(t, a.e.diffs()["f"].Hunks, 3)
}

func TestIsolatedHunksAsAPatch(t *testing.T) {
	t.Parallel()
	a := newApart(t)
	a.w.plays(lines(shells("2", "mv other moved; chmod +x moved; echo n > new; rm -f nothing; ln -s f link"))...)
	a.e.ok(a.s)
	var out struct{ Patch string }
	a.e.must("diff/unified", obj{"workspace": a.w.ws}, &out)
	patch := filepath.Join(a.w.dir, "patch")
	require.NoError(t, os.WriteFile(patch, []byte(out.Patch), 0o644))
	want := a.w.whole(a.w.copyOf(a.s))
	cmd := exec.Command("git", "apply", "--whitespace=nowarn", patch)
	cmd.Dir = a.w.ws
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", said, out.Patch)
	require.Equal(t, want, a.w.whole(a.w.ws))
	require.Empty(t, a.e.diffs(), "what people have made by hand is not pending")
}

// TestACommitIsNoWordAboutACopy has a person commit while something is pending in a copy.
func TestACommitIsNoWordAboutACopy(t *testing.T) {
	t.Parallel()
	a := newApart(t)
	a.w.put("f", strings.Replace(a.before, "line 30\n", "mine\n", 1))
	a.w.git("commit", "-qam", "mine")
	require.Len(t, a.e.diffs()["f"].Hunks, 3)
	ids := hunkIDs(a.e.diffs()["f"])
	a.e.decides("diff/accept", obj{"hunks": ids[:1]})
	a.w.git("commit", "-qam", "accepted")
	require.Equal(t, ids[1:], hunkIDs(a.e.diffs()["f"]))
	a.e.decides("diff/reject", obj{"all": true})
	require.Equal(t, "accepted\n", a.w.git("log", "-1", "--format=%s"))
	require.Empty(t, a.w.git("status", "--porcelain"))
}
