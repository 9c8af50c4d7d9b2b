//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestNvimChoosesPermits sets what the agent may do, by command and by choice, for the present and for the next session, and
// sends images.
func TestNvimChoosesPermits(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		lib := w.Folder("lib")
		w.Put("f", "text\n")
		w.Put("shot.png", world.PNGBytes)
		w.Put("with space.gif", world.GIFBytes)
		w.Put("not.png", "text")
		w.Start()
		e := w.Joins()
		e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
		e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
		n := neovim(w, t, bin, picks+"\nvim.g.cursord = { chat = { open_on_ask = false } }", "f")
		say := func(text string) {
			n.t.Helper()
			n.hears(text)
		}
		n.lua("pick = 'enabled'")
		n.ex("Cursord sandbox")
		say("cursord: only commands that the sandbox can hold run (next session)")
		n.ex("Cursord autoreview on")
		say("cursord: a classifier of the agent decides on commands (next session)")
		n.ex("Cursord adddir ../lib")
		say("cursord: once you trust it, the agent may also work in " + lib + ", where nothing can be rejected (next session)")
		n.ex("Cursord adddir .")
		say("cursord: the agent works in " + w.Root + " anyway: it is in the workspace")
		n.ex("Cursord image with\\ space.gif")
		say("cursord: 1 image goes with the next prompt")
		n.lua("pick = 'Trust it'")
		n.ex("Cursord ask look at @shot.png")
		say("cursord: done")
		require.Equal(t, "May the agent run commands and change files in "+lib+"?", n.lua("return shown[#shown].prompt"))
		require.Equal(t, []string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib}, w.PermitArgs())
		require.Contains(t, w.Prompted(), `<image path="`+w.Path("shot.png")+`" />`)
		require.Contains(t, w.Prompted(), `<image path="`+w.Path("with space.gif")+`" />`)

		// It is the session's.
		n.ex("Cursord sandbox default")
		say("cursord: the sandbox is as configured (this session)")
		n.ex("Cursord autoreview off")
		say("cursord: no classifier decides on commands (this session)")
		n.ex("Cursord adddir!")
		say("cursord: the agent works in no other folder (this session)")
		n.lua("said = {}")
		n.ex("Cursord ask again")
		say("cursord: done")
		require.Empty(t, w.PermitArgs())
		require.NotContains(t, w.Prompted(), "<image")
		require.Len(t, w.Runs(), 2)

		require.Equal(t, []any{"enabled", "disabled", "default"}, n.lua("return vim.fn.getcompletion('Cursord sandbox ', 'cmdline')"))
		n.quiet()
		n.ex("Cursord sandbox on")
		say(`cursord: "on" is none of enabled, disabled, default`)
		n.ex("Cursord adddir none")
		say("cursord: " + w.Path("none") + " is no folder")
		n.ex("Cursord image f")
		n.hears("cursord: f is no image: name a PNG, JPEG, GIF or WebP")
		n.ex("Cursord image none.png")
		n.hears("none.png cannot be read")
	})
}

// TestNvimTellsWhatWasDenied shows beside a denied call why it was denied, without unfolding.
func TestNvimTellsWhatWasDenied(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(`{"fake":"shell","command":"npm test","ask":true}`, `{"type":"result","subtype":"success","result":"done"}`)
		w.Put("f", "text\n")
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord chat")
		n.ex("Cursord ask test it")
		for _, part := range []string{"✗ rejected: npm test (refused by policy)", "1 command was denied: npm test", "(:Cursord sandbox enabled)", "(:Cursord autoreview on)"} {
			n.until(part, "local t = (function() "+transcript+" end)() return t and t:find(..., 1, true) ~= nil", part)
		}
		require.Equal(t, sessions.TurnCompleted, e.Until("the end", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status.Final() }).Turn.Status)
		n.quiet()
	})
}
