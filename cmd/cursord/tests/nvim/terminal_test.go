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

// TestNvimAsksNothingBeforeAMerge has Neovim look at the time of a file below unsaved text, as it does when it gets the focus, while the agent's turn
// still runs: its lines are on their way into the text. Neovim does not ask. A message
// says that another program has written a file.
func TestNvimAsksNothingBeforeAMerge(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{3: "agent 3\n"})
		w.PutAll(world.Tree{"f": before, "g": before})
		w.Plays(world.Lines(world.Edits("1", "f", before, after), []string{world.Waits("go")})...)
		w.Start()
		w.Trusts()
		w.Put("../init.lua", fmt.Sprintf("vim.opt.rtp:prepend(%q)\nvim.g.cursord = { chat = { open_on_ask = false }, autostart = true }\n", world.Top("editors", "nvim")))
		tm := w.Terminal(t)
		tm.Types(bin+" -u ../init.lua -i NONE -n f", "Enter")
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the screen is\n%s", tm.Screen())
			}
		})
		tm.Shows("line 9")
		tm.Types("Gomine", "Escape")
		tm.Shows("mine")
		tm.Types(":Cursord ask do it", "Enter")
		tm.Poll("it is on disk", func() bool { return w.Get("f") == after })
		tm.Types(":checktime | call writefile([], '../looked')", "Enter")
		w.Exists("../looked")
		w.Put("../go", "")
		tm.Shows("agent 3")
		tm.Types(":w", "Enter")
		tm.Poll("both are saved", func() bool { return w.Get("f") == after+"mine\n" })

		tm.Types(":e g", "Enter")
		tm.Types("Goanother", "Escape")
		tm.Shows("another")
		w.Put("g", after)
		tm.Types(":checktime", "Enter")
		tm.Shows("g has changed on disk, and here as well: :edit! reads it, :write asks")
	})
}
