//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimUndoAfterASave decides in unsaved and in saved text, saves, and goes back with "u". Text and hunk come back, in
// Neovim and in the daemon, also if the next save follows at once.
func TestNvimUndoAfterASave(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		for _, c := range []struct {
			verb     string
			isolated bool
		}{{"reject", false}, {"accept", true}} {
			t.Log(c.verb)
			w := world.New(t)
			before := world.Numbered(30, nil)
			all := map[int]string{5: "agent 5\n", 20: "agent 20\n"}
			after := world.Numbered(30, all)
			w.Put("f", before)
			w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
			w.Start()
			e := w.Opens()
			text, decided := after, world.Numbered(30, map[int]string{20: all[20]})
			if c.isolated {
				e.Isolates()
				text, decided = before, world.Numbered(30, map[int]string{5: all[5]})
			}
			n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }", "f")
			n.ex("Cursord ask do it")
			n.agree(e, "f", text, 2)
			n.keys("Gomine<Esc>")
			n.untilText("f", text+"mine\n")
			n.untilRows("f", 5, 20)
			n.ex("5Cursord " + c.verb)
			n.untilText("f", decided+"mine\n")
			n.hunksOf("f", 1)
			n.ex("write")
			n.agree(e, "f", decided+"mine\n", 1)
			n.keys("u")
			n.agree(e, "f", text+"mine\n", 2)
			n.ex("Cursord redo")
			n.agree(e, "f", decided+"mine\n", 1)
			n.ex("Cursord undo")
			n.agree(e, "f", text+"mine\n", 2)
			// The next save comes before Neovim has reported the text that "u" made.
			mine := "mine\n"
			for _, at := range []string{"decided in unsaved text", "saved since", "decided in saved text", "decided elsewhere"} {
				t.Log(at)
				if at == "decided in unsaved text" || at == "saved since" {
					mine += at + "\n"
					n.keys("Go" + at + "<Esc>")
					n.untilText("f", text+mine)
					n.untilRows("f", 5, 20)
				}
				if at == "decided elsewhere" {
					e.Decides("diff/"+c.verb, world.Obj{"hunks": []string{e.Diffs()["f"].Hunks[0].ID}})
				} else {
					n.ex("5Cursord " + c.verb)
				}
				n.untilText("f", decided+mine)
				n.hunksOf("f", 1)
				if at == "saved since" {
					n.ex("write")
					n.agree(e, "f", decided+mine, 1)
				}
				n.lua("vim.cmd('normal! u') vim.cmd('silent write')")
				n.poll("both hunks on disk", func() bool { d := e.Diffs()["f"]; return d != nil && len(d.Hunks) == 2 })
				n.agree(e, "f", text+mine, 2)
				require.EqualValues(t, "notFound", e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Data.Kind, "no decision is left in the log")
			}
			n.quiet()
			n.ex("5Cursord " + c.verb)
			n.agree(e, "f", decided+mine, 1)
			n.keys(":normal! u<CR>:wqall<CR>")
			require.True(t, world.Comes(world.Patience, func() bool {
				d := e.Diffs()["f"]
				return w.Get("f") == text+mine && d != nil && len(d.Hunks) == 2
			}), "text and hunk after the end of Neovim")
		}
	})
}
