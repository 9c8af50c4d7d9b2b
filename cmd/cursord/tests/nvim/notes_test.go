//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimNotes looks at what a buffer says of a file that the agent has deleted, and of hunks that are decided together; and
// decides a hunk right after typing in it.
func TestNvimNotes(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		gone, was, first := world.Numbered(9, nil), world.Numbered(40, nil), world.Numbered(40, map[int]string{35: "agent\n"})
		before := world.Numbered(40, map[int]string{5: "left\n", 25: "right\n", 35: "agent\n"})
		after := world.Numbered(40, map[int]string{5: "right\n", 25: "left\n", 35: "agent\n"})
		w.PutAll(world.Tree{"tied": was, "typed": world.Numbered(9, nil), "old": "moved\n"})
		w.Plays(world.Lines(world.Edits("1", "tied", was, first))...)
		w.Start()
		e := w.Opens()
		e.Turn(world.Obj{"prompt": "begin"})
		w.PutAll(world.Tree{"tied": before, "gone": gone}) // "left" and "right" are a person's
		e.Diffs()
		w.Plays(world.Lines(world.Edits("2", "tied", before, after), world.Deletes("3", "gone", gone),
			world.Shells("5", "mkdir lib && mv old lib/new"),
			world.Edits("4", "typed", world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})))...)
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }", "old")
		n.ex("edit gone")
		n.ex("Cursord ask again")
		n.untilScreen("the agent has deleted this file: reject brings it back\n▔ line 1\n")
		n.keys("4G")
		n.ex("Cursord reject")
		n.agree(e, "gone", gone, 0)
		n.ex("Cursord undo")
		n.poll("it is gone", func() bool { return w.Get("gone") == "(absent)" })
		n.untilScreen("the agent has deleted this file")
		n.ex("Cursord next | Cursord prev")
		n.until("the deletion is a hunk to go to", "return vim.fn.expand('%') == 'gone' and vim.fn.line('.') == 1")
		n.ex("Cursord accept")
		n.poll("it is accepted", func() bool { return e.Diffs()["gone"] == nil })

		n.keys(":buffer old<CR>")
		n.untilScreen("the agent has moved this file to lib/new\n")
		n.quiet() // Neovim does not say that it is not there
		n.ex("Cursord review")
		n.until("the list", "return vim.bo.buftype == 'quickfix'")
		n.keys("gg/lib.new<CR>r")
		n.poll("it is back", func() bool { return w.Get("old") == "moved\n" })
		n.ex("cclose")
		n.poll("no note", func() bool { return !strings.Contains(n.screen(), "the agent has moved") })

		n.ex("edit tied")
		n.hunksOf("tied", 3)
		n.untilScreen("a moved line of yours: decided together with line 25\n")
		n.ex("Cursord review")
		n.untilScreen("(with line 25)")
		n.ex("cclose | Cursord patch")
		n.untilScreen("(with line 25)")
		n.keys("q")
		n.ex("5Cursord reject")
		n.agree(e, "tied", before, 1)

		n.ex("edit typed")
		n.hunksOf("typed", 1)
		n.lua("vim.cmd('normal! 5GAzz') vim.cmd('Cursord reject')")
		n.untilText("typed", strings.Replace(world.Numbered(9, nil), "line 5\n", "line 5\nagent 5zz\n", 1))
		n.hunksOf("typed", 0)
		require.Empty(t, n.lua(`return vim.tbl_filter(function(s) return s.level >= vim.log.levels.WARN end, said)`))
	})
}

// typesMeanwhile opens a file in Neovim and asks. A person types keys in the file, and then the agent plays its steps.
func typesMeanwhile(t *testing.T, bin string, files world.Tree, file, keys string, steps ...[]string) (*world.World, *nvim) {
	w := world.New(t)
	w.PutAll(files)
	w.Plays(world.Lines(append([][]string{{world.Waits("go")}}, steps...)...)...)
	w.Start()
	w.Trusts()
	n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", file)
	n.ex("Cursord ask begin")
	n.keys(keys)
	w.Put("../go", "")
	return w, n
}

