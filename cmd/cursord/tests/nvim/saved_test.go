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
	anNvim(t, func(t *testing.T, bin string) {
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
				if at == "decided elsewhere" { // on another connection, which has no order with Neovim's
					n.until("the daemon to know all that Neovim has reported", `local told
						require('cursord.docs').flush(require('cursord.workspace').find(), function()
							require('cursord.rpc').request('workspace/list', {}, function() told = true end)
						end)
						return vim.wait(5000, function() return told end, 1)`)
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

// TestNvimUndoOfAnUndo takes a reject back by the command, and goes back with "u": the reject is made again, on disk, too. One more "u" takes
// it back.
func TestNvimUndoOfAnUndo(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, all := world.Numbered(30, nil), map[int]string{5: "agent 5\n", 20: "agent 20\n"}
		text, decided := world.Numbered(30, all), world.Numbered(30, map[int]string{20: all[20]})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, text))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", text, 2)
		for range 2 {
			n.ex("5Cursord reject")
			n.agree(e, "f", decided, 1)
			n.ex("Cursord undo")
			n.agree(e, "f", text, 2)
			n.keys("u")
			n.agree(e, "f", decided, 1)
			n.until("nothing is unsaved", "return not vim.bo.modified")
			n.keys("u")
			n.agree(e, "f", text, 2)
		}
		n.ex("5Cursord reject")
		n.agree(e, "f", decided, 1)
		n.ex("Cursord undo")
		n.agree(e, "f", text, 2)
		n.keys("2u:let g:back = 1<CR>")
		n.until("nothing is unsaved there", "return vim.g.back == 1 and not vim.bo.modified")
		n.agree(e, "f", text, 2)
		n.quiet()
	})
}

// TestNvimUndoOfAnAccept goes back with "u" over accepts, which leave the text alone. Each is a step of the undo history: its
// hunk is pending again, and Ctrl-R accepts it again. Where the decision stays, Neovim says why.
func TestNvimUndoOfAnAccept(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, all := world.Numbered(30, nil), map[int]string{5: "agent 5\n", 20: "agent 20\n"}
		after := world.Numbered(30, all)
		was, is := world.Tree{"f": before, "g": before, "closed": before}, world.Tree{"f": after, "g": after, "closed": after}
		w.PutAll(was)
		w.Plays(world.Changing(was, is)...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }", "g")
		n.ex("edit f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", after, 2)
		n.agree(e, "g", after, 2)
		for _, save := range []bool{false, true} {
			n.ex("20Cursord accept")
			n.agree(e, "f", after, 1)
			require.False(t, n.modified("f"))
			if save {
				n.ex("write")
			}
			n.keys("u")
			n.agree(e, "f", after, 2)
			n.untilScreen("the accept is taken back; 6 hunks left in 3 files")
			require.Equal(t, 20.0, n.lua("return vim.fn.line('.')"))
			n.keys("<C-r>")
			n.agree(e, "f", after, 1)
			n.keys("u")
			n.agree(e, "f", after, 2)
		}
		t.Log("several, in lines and over all files")
		n.ex("5Cursord accept")
		n.agree(e, "f", after, 1)
		n.keys("Gomine<Esc>")
		n.untilText("f", after+"mine\n")
		n.ex("20Cursord accept")
		n.hunksOf("f", 0)
		require.True(t, n.modified("f"))
		n.keys("u")
		n.hunksOf("f", 1)
		require.Equal(t, after+"mine\n", n.text("f"))
		n.keys("uu")
		n.agree(e, "f", after, 2)
		n.ex("Cursord accept!")
		for _, path := range []string{"f", "g"} {
			n.agree(e, path, after, 0)
		}
		require.Empty(t, e.Diffs())
		n.ex("silent wall")
		n.keys("u")
		n.untilScreen("taken back in 3 files: the decision was about all of them")
		for _, path := range []string{"f", "g"} {
			n.agree(e, path, after, 2)
		}
		require.Len(t, e.Diffs()["closed"].Hunks, 2)
		n.keys("<C-r>")
		n.agree(e, "g", after, 0)
		n.ex("Cursord undo")
		n.agree(e, "f", after, 2)
		n.keys("u") // the decision is taken back already
		n.quiet()
		t.Log("another decision since")
		n.ex("5Cursord accept")
		n.agree(e, "f", after, 1)
		e.Decides("diff/accept", world.Obj{"hunks": []string{e.Diffs()["closed"].Hunks[0].ID}})
		n.keys("u")
		n.hears("cursord: u did not take the decision back: another was made since; :Cursord undo takes them back one by one")
		n.ex("Cursord undo")
		n.ex("Cursord undo")
		n.agree(e, "f", after, 2)
	})
}
