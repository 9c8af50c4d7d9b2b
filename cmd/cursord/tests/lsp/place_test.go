//go:build unix

package lsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// units returns a text of parts that are the same except for their heads, which are far from the changes.
func units(n int, line func(unit int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "func unit%d() {\n\ta\n\tb\n\tc\n%s\td\n\te\n\tf\n}\n", i, line(i))
	}
	return b.String()
}

const unitLines = 9

func old(int) string { return "\told\n" }

// changed returns the lines of units of which some are the agent's.
func changed(which ...int) func(int) string {
	return func(unit int) string {
		for _, one := range which {
			if unit == one {
				return "\tnew\n"
			}
		}
		return "\told\n"
	}
}

// TestLSPOneOfFourEqualPlaces accepts one of four hunks that look the same, in a text whose lines have moved by the distance
// between two of them. Another one was accepted before.
func TestLSPOneOfFourEqualPlaces(t *testing.T) {
	t.Parallel()
	before := units(4, old)
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": units(4, changed(2))}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	mine := strings.Repeat("// mine\n", unitLines)
	d.sets(mine + before)
	c.until("the hunk to move", func() bool {
		list := c.lists[d.uri]
		return len(list) == 1 && list[0].Range.Start.Line == 3*unitLines+4
	})
	c.does("cursord.accept", world.Obj{"path": "f", "line": 3*unitLines + 5})
	c.waitsForHunks("f", 0)
	require.Equal(t, mine+units(4, changed(2)), d.now())
	require.Equal(t, before, w.Get("f"))
}

// TestLSPALineBesideAHunkIsTyped accepts a hunk after the user has changed the line above it. Before, a place elsewhere that
// still had these lines was changed.
func TestLSPALineBesideAHunkIsTyped(t *testing.T) {
	t.Parallel()
	before := units(4, old)
	_, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": units(4, changed(1))}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 1)
	typed := func(s string) string {
		return s[:strings.Index(s, "unit1")] + strings.Replace(s[strings.Index(s, "unit1"):], "\tc\n", "\tmine\n", 1)
	}
	d.sets(typed(before))
	c.does("cursord.acceptAll")
	c.waitsForHunks("f", 0)
	require.Equal(t, typed(units(4, changed(1))), d.now())
}

// TestLSPAcceptsOfEqualHunksDoNotOverlap accepts hunks that look the same, together. Before, their edits changed the same
// lines.
func TestLSPAcceptsOfEqualHunksDoNotOverlap(t *testing.T) {
	t.Parallel()
	before := units(4, old)
	_, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": units(4, changed(0, 1, 2))}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 3)
	mine := strings.Repeat("// mine\n", unitLines)
	typed := func(s string) string { return mine + strings.Replace(s, "\tc\n", "\tmine\n", 1) }
	d.sets(typed(before))
	c.does("cursord.acceptAll")
	c.waitsForHunks("f", 0)
	require.Equal(t, typed(units(4, changed(0, 1, 2))), d.now())
}

