//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimTellsWhatATurnWaitsFor shows that a turn only waits, and how long it has been silent.
func TestNvimTellsWhatATurnWaitsFor(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Waiting()
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord ask go")
		n.until("the wait", "return require('cursord').statusline() == 'cursord: waiting for 1 background command'")
		n.untilScreen("▌ Cursor waiting for 1 backgr")
		n.lua("require('cursord.quiet').after = 0; require('cursord.quiet').tick()")
		n.until("the silence", "return vim.startswith(vim.g.cursord_status, 'waiting for 1 background command, no output for 0m ')")
		n.ex("Cursord cancel")
		n.until("the end", "return require('cursord').statusline() == ''")
		require.Equal(t, "", n.lua("return vim.v.errmsg"))
	})
}
