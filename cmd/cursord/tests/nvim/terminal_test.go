//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimOnATerminal has Neovim draw on a real terminal, where no message waits for a key.
func TestNvimOnATerminal(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{3: "agent 3\n", 7: ""})
		w.Put("f", before)
		w.Plays(append(world.Edits("1", "f", before, after), world.Streams("I changed two lines."), world.Done)...)
		w.Start()
		w.Trusts()
		plugin := world.Top("editors", "nvim")
		w.Put("../init.lua", fmt.Sprintf("vim.opt.rtp:prepend(%q)\nvim.g.cursord = { chat = { width = 40, input_height = 3 } }\n", plugin))
		tm := w.Terminal(t)
		tm.Types(bin+" -u ../init.lua -i NONE -n f", "Enter")
		tm.Poll("the file", func() bool { return strings.Contains(tm.Screen(), "line 9") })
		tm.Types(":Cursord ask do it", "Enter")
		want := strings.TrimLeft(`
  line 1                                         │ do it                          2 hunks
  line 2                                         │▌ You
  line 3                                         │
┃ agent 3                                        │do it
  line 4                                         │
  line 5                                         │▌ Cursor
  line 6                                         │
  line 7                                         │✓ Edit f +1 −2
▔ line 8                                         │
  line 9                                         │I changed two lines.
`, "\n")
		var screen string
		defer func() {
			if t.Failed() {
				t.Logf("the screen is\n%s", screen)
			}
		}()
		tm.Poll("the hunks beside the chat", func() bool {
			screen = tm.Screen()
			return strings.HasPrefix(screen, want)
		})
		require.NotContains(t, screen, "Press ENTER")
		tm.Types("3G:Cursord reject", "Enter")
		tm.Poll("the hunk is gone", func() bool {
			screen = tm.Screen()
			return strings.HasPrefix(screen, "  line 1") && strings.Contains(screen, "\n  line 3 ") && !strings.Contains(screen, "agent 3")
		})
		require.Equal(t, world.Numbered(9, map[int]string{7: ""}), w.Get("f"))
		tm.Types(":qa!", "Enter")
		tm.Until("$")
	})
}