// TestLSPLineEndsAlone accepts changes of line ends and byte order marks, which came back again and again before, and lines
// with other ends than the file's, which were given the file's ends.
func TestLSPLineEndsAlone(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, disk, agent, document string
		want                        string // of the document
		written                     string // to the disk, at once
	}{
		{"lines get CR", "one\ntwo\n", "one\r\ntwo\r\n", "one\ntwo\n", "one\r\ntwo\r\n", "one\ntwo\n"},
		{"one line gets CR", "one\ntwo\n", "one\ntwo\r\n", "one\ntwo\n", "one\ntwo\r\n", "one\ntwo\n"},
		{"a line with CR comes", "one\ntwo\n", "one\nnew\r\ntwo\n", "one\ntwo\n", "one\nnew\r\ntwo\n", "one\ntwo\n"},
		{"lines lose CR", "one\r\ntwo\r\n", "one\ntwo\n", "one\r\ntwo\r\n", "one\ntwo\n", "one\r\ntwo\r\n"},
		{"lines lose CR that the editor leaves out", "one\r\ntwo\r\n", "one\ntwo\n", "one\ntwo\n", "one\ntwo\n", "one\ntwo\n"},
		{"a byte order mark comes", "one\ntwo\n", "\ufeffone\ntwo\n", "one\ntwo\n", "\ufeffone\ntwo\n", "one\ntwo\n"},
		{"a byte order mark goes that the editor leaves out", "\ufeffone\ntwo\n", "one\ntwo\n", "one\ntwo\n", "one\ntwo\n", "one\ntwo\n"},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			w, c := lspAfter(t, world.Tree{"f": one.disk}, world.Tree{"f": one.agent}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
			d := c.opensFile("file://"+w.Path("f"), one.document)
			c.turn()
			c.until("hunks", func() bool { return len(c.lists[d.uri]) > 0 })
			mark := c.mark()
			c.does("cursord.acceptAll")
			c.hearsAfter(mark, "window/showMessage", "accepted")
			c.waitsForHunks("f", 0)
			require.Equal(t, one.want, d.now())
			require.Equal(t, one.written, w.Get("f"))
			if one.written == one.disk {
				d.saves()
			}
			e := w.Joins()
			c.eventually("nothing is pending for anybody", func() bool { return len(e.Diffs()) == 0 })
		})
	}
}

// TestLSPAcceptsWithoutAPause accepts hunk after hunk, and saves in between. Before, the next hunk "had changed since it was
// shown" for two seconds.
func TestLSPAcceptsWithoutAPause(t *testing.T) {
	t.Parallel()
	before := world.Numbered(60, nil)
	after := world.Numbered(60, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: "", 35: "agent 35\n", 45: "agent 45\n"})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	list := c.waitsForHunks("f", 5)
	mark := c.mark()
	for _, h := range list[:3] {
		c.does("cursord.accept", h.Code)
	}
	c.waitsForHunks("f", 2)
	for i, h := range list[3:] {
		d.saves()
		c.does("cursord.accept", h.Code)
		c.waitsForHunks("f", 1-i)
	}
	d.saves()
	require.Equal(t, after, d.now())
	require.Equal(t, after, w.Get("f"))
	c.until("five messages", func() bool {
		accepts := 0
		for _, m := range c.told[mark:] {
			if m.Method == "window/showMessage" && strings.Contains(string(m.Params), "accepted 1 hunk in your buffers") {
				accepts++
			}
		}
		return accepts == 5
	})
	for _, m := range c.all()[mark:] {
		require.NotContains(t, string(m.Params), "since it was shown")
		require.NotContains(t, string(m.Params), "try again")
	}
}

// TestLSPAcceptThatTakesCRs: an accept that leaves the document without the file's CRs lasts although nothing is saved. Before, the text
// counted as that of an editor which leaves them out, and so as that of the file: the hunk came back.
func TestLSPAcceptThatTakesCRs(t *testing.T) {
	t.Parallel()
	was, now := "one\r\ntwo\r\n", "one\ntwo\n"
	w, c := lspAfter(t, world.Tree{"f": was}, world.Tree{"f": now}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 1)
	mark := c.mark()
	c.does("cursord.acceptAll")
	c.hearsAfter(mark, "window/showMessage", "accepted 1 hunk")
	c.waitsForHunks("f", 0)
	c.does("cursord.undo") // the daemon gets the text first
	c.waitsForHunks("f", 1)
	require.Equal(t, was, d.now())
	c.does("cursord.redo")
	c.waitsForHunks("f", 0)
	require.Equal(t, now, d.now())
	d.saves()
	require.Equal(t, now, w.Get("f"))
	e := w.Joins()
	c.eventually("nothing is pending for anybody", func() bool { return len(e.Diffs()) == 0 })
}
