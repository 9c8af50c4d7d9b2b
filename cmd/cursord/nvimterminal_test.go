//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNvimOnATerminal has Neovim draw on a real terminal: what the person sees, and that no message waits for a key.
func TestNvimOnATerminal(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := newWorld(t)
		before, after := numbered(9, nil), numbered(9, map[int]string{3: "agent 3\n", 7: ""})
		w.put("f", before)
		w.plays(append(edits("1", "f", before, after), streams("I changed two lines."), done)...)
		w.start()
		w.trusts()
		plugin := top("editors", "nvim")
		w.put("../init.lua", fmt.Sprintf("vim.opt.rtp:prepend(%q)\nvim.g.cursord = { chat = { width = 40, input_height = 3 } }\n", plugin))
		tm := w.terminal(t)
		tm.types(bin+" -u ../init.lua -i NONE -n f", "Enter")
		tm.poll("the file", func() bool { return strings.Contains(tm.screen(), "line 9") })
		tm.types(":Cursord ask do it", "Enter")
		want := strings.TrimLeft(`
  line 1                                         │ do it                          2 hunks
  line 2                                         │## You
  line 3                                         │
┃ agent 3                                        │do it
  line 4                                         │
  line 5                                         │## Cursor
  line 6                                         │
  line 7                                         │✓ Edit f
▔ line 8                                         │
  line 9                                         │I changed two lines.
`, "\n")
		var screen string
		defer func() {
			if t.Failed() {
				t.Logf("the screen is\n%s", screen)
			}
		}()
		tm.poll("the hunks beside the chat", func() bool {
			screen = tm.screen()
			return strings.HasPrefix(screen, want)
		})
		require.NotContains(t, screen, "Press ENTER")
		tm.types("3G:Cursord reject", "Enter")
		tm.poll("the hunk is gone", func() bool {
			screen = tm.screen()
			return strings.HasPrefix(screen, "  line 1") && strings.Contains(screen, "\n  line 3 ") && !strings.Contains(screen, "agent 3")
		})
		require.Equal(t, numbered(9, map[int]string{7: ""}), w.get("f"))
		tm.types(":qa!", "Enter")
		tm.until("$")
	})
}

// poll waits until something is so.
func (tm *tmux) poll(what string, fits func() bool) {
	tm.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(patience); !fits(); <-tick.C {
		if time.Now().After(limit) {
			tm.t.Fatalf("waited in vain for %s", what)
		}
	}
}
