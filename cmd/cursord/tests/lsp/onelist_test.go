//go:build unix

package lsp

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPNextHasOneOrder: next and prev go through each hunk once, in the same order, also where a hunk is only in the list of all hunks. They
// had gone on there with hunks that they had shown in their files, and never back. In the list itself they stay there.
func TestLSPNextHasOneOrder(t *testing.T) {
	t.Parallel()
	before := world.Tree{"a": world.Numbered(30, nil), "z": world.Numbered(10, nil)}
	after := world.Tree{"a": world.Numbered(30, map[int]string{5: "A5\n", 25: "A25\n"}), "made": "1\n", "new": "2\n", "z": world.Numbered(10, map[int]string{2: "Z2\n"})}
	w, c := lspAfter(t, before, after, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	c.opens("a")
	c.turn()
	c.waitsForHunks("a", 2)
	type place struct {
		uri  string
		line int
	}
	at := place{"file://" + w.Path("a"), 0}
	goes := func(command string) place {
		mark := c.mark()
		c.does(command, world.Obj{"uri": at.uri, "line": at.line + 1})
		at.uri, at.line = c.shown(mark, "")
		return at
	}
	times := func(n int, command string) (all []place) {
		for range n {
			all = append(all, goes(command))
		}
		return all
	}
	order := times(5, "cursord.next")
	list := order[4].uri
	require.True(t, strings.HasSuffix(list, "review.diff"), list)
	for i, path := range []string{"a", "a", "z"} {
		require.Equal(t, "file://"+w.Path(path), order[i].uri)
	}
	require.Equal(t, list, order[3].uri)
	require.NotEqual(t, order[3], order[4])
	require.Equal(t, order, times(5, "cursord.next"))
	back := times(4, "cursord.prev")
	slices.Reverse(back)
	require.Equal(t, order[:4], back)
	require.Equal(t, order[4], goes("cursord.prev"))

	c.does("cursord.diff")
	text, err := os.ReadFile(strings.TrimPrefix(list, "file://"))
	require.NoError(t, err)
	l := c.opensFile(list, string(text))
	for _, from := range []place{at, {list, 0}} { // also from where next or prev has led to
		at = from
		there := times(5, "cursord.next")
		lines := strings.Split(l.now(), "\n")
		for _, one := range there {
			require.Equal(t, list, one.uri)
			require.Regexp(t, "^(diff|@@) ", lines[one.line])
		}
		slices.SortFunc(there, func(a, b place) int { return a.line - b.line })
		require.Len(t, slices.Compact(there), 5)
		require.Equal(t, list, goes("cursord.prev").uri)
	}
}
