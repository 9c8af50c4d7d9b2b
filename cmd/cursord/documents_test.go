package main

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// A doc is a file in an editor.
type doc struct {
	e       *editor
	path    string
	uri     string
	version int
	text    string
}

func (e *editor) openDoc(path string) *doc {
	e.t.Helper()
	d := &doc{e: e, path: path, uri: "file://" + e.w.path(path), version: 1, text: e.w.get(path)}
	d.note("document/didOpen", obj{"text": d.text})
	return d
}

func (d *doc) note(method string, params obj) {
	d.e.t.Helper()
	params["uri"], params["version"] = d.uri, d.version
	require.NoError(d.e.t, d.e.c.Notify(method, params))
}

// types replaces a part of the text.
func (d *doc) types(old, now string) {
	d.e.t.Helper()
	require.Contains(d.e.t, d.text, old)
	d.set(strings.Replace(d.text, old, now, 1))
}

func (d *doc) set(text string) {
	d.e.t.Helper()
	d.version++
	d.text = text
	d.note("document/didChange", obj{"text": text})
}

func (d *doc) save() {
	d.e.t.Helper()
	d.e.w.put(d.path, d.text)
	d.note("document/didSave", obj{})
}

func (d *doc) closes() {
	d.e.t.Helper()
	d.note("document/didClose", obj{})
}

// applies does what an answer says to the text, and tells the daemon.
func (d *doc) applies(all []api.DocumentEdits) {
	d.e.t.Helper()
	require.Len(d.e.t, all, 1)
	require.Equal(d.e.t, d.path, all[0].Path)
	require.Equal(d.e.t, d.version, all[0].Version)
	lines := strings.SplitAfter(d.text, "\n")
	offset := func(p api.Position) (n int) {
		for _, l := range lines[:p.Line] {
			n += len(utf16.Encode([]rune(l)))
		}
		return n + p.Character
	}
	units := utf16.Encode([]rune(d.text))
	var out []uint16
	at := 0
	for _, e := range all[0].Edits {
		require.GreaterOrEqual(d.e.t, offset(e.Range.Start), at, "edits in order, that do not overlap")
		out = append(out, units[at:offset(e.Range.Start)]...)
		out = append(out, utf16.Encode([]rune(e.NewText))...)
		at = offset(e.Range.End)
	}
	d.set(string(utf16.Decode(append(out, units[at:]...))))
}

// A desk is a file that the agent changed in three places.
type desk struct {
	w             *world
	e             *editor
	before, after string
}

func newDesk(t *testing.T) desk {
	t.Helper()
	d := desk{before: numbered(30, nil), after: numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})}
	d.w, d.e = reviewing(t, "f", d.before, d.after)
	return d
}

func TestACleanDocumentChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.openDoc("f")
	out := d.e.decides("diff/reject", obj{"hunks": hunkIDs(d.e.diffs()["f"])[:1]})
	require.Empty(t, out.Edits)
	want := strings.Replace(d.after, "agent 5\n", "line 5\n", 1)
	d.w.requireTree(tree{"f": want})
	doc.set(want) // the editor reloads
	require.Len(t, d.e.diffs()["f"].Hunks, 2)
	// The agent writes what is open and unchanged.
	d.w.plays(lines(edits("c2", "f", want, want+"more\n"))...)
	d.e.turn(obj{"prompt": "again"})
	require.Len(t, d.e.diffs()["f"].Hunks, 3)
	out = d.e.decides("diff/reject", obj{"all": true})
	require.Empty(t, out.Edits)
	d.w.requireTree(tree{"f": d.before})
}

