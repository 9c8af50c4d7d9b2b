//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// A desk is a file that the agent changed in three places.
type desk struct {
	w             *world.World
	e             *world.Editor
	before, after string
}

func newDesk(t *testing.T) desk {
	t.Helper()
	d := desk{before: world.Numbered(30, nil), after: world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})}
	d.w, d.e = world.Reviewing(t, "f", d.before, d.after)
	return d
}

func TestACleanDocumentChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	out := d.e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(d.e.Diffs()["f"])[:1]})
	require.Empty(t, out.Edits)
	want := strings.Replace(d.after, "agent 5\n", "line 5\n", 1)
	d.w.RequireTree(world.Tree{"f": want})
	doc.Set(want) // the editor reloads
	require.Len(t, d.e.Diffs()["f"].Hunks, 2)
	// The agent writes a file that is open and unchanged.
	d.w.Plays(world.Lines(world.Edits("c2", "f", want, want+"more\n"))...)
	d.e.Turn(world.Obj{"prompt": "again"})
	require.Len(t, d.e.Diffs()["f"].Hunks, 3)
	out = d.e.Decides("diff/reject", world.Obj{"all": true})
	require.Empty(t, out.Edits)
	d.w.RequireTree(world.Tree{"f": d.before})
}

func TestDiffsFollowTheBuffer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := d.w.Opens()
	other.Until("the diff in the snapshot", func(n world.Notification) bool { return n.Method == "diff/changed" })
	doc := d.e.OpenDocument("f")
	mark, otherMark := len(d.e.All()), len(other.All())
	doc.Types("line 1\n", "mine\nline 1\n")
	down := func(diff *sessions.Diff) bool { return len(diff.Hunks) == 3 && diff.Hunks[0].NewStart == 3 }
	d.e.DiffOf("f", mark, "the hunks moved by what was typed", down)
	require.True(t, down(d.e.Diffs()["f"]))
	require.Equal(t, 2, other.Diffs()["f"].Hunks[0].NewStart, "others see the disk")
	d.w.RequireTree(world.Tree{"f": d.after})

	stale := *doc
	stale.Version--
	stale.Note("document/didChange", world.Obj{"text": "nonsense"})
	require.True(t, down(d.e.Diffs()["f"]))

	mark = len(d.e.All())
	doc.Closes()
	d.e.DiffOf("f", mark, "the disk again", func(diff *sessions.Diff) bool { return diff.Hunks[0].NewStart == 2 })
	for _, n := range other.All()[otherMark:] {
		require.NotEqual(t, "diff/changed", n.Method, "for others nothing has happened")
	}
	// A client that subscribes later gets the present state.
	late := d.w.Opens()
	late.Until("the diff in the snapshot", func(n world.Notification) bool { return n.Method == "diff/changed" && n.Diff.Path == "f" })
	last := uint64(0)
	for _, n := range d.e.All() {
		if n.Seq > 0 {
			require.Greater(t, n.Seq, last, "notifications come in the order of their seq")
			last = n.Seq
		}
	}
}

func TestRejectsInABufferAreEdits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	doc.Types("line 1\n", "𝄞 mine\nline 1\n")
	doc.Types("agent 15a\n", "agent 15a\ninside\n")
	doc.Types("line 30\n", "line 30 and no line end")
	ids := world.HunkIDs(d.e.Diffs()["f"])
	require.Len(t, ids, 4)

	out := d.e.Decides("diff/reject", world.Obj{"hunks": ids[:1]})
	require.Equal(t, 1, out.Applied)
	require.Len(t, out.Edits[0].Edits, 1, "only what is rejected is edited")
	err := d.e.Fails("diff/reject", world.Obj{"workspace": d.w.Root, "hunks": ids[1:2]})
	require.Equal(t, api.KindConflict, err.Data.Kind, "before the edits have come back, nobody knows the text")
	doc.Applies(out.Edits)
	out = d.e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, 3, out.Applied)
	require.Empty(t, out.Skipped)
	doc.Applies(out.Edits)
	want := "𝄞 mine\n" + strings.NewReplacer("line 15\n", "line 15\n", "line 30\n", "line 30 and no line end").Replace(d.before)
	require.Equal(t, strings.Replace(want, "line 15\n", "", 1), strings.NewReplacer("line 15\n", "", "inside\n", "").Replace(doc.Text))
	require.Contains(t, doc.Text, "inside\n")
	require.Contains(t, doc.Text, "line 15\n")
	require.Empty(t, d.e.Diffs())
	d.w.RequireTree(world.Tree{"f": d.after})

	// Undo and redo are edits too.
	rejected := doc.Text
	var undone struct{ Edits []api.DocumentEdits }
	d.e.Must("diff/undo", world.Obj{"workspace": d.w.Root}, &undone)
	doc.Applies(undone.Edits)
	require.Equal(t, ids[1:], world.HunkIDs(d.e.Diffs()["f"]))
	require.Contains(t, doc.Text, "agent 15a\ninside\nagent 15b\n")
	d.e.Must("diff/redo", world.Obj{"workspace": d.w.Root}, &undone)
	doc.Applies(undone.Edits)
	require.Equal(t, rejected, doc.Text)

	// A save makes the buffer and the disk equal.
	mark := len(d.e.All())
	doc.Save()
	d.e.DiffOf("f", mark, "nothing left to review", world.Settled)
	require.Empty(t, d.e.Diffs())
	d.e.Must("diff/undo", world.Obj{"workspace": d.w.Root}, nil)
	require.Contains(t, d.w.Get("f"), "agent 15a\ninside\nagent 15b\n", "what was decided in the buffer is taken back on disk")
	require.Len(t, d.e.Diffs()["f"].Hunks, 3)
}

