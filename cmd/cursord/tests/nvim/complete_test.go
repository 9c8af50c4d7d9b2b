//go:build unix

package nvim

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimCompletesAllFiles completes files by letters of their path, in a large folder. Files under review and in buffers
// come first, and nothing is selected before the person selects.
func TestNvimCompletesAllFiles(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		many := world.Tree{"zz/deep/package_main.go": "package main\n", "zz/other.txt": "x\n", "buffer.txt": "b\n"}
		for i := range 600 {
			many[fmt.Sprintf("aa/file-%03d.txt", i)] = "x\n"
		}
		w.PutAll(many)
		w.RepositoryIn(".", nil)
		w.Plays(world.Lines(world.Edits("1", "zz/other.txt", "x\n", "y\n"))...)
		w.Start()
		w.Opens().Turn(nil)
		n := neovim(w, t, bin, "vim.o.completeopt = 'menu'", "buffer.txt")
		n.ex("Cursord next")
		n.until("the hunk", "return vim.fn.bufname() == 'zz/other.txt'")
		n.keys(":Cursord chat<CR>")
		n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode == 'i'")
		words := func() []any {
			return n.lua("return vim.tbl_map(function(i) return i.word end, vim.fn.complete_info({ 'items' }).items)").([]any)
		}
		first := func(want ...any) {
			n.t.Helper()
			n.poll("what fits", func() bool {
				have := words()
				return len(have) >= len(want) && reflect.DeepEqual(have[:len(want)], want)
			})
		}
		n.keys("see @")
		first("@buffer", "@diagnostics", "@diff", "@quickfix", "@selection", "@zz/other.txt", "@buffer.txt", "@aa/file-000.txt")
		n.keys("pkmn")
		first("@zz/deep/package_main.go")
		require.Equal(t, "see @pkmn", n.lua("return vim.api.nvim_get_current_line()"), "nothing is chosen yet")
		n.keys("<C-n><C-y> and @fi599")
		first("@aa/file-599.txt")
		n.keys("<C-n> ")
		n.until("both", "return vim.api.nvim_get_current_line() == 'see @zz/deep/package_main.go and @aa/file-599.txt '")
		n.keys("me@nothing")
		n.until("no token", "return vim.fn.pumvisible() == 0 and vim.api.nvim_get_current_line():sub(-10) == 'me@nothing'")
		n.keys("<Esc>")
		n.until("the person's own", "return vim.o.completeopt == 'menu'")
		// The agent is asked for its models in the background.
		require.Equal(t, []any{}, n.lua("return vim.fn.getcompletion('Cursord model ', 'cmdline')"))
		n.until("they are known", "return #vim.fn.getcompletion('Cursord model ', 'cmdline') > 1")
		n.quiet()
	})
}