func TestDiffsFollowTheBuffer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := d.w.opens()
	other.until("the diff in the snapshot", func(n told) bool { return n.Method == "diff/changed" })
	doc := d.e.openDoc("f")
	mark, otherMark := len(d.e.all()), len(other.all())
	doc.types("line 1\n", "mine\nline 1\n")
	down := func(diff *sessions.Diff) bool { return len(diff.Hunks) == 3 && diff.Hunks[0].NewStart == 3 }
	d.e.diffOf("f", mark, "the hunks moved by what was typed", down)
	require.True(t, down(d.e.diffs()["f"]))
	require.Equal(t, 2, other.diffs()["f"].Hunks[0].NewStart, "others see the disk")
	d.w.requireTree(tree{"f": d.after})

	stale := *doc
	stale.version--
	stale.note("document/didChange", obj{"text": "nonsense"})
	require.True(t, down(d.e.diffs()["f"]))

	mark = len(d.e.all())
	doc.closes()
	d.e.diffOf("f", mark, "the disk again", func(diff *sessions.Diff) bool { return diff.Hunks[0].NewStart == 2 })
	for _, n := range other.all()[otherMark:] {
		require.NotEqual(t, "diff/changed", n.Method, "for others nothing has happened")
	}
	// Those who come later are told what there is.
	late := d.w.opens()
	late.until("the diff in the snapshot", func(n told) bool { return n.Method == "diff/changed" && n.Diff.Path == "f" })
	last := uint64(0)
	for _, n := range d.e.all() {
		if n.Seq > 0 {
			require.Greater(t, n.Seq, last, "notifications come in the order of their seq")
			last = n.Seq
		}
	}
}

func TestRejectsInABufferAreEdits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.openDoc("f")
	doc.types("line 1\n", "𝄞 mine\nline 1\n")
	doc.types("agent 15a\n", "agent 15a\ninside\n")
	doc.types("line 30\n", "line 30 and no line end")
	ids := hunkIDs(d.e.diffs()["f"])
	require.Len(t, ids, 4)

	out := d.e.decides("diff/reject", obj{"hunks": ids[:1]})
	require.Equal(t, 1, out.Applied)
	require.Len(t, out.Edits[0].Edits, 1, "only what is rejected is edited")
	err := d.e.fails("diff/reject", obj{"workspace": d.w.ws, "hunks": ids[1:2]})
	require.Equal(t, api.KindConflict, err.Data.Kind, "before the edits have come back, nobody knows the text")
	doc.applies(out.Edits)
	out = d.e.decides("diff/reject", obj{"all": true})
	require.Equal(t, 3, out.Applied)
	require.Empty(t, out.Skipped)
	doc.applies(out.Edits)
	want := "𝄞 mine\n" + strings.NewReplacer("line 15\n", "line 15\n", "line 30\n", "line 30 and no line end").Replace(d.before)
	require.Equal(t, strings.Replace(want, "line 15\n", "", 1), strings.NewReplacer("line 15\n", "", "inside\n", "").Replace(doc.text))
	require.Contains(t, doc.text, "inside\n")
	require.Contains(t, doc.text, "line 15\n")
	require.Empty(t, d.e.diffs())
	d.w.requireTree(tree{"f": d.after})

	// Undo and redo are edits too.
	rejected := doc.text
	var undone struct{ Edits []api.DocumentEdits }
	d.e.must("diff/undo", obj{"workspace": d.w.ws}, &undone)
	doc.applies(undone.Edits)
	require.Equal(t, ids[1:], hunkIDs(d.e.diffs()["f"]))
	require.Contains(t, doc.text, "agent 15a\ninside\nagent 15b\n")
	d.e.must("diff/redo", obj{"workspace": d.w.ws}, &undone)
	doc.applies(undone.Edits)
	require.Equal(t, rejected, doc.text)

	// Saved, the buffer and the disk are one.
	mark := len(d.e.all())
	doc.save()
	d.e.diffOf("f", mark, "nothing left to review", settled)
	require.Empty(t, d.e.diffs())
	d.e.must("diff/undo", obj{"workspace": d.w.ws}, nil)
	require.Contains(t, d.w.get("f"), "agent 15a\ninside\nagent 15b\n", "what was decided in the buffer is taken back on disk")
	require.Len(t, d.e.diffs()["f"].Hunks, 3)
}

func TestAcceptsInABuffer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.openDoc("f")
	doc.types("agent 15a\n", "agent 15a\ninside\n")
	doc.types("line 1\n", "")
	ids := hunkIDs(d.e.diffs()["f"])
	require.Len(t, ids, 4)
	out := d.e.decides("diff/accept", obj{"hunks": ids[2:3]}) // agent 15b
	require.Equal(t, 1, out.Applied)
	require.Empty(t, out.Edits)
	require.Equal(t, []string{ids[0], ids[1], ids[3]}, hunkIDs(d.e.diffs()["f"]))
	doc.types("inside\n", "more inside\n")
	require.Equal(t, []string{ids[0], ids[1], ids[3]}, hunkIDs(d.e.diffs()["f"]), "typing does not bring it back")
	d.e.must("diff/undo", obj{"workspace": d.w.ws}, nil)
	require.Len(t, d.e.diffs()["f"].Hunks, 4)
	d.e.decides("diff/accept", obj{"all": true})
	require.Empty(t, d.e.diffs())
	d.w.requireTree(tree{"f": d.after})
	doc.save()
	require.Empty(t, d.e.diffs())
	d.w.requireTree(tree{"f": doc.text})
}

