//go:build unix

package nvim

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimSaysOnceThatAFileIsGone: during a turn Neovim finds that files are gone before it is known who has taken them away. Of the one
// that the agent has moved only a note says so, and of the one that a person has removed a message.
func TestNvimSaysOnceThatAFileIsGone(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"first": "1\n", "old": "moved\n", "mine": "mine\n"})
		w.Plays(world.Lines(world.Shells("1", "mv old new; until [ -e ../go ]; do sleep 0.01; done"), []string{world.Waits("end")})...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "first")
		n.ex("edit old | edit mine | edit first")
		n.ex("Cursord ask move it")
		n.poll("it is moved", func() bool { return w.Get("new") == "moved\n" })
		n.keys(":buffer old<CR>:buffer first<CR>:buffer old<CR>")
		w.Put("../go", "")
		n.untilScreen("the agent has moved this file to new\n")
		require.NoError(t, os.Remove(w.Path("mine")))
		n.keys(":buffer mine<CR>:buffer first<CR>")
		w.Put("../end", "")
		n.hears("mine is not on disk any more; :w writes it again")
		require.NotRegexp(t, "E211|old is not", n.messages())
	})
}