// TestARejectTakenBackBeforeItsReport has an editor apply a reject and undo it before it reports a text, and then redo it: the reject can be
// undone in the daemon as well.
func TestARejectTakenBackBeforeItsReport(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	doc.Types("line 1\n", "mine\nline 1\n")
	typed, rejected := doc.Text, strings.Replace(doc.Text, "agent 5\n", "line 5\n", 1)
	ids := world.HunkIDs(d.e.Diffs()["f"])
	d.e.Decides("diff/reject", world.Obj{"hunks": ids[:1]})
	doc.Version++
	doc.Set(typed)
	require.Equal(t, ids, world.HunkIDs(d.e.Diffs()["f"]))
	doc.Set(rejected)
	require.Equal(t, ids[1:], world.HunkIDs(d.e.Diffs()["f"]))
	var undone struct{ Edits []api.DocumentEdits }
	d.e.Must("diff/undo", world.Obj{"workspace": d.w.Root}, &undone)
	doc.Applies(undone.Edits)
	require.Equal(t, typed, doc.Text)
	require.Equal(t, ids, world.HunkIDs(d.e.Diffs()["f"]))
	d.e.Must("diff/redo", world.Obj{"workspace": d.w.Root}, &undone)
	doc.Applies(undone.Edits)
	require.Equal(t, rejected, doc.Text)
}

func TestAcceptsInABuffer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	doc.Types("agent 15a\n", "agent 15a\ninside\n")
	doc.Types("line 1\n", "")
	ids := world.HunkIDs(d.e.Diffs()["f"])
	require.Len(t, ids, 4)
	out := d.e.Decides("diff/accept", world.Obj{"hunks": ids[2:3]}) // the line "agent 15b"
	require.Equal(t, 1, out.Applied)
	require.Empty(t, out.Edits)
	require.Equal(t, []string{ids[0], ids[1], ids[3]}, world.HunkIDs(d.e.Diffs()["f"]))
	doc.Types("inside\n", "more inside\n")
	require.Equal(t, []string{ids[0], ids[1], ids[3]}, world.HunkIDs(d.e.Diffs()["f"]), "typing does not bring it back")
	d.e.Must("diff/undo", world.Obj{"workspace": d.w.Root}, nil)
	require.Len(t, d.e.Diffs()["f"].Hunks, 4)
	d.e.Decides("diff/accept", world.Obj{"all": true})
	require.Empty(t, d.e.Diffs())
	d.w.RequireTree(world.Tree{"f": d.after})
	doc.Save()
	require.Empty(t, d.e.Diffs())
	d.w.RequireTree(world.Tree{"f": doc.Text})
}