func TestNobodyWritesBeneathAnUnsavedBuffer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := d.w.opens()
	doc := d.e.openDoc("f")
	doc.types("line 1\n", "mine\nline 1\n")
	ids := hunkIDs(d.e.diffs()["f"])
	conflict := func(e *editor, method string) {
		t.Helper()
		err := e.fails(method, obj{"workspace": d.w.ws, "hunks": ids[:1]})
		require.Equal(t, api.KindConflict, err.Data.Kind)
		require.Contains(t, err.Message, "unsaved")
		require.Contains(t, err.Data.Hint, "save")
	}
	conflict(other, "diff/reject")
	out := other.decides("diff/reject", obj{"all": true})
	require.Zero(t, out.Applied)
	require.Len(t, out.Skipped, 3)
	d.w.requireTree(tree{"f": d.after})
	// Another buffer of the same file: the first one counts.
	second := other.openDoc("f")
	second.types("line 30\n", "line 30\nsecond\n")
	conflict(other, "diff/reject")
	conflict(other, "diff/accept")
	require.Equal(t, 3, d.e.diffs()["f"].Hunks[0].NewStart)
	require.Equal(t, 2, other.diffs()["f"].Hunks[0].NewStart)
	out = d.e.decides("diff/reject", obj{"hunks": ids[:1]})
	doc.applies(out.Edits)
	// The first one goes: the second decides.
	d.e.c.Close()
	other.until("the end of the other editor", func(told) bool {
		return other.call("diff/reject", obj{"workspace": d.w.ws, "hunks": ids[1:2]}, &out) == nil
	})
	second.applies(out.Edits)
	require.Equal(t, strings.Replace(strings.Replace(d.after, "agent 15a\nagent 15b\n", "line 15\n", 1), "line 30\n", "line 30\nsecond\n", 1), second.text)
	d.w.requireTree(tree{"f": d.after})
}

func TestABufferThatIsClosedUnsaved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.openDoc("f")
	doc.types("line 1\n", "mine\nline 1\n")
	doc.types("agent 5\n", "")
	require.Len(t, d.e.diffs()["f"].Hunks, 3, "the line that the agent replaced is still missing")
	out := d.e.decides("diff/reject", obj{"hunks": hunkIDs(d.e.diffs()["f"])[1:2]})
	doc.applies(out.Edits)
	require.Len(t, d.e.diffs()["f"].Hunks, 2)
	doc.closes()
	require.Len(t, d.e.diffs()["f"].Hunks, 3, "what was rejected in the buffer went with it")
	require.Equal(t, -32001, int(d.e.fails("diff/undo", obj{"workspace": d.w.ws}).Code))
	d.e.decides("diff/reject", obj{"all": true})
	d.w.requireTree(tree{"f": d.before})
}

func TestTheAgentWritesBeneathAnUnsavedBuffer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.openDoc("f")
	doc.types("line 1\n", "mine\nline 1\n")
	d.e.diffs()
	more := strings.Replace(d.after, "line 28\n", "agent 28\n", 1)
	d.w.plays(lines(edits("c2", "f", d.after, more))...)
	d.e.turn(obj{"prompt": "again"})
	d.w.requireTree(tree{"f": more})
	other := d.w.opens()
	require.Len(t, other.diffs()["f"].Hunks, 4, "others see what is on disk")
	require.Len(t, d.e.diffs()["f"].Hunks, 3, "the buffer does not have the agent's line")
	out := d.e.decides("diff/reject", obj{"hunks": hunkIDs(d.e.diffs()["f"])[:1]})
	doc.applies(out.Edits)
	require.Contains(t, doc.text, "mine\n")
	require.Contains(t, doc.text, "line 5\n")
	d.w.requireTree(tree{"f": more})
	doc.closes()
	require.Len(t, d.e.diffs()["f"].Hunks, 4)
	d.e.decides("diff/reject", obj{"all": true})
	d.w.requireTree(tree{"f": d.before})
}

