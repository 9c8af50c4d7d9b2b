//go:build unix

package acp

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestAcceptsByTheEditorOfLinesThatItHasChanged: where the editor's unsaved text has another line, an accept once said that there was no such
// hunk, which the review listed.
func TestAcceptsByTheEditorOfLinesThatItHasChanged(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{"/accept ": "1\nmine 2\nagent 2\n3\n", "/accept replace ": "1\nagent 2\n3\n", "/reject ": "1\nmine 2\n3\n"} {
		w := trusted(t, world.Lines(world.Edits("c1", "g.txt", "1\n2\n3\n", "1\nagent 2\n3\n"))...)
		w.Put("g.txt", "1\n2\n3\n")
		c := opens(w, world.Obj{"fs": world.Obj{"readTextFile": true, "writeTextFile": true}})
		files := &editorFiles{texts: map[string]string{w.Path("g.txt"): "1\nmine 2\n3\n"}}
		c.answering(files.answer)
		s := c.session()
		for _, option := range []world.Obj{{"configId": "isolation", "value": "copy"}, {"configId": "write_through", "value": "on"}} {
			option["sessionId"] = s
			c.must("session/set_config_option", option, nil)
		}
		c.prompts(s, "Do it")
		says := func(words string) string { return said(c.goesThrough(s, words), "agent_message_chunk") }
		require.Contains(t, says("/accept g.txt"), "the editor has changed lines of g.txt which the agent has changed too, and they are not saved, so it was not accepted: "+
			"save the file and accept again to have both, or /reject")

		// Which works.
		w.Put("g.txt", "1\nmine 2\n3\n")
		id := regexp.MustCompile("Hunk `([0-9.]+)` — you have changed these lines, too").FindStringSubmatch(says("/review"))
		require.Len(t, id, 2)
		require.Contains(t, says(words+id[1]), "ed 1 hunk.")
		require.Equal(t, want, w.Get("g.txt"))
	}
}

// acceptsThrough opens a session in a copy, whose agent changes files as lines say, with an editor that writes accepts.
func acceptsThrough(t *testing.T, w *world.World, files *editorFiles) (c *client, session string, says func(words string) string) {
	c = opens(w, world.Obj{"fs": world.Obj{"readTextFile": true, "writeTextFile": true}})
	c.answering(files.answer)
	session = c.session()
	for _, option := range []world.Obj{{"configId": "isolation", "value": "copy"}, {"configId": "write_through", "value": "on"}} {
		option["sessionId"] = session
		c.must("session/set_config_option", option, nil)
	}
	c.prompts(session, "Do it")
	return c, session, func(words string) string {
		t.Helper()
		return said(c.goesThrough(session, words), "agent_message_chunk")
	}
}

// TestAcceptsByTheEditorAboveAChangedDisk: another program takes a line out of the file which the editor still has. The daemon once took the
// editor's text for the file's, which it had last seen, and wrote the file beneath the editor.
func TestAcceptsByTheEditorAboveAChangedDisk(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "g.txt", "1\n2\n3\nunsaved\n", "1\nagent 2\n3\nunsaved\n"))...)
	w.Put("g.txt", "1\n2\n3\nunsaved\n")
	path := w.Path("g.txt")
	files := &editorFiles{texts: map[string]string{path: "1\n2\n3\nunsaved\n"}}
	_, _, says := acceptsThrough(t, w, files)
	w.Put("g.txt", "1\n2\n3\n")
	require.Contains(t, says("/accept"), "Accepted 1 hunk.")
	require.Equal(t, []string{path}, files.writes)
	require.Equal(t, "1\nagent 2\n3\nunsaved\n", files.texts[path])
	require.Equal(t, files.texts[path], w.Get("g.txt"))
	require.Contains(t, says("/undo"), "Took back the accept of 1 hunk.")
	require.Equal(t, "1\n2\n3\nunsaved\n", files.texts[path])
	require.Equal(t, files.texts[path], w.Get("g.txt"))
}