func TestNobodyWritesBeneathAnUnsavedBuffer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := d.w.Opens()
	doc := d.e.OpenDocument("f")
	doc.Types("line 1\n", "mine\nline 1\n")
	ids := world.HunkIDs(d.e.Diffs()["f"])
	conflict := func(e *world.Editor, method string) {
		t.Helper()
		err := e.Fails(method, world.Obj{"workspace": d.w.Root, "hunks": ids[:1]})
		require.Equal(t, api.KindConflict, err.Data.Kind)
		require.Contains(t, err.Message, "unsaved")
		require.Contains(t, err.Data.Hint, "save")
	}
	conflict(other, "diff/reject")
	out := other.Decides("diff/reject", world.Obj{"all": true})
	require.Zero(t, out.Applied)
	require.Len(t, out.Skipped, 3)
	d.w.RequireTree(world.Tree{"f": d.after})
	// Another editor opens a buffer of the same file: the first one counts.
	second := other.OpenDocument("f")
	second.Types("line 30\n", "line 30\nsecond\n")
	conflict(other, "diff/reject")
	conflict(other, "diff/accept")
	require.Equal(t, 3, d.e.Diffs()["f"].Hunks[0].NewStart)
	require.Equal(t, 2, other.Diffs()["f"].Hunks[0].NewStart)
	out = d.e.Decides("diff/reject", world.Obj{"hunks": ids[:1]})
	doc.Applies(out.Edits)
	// The first editor ends: now the second one's buffer counts.
	d.e.Client.Close()
	require.True(t, world.Comes(world.Patience, func() bool {
		return other.Call("diff/reject", world.Obj{"workspace": d.w.Root, "hunks": ids[1:2]}, &out) == nil
	}), "the daemon has not seen the end of the other editor")
	second.Applies(out.Edits)
	require.Equal(t, strings.Replace(strings.Replace(d.after, "agent 15a\nagent 15b\n", "line 15\n", 1), "line 30\n", "line 30\nsecond\n", 1), second.Text)
	d.w.RequireTree(world.Tree{"f": d.after})
}

func TestABufferThatIsClosedUnsaved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	doc.Types("line 1\n", "mine\nline 1\n")
	doc.Types("agent 5\n", "")
	require.Len(t, d.e.Diffs()["f"].Hunks, 3, "the line that the agent replaced is still missing")
	out := d.e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(d.e.Diffs()["f"])[1:2]})
	doc.Applies(out.Edits)
	require.Len(t, d.e.Diffs()["f"].Hunks, 2)
	doc.Closes()
	require.Len(t, d.e.Diffs()["f"].Hunks, 3, "what was rejected in the buffer went with it")
	require.Equal(t, -32001, int(d.e.Fails("diff/undo", world.Obj{"workspace": d.w.Root}).Code))
	d.e.Decides("diff/reject", world.Obj{"all": true})
	d.w.RequireTree(world.Tree{"f": d.before})
}

func TestTheAgentWritesBeneathAnUnsavedBuffer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	doc.Types("line 1\n", "mine\nline 1\n")
	d.e.Diffs()
	more := strings.Replace(d.after, "line 28\n", "agent 28\n", 1)
	d.w.Plays(world.Lines(world.Edits("c2", "f", d.after, more))...)
	d.e.Turn(world.Obj{"prompt": "again"})
	d.w.RequireTree(world.Tree{"f": more})
	other := d.w.Opens()
	require.Len(t, other.Diffs()["f"].Hunks, 4, "others see what is on disk")
	require.Len(t, d.e.Diffs()["f"].Hunks, 3, "the buffer does not have the agent's line")
	out := d.e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(d.e.Diffs()["f"])[:1]})
	doc.Applies(out.Edits)
	require.Contains(t, doc.Text, "mine\n")
	require.Contains(t, doc.Text, "line 5\n")
	d.w.RequireTree(world.Tree{"f": more})
	doc.Closes()
	require.Len(t, d.e.Diffs()["f"].Hunks, 4)
	d.e.Decides("diff/reject", world.Obj{"all": true})
	d.w.RequireTree(world.Tree{"f": d.before})
}

// TestAnUnsavedBufferIsToldOfTheDisk: the agent writes a file that a client has unsaved. That client's diff, and no other's,
// counts the lines that are only on disk, until the buffer has them.
func TestAnUnsavedBufferIsToldOfTheDisk(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before := world.Numbered(9, nil)
	after := world.Numbered(9, map[int]string{5: "agent 5\n"})
	w.Put("f", before)
	w.Start()
	e := w.Opens()
	doc := e.OpenDocument("f")
	doc.Set("mine\n" + before)
	w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
	e.Turn(nil)
	seen := e.Until("what is on disk only", func(n world.Notification) bool { return n.Diff != nil && n.Diff.DiskOnly > 0 }).Diff
	require.Equal(t, 2, seen.DiskOnly, "a line goes and one comes")
	require.Equal(t, "clean", seen.State)
	other := w.Opens()
	d := other.Diffs()["f"]
	require.Zero(t, d.DiskOnly)
	require.Equal(t, "pending", d.State)
	doc.Set("mine\n" + after)
	seen = e.Until("all is in the text", func(n world.Notification) bool { return n.Diff != nil && n.Diff.State == "pending" }).Diff
	require.Zero(t, seen.DiskOnly)
}