// TestNvimDeletesUnsavedText has the agent delete a file with unsaved text in Neovim: the deletion is a hunk there like in any other
// buffer, whose decision leaves the text. Before, no key led to it, and a reject found nothing.
func TestNvimDeletesUnsavedText(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(w *world.World, n *nvim){
		"saved": func(w *world.World, n *nvim) {
			n.ex("write")
			require.Contains(t, n.messages(), "wrote f again, which the agent has deleted")
		},
		"rejected": func(w *world.World, n *nvim) {
			n.ex("Cursord reject")
			n.untilScreen("rejected 1 hunk; none left")
			require.Equal(t, world.Numbered(9, nil), w.Get("f"))
			n.until("Neovim knows the file, and does not ask before it writes over it",
				"return not require('cursord.docs').get(vim.fn.bufnr('f')).lacks")
			n.ex("write")
		},
		"rejected, undone and redone": func(w *world.World, n *nvim) {
			n.ex("Cursord reject")
			n.untilScreen("rejected 1 hunk; none left")
			n.ex("Cursord undo")
			n.untilScreen("the agent has deleted this file: reject brings it back; :w writes your text\n▔ line 1\n")
			require.Equal(t, "(absent)", w.Get("f"))
			n.ex("Cursord redo")
			n.poll("it is back", func() bool { return w.Get("f") == world.Numbered(9, nil) })
			n.until("Neovim knows the file", "return not require('cursord.docs').get(vim.fn.bufnr('f')).lacks")
			n.keys("u")
			n.poll("it is gone", func() bool { return w.Get("f") == "(absent)" })
			n.ex("write!")
		},
		"accepted": func(w *world.World, n *nvim) {
			n.ex("Cursord accept")
			n.untilScreen("accepted 1 hunk; none left")
			require.Equal(t, "(absent)", w.Get("f"))
			n.ex("write!")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachNvim(t, func(t *testing.T, bin string) {
				before := world.Numbered(9, nil)
				w, n := typesMeanwhile(t, bin, world.Tree{"f": before, "g": before}, "f", "5GSmine<Esc>", world.Shells("2", "rm f"))
				note := "the agent has deleted this file: reject brings it back; :w writes your text\n▔ line 1\n"
				n.untilScreen(note)
				n.ex("edit g")
				n.ex("Cursord next")
				n.untilScreen(note)
				decide(w, n)
				n.poll("no note", func() bool { return !strings.Contains(n.screen(), "the agent has deleted") })
				n.poll("it is saved", func() bool { return w.Get("f") == world.Numbered(9, map[int]string{5: "mine\n"}) })
				n.quiet()
			})
		})
	}
}

// TestNvimSavesAMovedFile has the agent move a file with unsaved text in Neovim: a save, which makes the old file again, says so.
func TestNvimSavesAMovedFile(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, n := typesMeanwhile(t, bin, world.Tree{"old": "1\n2\n3\n"}, "old", "3GSmine<Esc>", world.Shells("2", "mkdir lib && mv old lib/new"))
		n.untilScreen("the agent has moved this file to lib/new\n1\n")
		n.ex("write")
		n.hears("cursord: wrote old again, which the agent has moved to lib/new")
		require.Equal(t, "1\n2\nmine\n", w.Get("old"))
		require.Equal(t, "1\n2\n3\n", w.Get("lib/new"))
		n.quiet()
	})
}

// TestNvimUndoesInAllFiles rejects in several files, of which one has unsaved text: "u" there takes the decision back in all of them. Once
// the others stayed rejected, and nothing said so.
func TestNvimUndoesInAllFiles(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{3: "agent\n"})
		w, n := typesMeanwhile(t, bin, world.Tree{"f": before, "g": before, "h": before}, "f", "Gomine<Esc>",
			world.Edits("1", "f", before, after), world.Edits("2", "g", before, after), world.Edits("3", "h", before, after))
		e := w.Opens()
		n.untilText("f", after+"mine\n")
		n.hears("cursord: 3 hunks in 3 files")
		n.ex("Cursord reject!")
		n.untilText("f", before+"mine\n")
		n.poll("all are rejected", func() bool { return w.Get("g") == before && w.Get("h") == before })
		n.keys("u")
		n.untilText("f", after+"mine\n")
		n.untilScreen("taken back in 3 files: the decision was about all of them")
		n.poll("all are back", func() bool { return w.Get("g") == after && w.Get("h") == after })
		require.Len(t, e.Diffs(), 3)
		n.hunksOf("f", 1)
		n.ex("write")
		require.Len(t, e.Diffs(), 3)
		n.ex("Cursord reject!")
		n.poll("all are rejected", func() bool { return len(e.Diffs()) == 0 })
		require.Equal(t, before+"mine\n", w.Get("f"))
		n.quiet()
	})
}
