//go:build unix

package nvim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimDismisses takes files outside of the workspace off the list, by a key and by the command. A file of the workspace
// stays.
func TestNvimDismisses(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		lib := w.Folder("lib")
		for _, name := range []string{filepath.Join(lib, "one"), filepath.Join(lib, "two"), filepath.Join(lib, "three"), w.Path("in")} {
			require.NoError(t, os.WriteFile(name, []byte("a\n"), 0o600))
		}
		w.Plays(world.Lines(world.Edits("1", "../lib/one", "a\n", "b\n"), world.Edits("2", "../lib/two", "a\n", "b\n"),
			world.Edits("3", "../lib/three", "a\n", "b\n"), world.Edits("4", "in", "a\n", "b\n"))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "in")
		listed := func(paths ...any) {
			n.t.Helper()
			n.until("the list", "return vim.deep_equal(vim.tbl_map(function(q) return q.user_data.path end, vim.fn.getqflist()), ...)", paths)
		}
		one, two, three := filepath.Join(lib, "one"), filepath.Join(lib, "two"), filepath.Join(lib, "three")
		n.ex("Cursord review")
		listed(one, three, two, "in")
		n.ex("Cursord dismiss")
		n.hears("this is no listed file outside")
		n.ex("Cursord dismiss others")
		n.hears(`cursord: "others" is neither file nor all`)
		n.ex("wincmd b")
		n.keys("4Gx")
		n.hears("in is in the workspace: accept or reject it")
		n.keys("1Gx")
		listed(three, two, "in")
		n.ex("wincmd t | edit " + two)
		n.ex("Cursord dismiss")
		listed(three, "in")
		n.ex("Cursord dismiss all")
		listed("in")
		require.Equal(t, "b\n", w.Get("../lib/two"))
		require.Equal(t, []string{"in"}, world.Keys(e.Diffs()))
	})
}
