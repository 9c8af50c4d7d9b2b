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
		w := New(t)
		before, after := Numbered(9, nil), Numbered(9, map[int]string{3: "agent 3\n", 7: ""})
		w.Put("f", before)
		w.Plays(append(Edits("1", "f", before, after), Streams("I changed two lines."), Done)...)
		w.Start()
		w.Trusts()
		plugin := Top("editors", "nvim")
		w.Put("../init.lua", fmt.Sprintf("vim.opt.rtp:prepend(%q)\nvim.g.cursord = { chat = { width = 40, input_height = 3 } }\n", plugin))
		tm := w.Terminal(t)
		tm.Types(bin+" -u ../init.lua -i NONE -n f", "Enter")
		tm.Poll("the file", func() bool { return strings.Contains(tm.Screen(), "line 9") })
		tm.Types(":Cursord ask do it", "Enter")
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
		require.Equal(t, Numbered(9, map[int]string{7: ""}), w.Get("f"))
		tm.Types(":qa!", "Enter")
		tm.Until("$")
	})
}

// Poll waits until something is so.
func (tm *Tmux) Poll(what string, fits func() bool) {
	tm.T.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(Patience); !fits(); <-tick.C {
		if time.Now().After(limit) {
			tm.T.Fatalf("waited in vain for %s", what)
		}
	}
}
