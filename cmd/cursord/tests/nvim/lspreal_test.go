//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPInNeovim works with Neovim's built-in client: asks, reviews by code actions and undo, and writes a prompt.
func TestLSPInNeovim(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, before, after := world.BuiltinWorld(t)
		n := neovim(w, t, bin, "", "f.txt")
		n.lua(`
			vim.lsp.start({ name = "cursord", cmd = { "cursord", "lsp" }, root_dir = ..., init_options = { isolation = "copy" } })
			function run(command, ...)
				vim.lsp.buf_request(0, "workspace/executeCommand", { command = command, arguments = { ... } }, function() end)
			end
			function choose(title)
				vim.lsp.buf.code_action({ apply = true, filter = function(a) return vim.startswith(a.title, title) end })
			end`, w.Root)
		n.until("the server", `local c = vim.lsp.get_clients({ name = "cursord" })[1] return c ~= nil and c.initialized == true`)
		hunks := func(count int) {
			t.Helper()
			n.until("hunks", "return #vim.diagnostic.get(0) == ...", count)
		}
		n.lua(`run("cursord.ask", "change it")`)
		hunks(2)
		require.Contains(t, n.lua(`return vim.diagnostic.get(0)[1].message`), "→ agent 5 · 1/2 +1 −1")
		n.ex("5")
		n.lua(`choose("Accept hunk 1/2")`)
		hunks(1)
		accepted := strings.Replace(before, "line 5\n", "agent 5\n", 1)
		n.untilText("f.txt", accepted)
		n.ex("undo")
		hunks(2)
		n.untilText("f.txt", before)
		n.lua(`run("cursord.acceptAll")`)
		hunks(0)
		n.untilText("f.txt", after)
		require.Equal(t, before, w.Get("f.txt"))
		n.ex("write")
		require.Equal(t, after, w.Get("f.txt"))

		w.Plays(world.Done)
		n.lua(`run("cursord.compose")`)
		n.until("the prompt's file", `return vim.endswith(vim.api.nvim_buf_get_name(0), "PROMPT.md")`)
		n.lua(`vim.api.nvim_buf_set_lines(0, 0, 1, false, { "first line", "second line" })`)
		n.ex("write")
		n.poll("the prompt to be sent", func() bool { return len(w.Runs()) == 2 })
		require.True(t, strings.HasSuffix(w.Runs()[1].Prompt, "</context>\n\nfirst line\nsecond line"), w.Runs()[1].Prompt)
	})
}
