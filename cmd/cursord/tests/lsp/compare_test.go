//go:build unix

package lsp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

type langComparison struct {
	URI, Path     string
	Before, After *string
	Lenses        []struct {
		Range   struct{ Start struct{ Line int } }
		Command langCommand
	}
}

// compares asks for both sides of a file.
func (c *langClient) compares(path string) (both *langComparison) {
	c.t.Helper()
	c.must("cursord/compare", world.Obj{"textDocument": world.Obj{"uri": "file://" + c.w.Path(path)}}, &both)
	return both
}

// lastStatus returns the latest status of the folder; nil if there was none.
func (c *langClient) lastStatus() (last map[string]any) {
	for _, m := range c.told {
		if m.Method == "cursord/status" {
			last = nil
			if err := json.Unmarshal(m.Params, &last); err != nil {
				c.t.Error(err)
			}
		}
	}
	return last
}

// TestLSPCompare gets both sides of files for an editor that shows them side by side: the text before the agent and the
// agent's, if the editor does not have them itself.
func TestLSPCompare(t *testing.T) {
	t.Parallel()
	before := world.Tree{"f": "one\ntwo\nthree\n", "gone": "was\n", "same": "same\n"}
	after := world.Tree{"f": "one\nTWO\nthree\n", "gone": "(absent)", "new": "made\n"}
	for _, isolation := range []string{"none", "copy"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			w, c := lspAfter(t, before, after, world.LSPCapabilities(), world.Obj{"isolation": isolation, "status": true})
			c.until("a first state", func() bool { return c.lastStatus() != nil })
			require.Nil(t, c.compares("f"))
			c.turn()
			c.until("all changes", func() bool {
				last := c.lastStatus()
				return last["files"] == 3.0 && last["hunks"] == 3.0 && last["running"] == 0.0 && last["workspace"] == w.Root
			})

			var list struct{ Files []world.Obj }
			c.must("cursord/changes", nil, &list)
			require.Len(t, list.Files, 3)
			c.must("cursord/changes", world.Obj{"workspace": w.Root}, &list)
			require.Equal(t, world.Obj{
				"workspace": w.Root, "uri": "file://" + w.Path("f"), "path": "f", "kind": "modified", "hunks": 1.0, "added": 1.0, "removed": 1.0,
			}, list.Files[0])
			require.Error(t, c.call("cursord/changes", world.Obj{"workspace": "/elsewhere"}, nil))

			side := func(text string, isFile bool) *string {
				if isFile {
					return nil
				}
				return &text
			}
			copied := isolation == "copy"
			for path, want := range map[string]struct{ before, after *string }{
				"f":    {side(before["f"], copied), side(after["f"], !copied)},
				"gone": {side(before["gone"], copied), side("", false)},
				"new":  {side("", false), side(after["new"], !copied)},
			} {
				got := c.compares(path)
				require.NotNil(t, got, path)
				require.Equal(t, "file://"+w.Path(path), got.URI)
				require.Equal(t, path, got.Path)
				require.Equal(t, want.before, got.Before, path)
				require.Equal(t, want.after, got.After, path)
				require.Len(t, got.Lenses, 3, path)
			}
			require.Nil(t, c.compares("same"))

			// Lines that the user types are on both sides.
			d := c.opens("f")
			d.sets("zero\n" + d.now())
			c.until("the hunk to move", func() bool { l := c.lists[d.uri]; return len(l) == 1 && l[0].Range.Start.Line == 2 })
			got := c.compares("f")
			require.Equal(t, side("zero\n"+before["f"], copied), got.Before)
			require.Equal(t, side("zero\n"+after["f"], !copied), got.After)
			require.Equal(t, 2, got.Lenses[0].Range.Start.Line)
			require.Equal(t, "Accept 1/1", got.Lenses[0].Command.Title)

			c.does(got.Lenses[0].Command.Command, got.Lenses[0].Command.Arguments...)
			c.waitsForHunks("f", 0)
			require.Equal(t, "zero\n"+after["f"], d.now())
		})
	}
}

// TestLSPStatusIsNotTold sends no status to an editor that has not asked for it.
func TestLSPStatusIsNotTold(t *testing.T) {
	t.Parallel()
	_, c := lspAfter(t, world.Tree{"f": "a\n"}, world.Tree{"f": "b\n"}, world.LSPCapabilities(), nil)
	c.turn()
	c.waitsForHunks("f", 1)
	c.does("cursord.acceptAll")
	c.waitsForHunks("f", 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Nil(t, c.lastStatus())
}