// TestUndoByTheEditor: the undo of an accept was once written on disk, beneath what the editor had unsaved.
func TestUndoByTheEditor(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "g.txt", "1\n2\n3\n", "1\nagent 2\n3\n"))...)
	w.Put("g.txt", "1\n2\n3\n")
	path := w.Path("g.txt")
	files := &editorFiles{texts: map[string]string{path: "1\n2\n3\n"}}
	c, s, says := acceptsThrough(t, w, files)
	require.Contains(t, says("/accept"), "Accepted 1 hunk.")

	files.texts[path] += "typed\n"
	files.refuse = "fs/write_text_file"
	require.Contains(t, says("/undo"), "the editor did not write g.txt, so nothing was taken back: fs/write_text_file: no")
	files.refuse = "fs/read_text_file"
	require.Contains(t, says("/undo"), "the editor did not say what g.txt holds, so nothing was taken back: fs/read_text_file: no")
	require.Equal(t, "1\nagent 2\n3\n", w.Get("g.txt"))
	require.Contains(t, says("/review"), "Nothing to review.")
	files.refuse = ""

	require.Contains(t, says("/undo"), "Took back the accept of 1 hunk.")
	require.Equal(t, []string{path, path}, files.writes)
	require.Equal(t, "1\n2\n3\ntyped\n", files.texts[path])
	require.Equal(t, files.texts[path], w.Get("g.txt"))
	require.Contains(t, says("/undo"), "there is nothing to undo")

	// An accept that another client has made is taken back likewise.
	w.CursordOK("accept", "--all")
	files.texts[path] = w.Get("g.txt") + "more\n"
	var undone rpc.UndoResult
	c.must("_cursord/diff/undo", world.Obj{"sessionId": s}, &undone)
	require.Empty(t, undone.Edits)
	require.Equal(t, "1\n2\n3\ntyped\nmore\n", files.texts[path])
	require.Equal(t, files.texts[path], w.Get("g.txt"))
}

// TestUndoByTheEditorOfManyFiles: all is taken back or nothing, so nothing is while one of the files is unsaved.
func TestUndoByTheEditorOfManyFiles(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "f.txt", "(absent)", "new\n"), world.Edits("c2", "g.txt", "1\n", "2\n"))...)
	w.Put("g.txt", "1\n")
	path := w.Path("g.txt")
	files := &editorFiles{texts: map[string]string{}}
	_, _, says := acceptsThrough(t, w, files)
	w.CursordOK("accept", "--all")
	files.texts[path] = "2\ntyped\n"
	require.Contains(t, says("/undo"), "the editor has changes of g.txt that are not saved, and this decision is about more files, so nothing was taken back: save the file or close it")
	require.Equal(t, "2\n", w.Get("g.txt"))
	w.Put("g.txt", files.texts[path])
	require.Contains(t, says("/undo"), "Took back the accept of 2 hunks.")
	require.Equal(t, "1\ntyped\n", w.Get("g.txt"))
	require.Empty(t, files.writes)
}

// TestAcceptsByTheEditorOfWhatIsNoText: cursord writes new files and removes files itself, but none that the editor has unsaved.
func TestAcceptsByTheEditorOfWhatIsNoText(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "new.txt", "(absent)", "new\n"), world.Shells("c2", "rm g.txt"))...)
	w.Put("g.txt", "1\n")
	path := w.Path("g.txt")
	files := &editorFiles{texts: map[string]string{path: "1\ntyped\n"}}
	_, _, says := acceptsThrough(t, w, files)
	answer := says("/accept")
	require.Contains(t, answer, "Accepted 1 hunk.")
	require.Contains(t, answer, "- `g.txt` stays to be reviewed: the editor has changes of g.txt that are not saved, and this accept is not only one of its text")
	require.Equal(t, "1\n", w.Get("g.txt"))
	require.Equal(t, "new\n", w.Get("new.txt"))
	files.texts[path] = "1\n"
	require.Contains(t, says("/accept"), "Accepted 1 hunk.")
	require.NoFileExists(t, path)
}

// TestAcceptsByTheEditorOfSomeLines: the accept of a part of a hunk was once written by the daemon.
func TestAcceptsByTheEditorOfSomeLines(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "g.txt", "1\n2\n3\n", "1\n2\nagent a\nagent b\n3\n"))...)
	w.Put("g.txt", "1\n2\n3\n")
	path := w.Path("g.txt")
	files := &editorFiles{texts: map[string]string{path: "typed\n1\n2\n3\n"}}
	c, s, _ := acceptsThrough(t, w, files)
	var list rpc.DiffList
	c.must("_cursord/diff/list", world.Obj{"sessionId": s}, &list)
	var done struct {
		Applied int
		Diffs   []any
	}
	c.must("_cursord/diff/accept", world.Obj{"sessionId": s, "hunks": []string{list.Diffs[0].Hunks[0].ID}, "lines": world.Obj{"from": 0, "to": 1}}, &done)
	require.Equal(t, 1, done.Applied)
	require.NotNil(t, done.Diffs)
	require.Equal(t, "typed\n1\n2\nagent a\n3\n", files.texts[path])
	require.Equal(t, files.texts[path], w.Get("g.txt"))
}
