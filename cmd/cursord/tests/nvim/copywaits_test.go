//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimAcceptAllInACopyWaitsForNoKey accepts all hunks of a copy while another client has its five files unsaved. One
// line names the skipped hunks, and ":Cursord messages" has all of it.
func TestNvimAcceptAllInACopyWaitsForNoKey(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Tree{}, world.Tree{}
		for i := range 5 {
			path := fmt.Sprintf("a/rather/long/path/to/file-%d.txt", i)
			before[path], after[path] = "one\ntwo\n", "one\nagent\n"
		}
		w.PutAll(before)
		w.Plays(world.Changing(before, after)...)
		w.Start()
		e := w.Opens()
		e.Isolates()
		n := neovim(w, t, bin, fmt.Sprintf(ownNotify, 80)+"\nvim.g.cursord = { chat = { open_on_ask = false } }")
		n.keys(":Cursord ask do it<CR>")
		n.untilScreen("5 hunks in 5 files")
		for path := range before {
			e.OpenDocument(path).Set("one\nmine\n")
		}
		e.Must("diff/list", world.Obj{"workspace": w.Root}, nil)
		n.keys(":Cursord accept!<CR>")
		n.poll("what became of it", func() bool {
			require.False(t, n.waits(), "it waits for a key")
			return strings.Contains(n.screen(), "accepted nothing; left out: ")
		})
		n.keys(":Cursord messages<CR>")
		n.poll("why not", func() bool { return strings.Contains(n.text(), "left out: ") })
		w.RequireTree(before)
	})
}