// TestATextOfAFileInLatin1 opens a file as an editor shows it. It is no unsaved text, so a change of the agent's can be accepted.
func TestATextOfAFileInLatin1(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "caf\xe9\nline\n")
	w.Start()
	e := w.Opens()
	d := &world.Document{E: e, Path: "f", Uri: w.Path("f"), Version: 1, Text: "café\nline\n"}
	d.Note("document/didOpen", world.Obj{"text": d.Text})
	w.Plays(world.Lines(world.Shells("1", `printf 'caf\351\nLINE\n' >f`))...)
	e.Turn(nil)
	_, stderr, status := w.Cursord("reject", "f")
	require.Zero(t, status, stderr)
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	e.Must("diff/accept", world.Obj{"workspace": w.Root, "path": "f"}, nil)
	require.Empty(t, e.Diffs())
	require.Equal(t, "caf\xe9\nLINE\n", w.Get("f"))
}

func TestAnEditorThatKeepsLineEndsToItself(t *testing.T) {
	t.Parallel()
	before, after := "\ufeffa\r\nb\r\nc\r\n", "\ufeffa\r\nB\r\nc\r\n"
	w, e := world.Reviewing(t, "f", before, after)
	d := &world.Document{E: e, Path: "f", Uri: w.Path("f"), Version: 1, Text: "a\nB\nc\n"}
	d.Note("document/didOpen", world.Obj{"text": d.Text})
	out := e.Decides("diff/reject", world.Obj{"all": true})
	require.Empty(t, out.Edits, "that is what is on disk")
	w.RequireTree(world.Tree{"f": before})
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	d.Types("a\n", "mine\na\n")
	out = e.Decides("diff/reject", world.Obj{"all": true})
	d.Applies(out.Edits)
	require.Equal(t, "mine\na\nb\nc\n", d.Text)
	w.RequireTree(world.Tree{"f": after})
}

// TestADecisionCountsWhatWasJustTyped: a hunk is typed away and typed again. It can be decided without a look in between.
func TestADecisionCountsWhatWasJustTyped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	ids := world.HunkIDs(d.e.Diffs()["f"])
	doc.Types("agent 5\n", "line 5\n")
	d.e.Until("it is gone", func(n world.Notification) bool { return n.Diff != nil && len(n.Diff.Hunks) == 2 })
	doc.Set(d.after + "mine\n")
	out := d.e.Decides("diff/reject", world.Obj{"hunks": ids[:1]})
	require.Equal(t, 1, out.Applied)
	doc.Applies(out.Edits)
	require.Equal(t, strings.Replace(d.after, "agent 5\n", "line 5\n", 1)+"mine\n", doc.Text)
}

// TestTypingWhereAnUnsavedRejectWas: a person types over lines that a reject has brought back in the buffer. The new lines
// are the person's; the editor's own undo brings the hunks back.
func TestTypingWhereAnUnsavedRejectWas(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	doc.Types("line 30\n", "mine 30\n")
	out := d.e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, 3, out.Applied)
	before := doc.Text
	doc.Applies(out.Edits)
	require.Empty(t, d.e.Diffs())

	rejected := doc.Text
	doc.Types("line 5\n", "mine 5\n")
	require.Empty(t, d.e.Diffs(), "a person's line in the place of a person's")
	doc.Set(rejected)
	require.Empty(t, d.e.Diffs())
	doc.Set(before)
	require.Len(t, d.e.Diffs()["f"].Hunks, 3, "undone in the editor")

	out = d.e.Decides("diff/reject", world.Obj{"all": true})
	doc.Applies(out.Edits)
	require.Empty(t, d.e.Diffs())
	doc.Types("line 5\n", "mine 5\n")
	require.Empty(t, d.e.Diffs())
	doc.Save()
	require.Empty(t, d.e.Diffs())
	out = d.e.Decides("diff/reject", world.Obj{"all": true})
	require.Zero(t, out.Applied)
	d.w.RequireTree(world.Tree{"f": doc.Text})
}
