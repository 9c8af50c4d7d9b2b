//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimAsksAgainWithTheTranscript has the agent lose the chat. The transcript names a key, which asks the prompt once more; the agent
// then gets what was said before. Elsewhere the key asks nothing.
func TestNvimAsksAgainWithTheTranscript(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(`{"fake":"begin"}`, `{"fake":"say","text":"The word is plum."}`, `{"fake":"finish"}`)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "")
		n.turn("remember the word")
		w.Plays(`{"type":"system","subtype":"init","session_id":"another","model":"m"}`, world.Done)
		n.lua("said = {}")
		n.ex("Cursord ask which word")
		n.until("its end", "return said[1] ~= nil")
		n.until("the notice", "local t = (function() "+transcript+" end)() return t and t:find('press R here: that asks your prompt again', 1, true) ~= nil")
		n.lua(`for _, win in ipairs(vim.api.nvim_list_wins()) do
			if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == 'cursord_chat' then
				vim.api.nvim_set_current_win(win)
			end
		end`)
		n.keys("R")
		n.poll("the third turn", func() bool { return len(w.Runs()) == 3 })
		last := w.Runs()[2]
		require.True(t, strings.HasSuffix(strings.TrimSpace(last.Prompt), "which word"), last.Prompt)
		require.Contains(t, last.Prompt, "The word is plum.")
		n.until("its end", "return #require('cursord.workspace').find():busy() == 0")
		n.lua("said = {}")
		n.keys("R")
		n.hears("the agent knows this chat")
		require.Len(t, w.Runs(), 3)
	})
}
