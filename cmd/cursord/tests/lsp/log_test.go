//go:build unix

package lsp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// pending counts the hunks that another client sees.
func pending(e *world.Editor) (n int) {
	for _, d := range e.Diffs() {
		n += len(d.Hunks)
	}
	return n
}

// TestLSPOneDecision accepts all hunks of open and closed files: that is one decision with one message, and both the editor
// and the command line take it back.
func TestLSPOneDecision(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 25: ""})
	w, c := lspAfter(t, world.Tree{"f": before, "g": "1\n"}, world.Tree{"f": after, "g": "1\n2\n"}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 2)
	c.waitsForHunks("g", 1)
	mark := c.mark()
	c.does("cursord.acceptAll")
	c.hearsAfter(mark, "window/showMessage", "accepted 3 hunks, some in your buffers")
	c.waitsForHunks("f", 0)
	c.waitsForHunks("g", 0)
	require.Equal(t, after, d.now())
	require.Equal(t, "1\n2\n", w.Get("g"))
	said := 0
	for _, m := range c.all()[mark:] {
		if strings.Contains(string(m.Params), "accepted") {
			said++
		}
	}
	require.Equal(t, 1, said)

	c.does("cursord.undo")
	c.waitsForHunks("f", 2)
	c.waitsForHunks("g", 1)
	require.Equal(t, before, d.now())
	require.Equal(t, "1\n", w.Get("g"))
	c.chooses(d.uri, 20, "Make again: accept 3 hunks")
	c.waitsForHunks("f", 0)
	c.waitsForHunks("g", 0)
	for _, one := range c.actions(d.uri, 20, nil) {
		require.NotContains(t, one.Title, "Make again")
	}
	require.Equal(t, after, d.now())
	d.saves()
	e := w.Joins()
	c.eventually("nothing is pending for anybody", func() bool { return pending(e) == 0 })
	w.CursordOK("undo")
	c.waitsForHunks("f", 2)
	c.waitsForHunks("g", 1)
	require.Equal(t, before, w.Get("f"))
	require.Equal(t, "1\n", w.Get("g"))
	w.CursordOK("redo")
	c.waitsForHunks("f", 0)
	require.Equal(t, after, w.Get("f"))
}

// TestLSPUndoOfTheEditorBehindASave: the editor's own undo takes an accept back after a save. Text and hunk come back, also
// in the log of decisions.
func TestLSPUndoOfTheEditorBehindASave(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 25: ""})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 2)
	c.does("cursord.accept", world.Obj{"path": "f", "line": 5})
	c.waitsForHunks("f", 1)
	one := d.now()
	d.saves()
	c.does("cursord.accept", world.Obj{"path": "f", "line": 25})
	c.waitsForHunks("f", 0)
	d.saves()
	e := w.Joins()
	c.eventually("the save", func() bool { return pending(e) == 0 })

	d.sets(one)
	c.waitsForHunks("f", 1)
	d.sets(before)
	c.waitsForHunks("f", 2)
	d.sets(one) // made again
	c.waitsForHunks("f", 1)
	d.sets(before)
	c.waitsForHunks("f", 2)
	d.saves()
	c.eventually("both are pending for everybody", func() bool { return pending(e) == 2 })
	require.Equal(t, before, w.Get("f"))
	mark := c.mark()
	c.does("cursord.undo")
	c.hearsAfter(mark, "window/showMessage", "nothing to undo")
	c.does("cursord.acceptAll")
	c.waitsForHunks("f", 0)
	require.Equal(t, after, d.now())
}