// TestAnUnsavedBufferIsToldOfTheDisk has the agent write a file that a client has unsaved: the client's diff says so, until the
// text has what is on disk, and nobody else's does.
func TestAnUnsavedBufferIsToldOfTheDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := numbered(9, nil)
	after := numbered(9, map[int]string{5: "agent 5\n"})
	w.put("f", before)
	w.start()
	e := w.opens()
	doc := e.openDoc("f")
	doc.set("mine\n" + before)
	w.plays(lines(edits("c", "f", before, after))...)
	e.turn(nil)
	seen := e.until("what is on disk only", func(n told) bool { return n.Diff != nil && n.Diff.DiskOnly > 0 }).Diff
	require.Equal(t, 2, seen.DiskOnly, "a line goes and one comes")
	require.Equal(t, "clean", seen.State)
	other := w.opens()
	d := other.diffs()["f"]
	require.Zero(t, d.DiskOnly)
	require.Equal(t, "pending", d.State)
	doc.set("mine\n" + after)
	seen = e.until("all is in the text", func(n told) bool { return n.Diff != nil && n.Diff.State == "pending" }).Diff
	require.Zero(t, seen.DiskOnly)
}

func TestAnEditorThatKeepsLineEndsToItself(t *testing.T) {
	t.Parallel()
	before, after := "\ufeffa\r\nb\r\nc\r\n", "\ufeffa\r\nB\r\nc\r\n"
	w, e := reviewing(t, "f", before, after)
	d := &doc{e: e, path: "f", uri: w.path("f"), version: 1, text: "a\nB\nc\n"}
	d.note("document/didOpen", obj{"text": d.text})
	out := e.decides("diff/reject", obj{"all": true})
	require.Empty(t, out.Edits, "that is what is on disk")
	w.requireTree(tree{"f": before})
	e.must("diff/undo", obj{"workspace": w.ws}, nil)
	d.types("a\n", "mine\na\n")
	out = e.decides("diff/reject", obj{"all": true})
	d.applies(out.Edits)
	require.Equal(t, "mine\na\nb\nc\n", d.text)
	w.requireTree(tree{"f": after})
}

// TestADecisionCountsWhatWasJustTyped: a hunk that was typed away and has come back is decided, although nobody has looked
// at the text since.
func TestADecisionCountsWhatWasJustTyped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.openDoc("f")
	ids := hunkIDs(d.e.diffs()["f"])
	doc.types("agent 5\n", "line 5\n")
	d.e.until("it is gone", func(n told) bool { return n.Diff != nil && len(n.Diff.Hunks) == 2 })
	doc.set(d.after + "mine\n")
	out := d.e.decides("diff/reject", obj{"hunks": ids[:1]})
	require.Equal(t, 1, out.Applied)
	doc.applies(out.Edits)
	require.Equal(t, strings.Replace(d.after, "agent 5\n", "line 5\n", 1)+"mine\n", doc.text)
}

// TestTypingWhereAnUnsavedRejectWas has a person type over lines that a reject has brought back in the buffer: those are the
// person's then. The editor's own undo brings back what was to be reviewed.
func TestTypingWhereAnUnsavedRejectWas(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.openDoc("f")
	doc.types("line 30\n", "mine 30\n")
	out := d.e.decides("diff/reject", obj{"all": true})
	require.Equal(t, 3, out.Applied)
	before := doc.text
	doc.applies(out.Edits)
	require.Empty(t, d.e.diffs())

	rejected := doc.text
	doc.types("line 5\n", "mine 5\n")
	require.Empty(t, d.e.diffs(), "a person's line in the place of a person's")
	doc.set(rejected)
	require.Empty(t, d.e.diffs())
	doc.set(before)
	require.Len(t, d.e.diffs()["f"].Hunks, 3, "undone in the editor")

	out = d.e.decides("diff/reject", obj{"all": true})
	doc.applies(out.Edits)
	require.Empty(t, d.e.diffs())
	doc.types("line 5\n", "mine 5\n")
	require.Empty(t, d.e.diffs())
	doc.save()
	require.Empty(t, d.e.diffs())
	out = d.e.decides("diff/reject", obj{"all": true})
	require.Zero(t, out.Applied)
	d.w.requireTree(tree{"f": doc.text})
}