// TestLSPUndoAndRedoOfTheEditorBehindSaves saves after each step of the editor's own undo and redo of an accept: when the hunks of the step
// are shown, before that, and by a write in place that others see half done. Text and hunks agree each time. They also agree if redo
// follows undo without a save.
func TestLSPUndoAndRedoOfTheEditorBehindSaves(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 25: "agent 25\n"})
	inHalves := func(w *world.World, c *langClient, d *langDoc) {
		half, _, _ := strings.Cut(d.now(), "line 28\n")
		w.Put("f", half)
		var list struct{ Sessions []*sessions.Session }
		w.Joins().Must("session/list", world.Obj{"workspace": w.Root}, &list)
		c.eventually("the copy has the half", func() bool { return !strings.Contains(w.Copied(list.Sessions[0], "f"), "line 28\n") })
		d.saves()
	}
	for name, saves := range map[string]func(w *world.World, c *langClient, d *langDoc, left int){
		"when the hunks are shown": func(_ *world.World, c *langClient, d *langDoc, left int) {
			c.waitsForHunks("f", left)
			d.saves()
		},
		"at once": func(_ *world.World, _ *langClient, d *langDoc, _ int) { d.saves() },
		"in halves": func(w *world.World, c *langClient, d *langDoc, left int) {
			c.waitsForHunks("f", left)
			inHalves(w, c, d)
		},
		"at once in halves": func(w *world.World, c *langClient, d *langDoc, _ int) { inHalves(w, c, d) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
			d := c.opens("f")
			c.turn()
			c.waitsForHunks("f", 2)
			c.does("cursord.accept", world.Obj{"path": "f", "line": 5})
			c.waitsForHunks("f", 1)
			one := d.now()
			d.sets(before)
			c.waitsForHunks("f", 2)
			d.sets(one) // made again before any save
			saves(w, c, d, 1)
			e := w.Joins()
			c.eventually("the save", func() bool { return pending(e) == 1 })
			c.waitsForHunks("f", 1)
			c.does("cursord.accept", world.Obj{"path": "f", "line": 25})
			c.waitsForHunks("f", 0)
			d.saves()
			c.eventually("the second save", func() bool { return pending(e) == 0 })
			for _, step := range []struct {
				text string
				left int
			}{{one, 1}, {before, 2}, {one, 1}, {after, 0}, {before, 2}, {after, 0}, {one, 1}, {before, 2}} {
				d.sets(step.text)
				saves(w, c, d, step.left)
				c.eventually("all see what is saved", func() bool { return pending(e) == step.left && w.Get("f") == step.text })
				c.waitsForHunks("f", step.left)
			}
			mark := c.mark()
			c.does("cursord.redo")
			// Not the number of hunks: on a busy machine a list with one has come before the edit of the redo.
			c.hearsAfter(mark, "window/showMessage", "made the last decision again")
			require.Equal(t, one, d.now(), "the log of decisions agrees")
			c.waitsForHunks("f", 1)
		})
	}
}

// TestLSPUndoOfWholeFiles accepts deletions and renames of open files, and takes them back with their content.
func TestLSPUndoOfWholeFiles(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	text := world.Numbered(10, nil)
	w.Put("gone", "a\nb\n")
	w.Put("was", text)
	w.Plays(world.Lines(world.Shells("c", `rm gone; mv was now`))...)
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	gone, was := c.opens("gone"), c.opens("was")
	c.turn()
	c.waitsForHunks("gone", 1)
	c.waitsForHunks("was", 1)
	mark := c.mark()
	c.does("cursord.acceptAll")
	c.hearsAfter(mark, "window/showMessage", "accepted 2 hunks")
	c.eventually("both are done", func() bool {
		return w.Get("gone") == "(absent)" && w.Get("was") == "(absent)" && w.Get("now") == text
	})
	c.eventually("the document follows", func() bool { return strings.HasSuffix(was.named(), "/now") })
	require.Equal(t, "a\nb\n", gone.now())
	c.does("cursord.undo")
	c.waitsForHunks("gone", 1)
	c.eventually("both are back", func() bool { // the editor writes them, after the daemon has the decision
		return w.Get("gone") == "a\nb\n" && w.Get("was") == text && w.Get("now") == "(absent)"
	})
	c.eventually("the document follows back", func() bool { return strings.HasSuffix(was.named(), "/was") })
	c.waitsForHunks("was", 1)
}

// TestLSPUndoOfTheEditorBehindAModeThatWasAccepted: the mode of a file is accepted and written at once; then a hunk is
// accepted and saved. The editor's undo brings this hunk back with its text.
func TestLSPUndoOfTheEditorBehindAModeThatWasAccepted(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 25: "agent 25\n"})
	w.Put("f", before)
	script := world.Lines(world.Edits("1", "f", before, after), world.Shells("2", "chmod +x f"))
	w.Plays(script...)
	e := trusted(w)
	c := lsp(w, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 3)
	c.does("cursord.accept", world.Obj{"path": "f", "line": 1})
	c.waitsForHunks("f", 2)
	c.does("cursord.accept", world.Obj{"path": "f", "line": 5})
	c.waitsForHunks("f", 1)
	d.saves()
	c.eventually("the save", func() bool { return pending(e) == 1 })
	d.sets(before)
	c.waitsForHunks("f", 2)
}
