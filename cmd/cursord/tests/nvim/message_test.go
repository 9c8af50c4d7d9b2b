//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// ownNotify has Neovim itself show the plugin's messages, on a screen with this many columns.
const ownNotify = `vim.notify = builtin_notify
	vim.o.columns = %d`

// waits reports whether Neovim waits for a key, as after a message that is too long.
func (n *nvim) waits() bool {
	n.t.Helper()
	mode := n.call("nvim_get_mode").(map[any]any)
	return mode["blocking"] == true || strings.HasPrefix(fmt.Sprint(mode["mode"]), "r")
}

// TestNvimNoMessageWaitsForAKey makes the plugin say much at once, and long texts. All fit into the last line of the screen,
// and the rest can be read.
func TestNvimNoMessageWaitsForAKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("no more credit for this account, ", 9)
	eachNvim(t, func(t *testing.T, bin string) {
		for _, columns := range []int{80, 40} {
			w := world.New(t)
			before, after := world.Tree{}, world.Tree{}
			for i := range 5 {
				path := fmt.Sprintf("a folder with a long name/and another/file-%d", i)
				before[path], after[path] = world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})
			}
			w.PutAll(before)
			w.Plays(world.Changing(before, after)...)
			w.Start()
			e := w.Opens()
			n := neovim(w, t, bin, fmt.Sprintf(ownNotify, columns)+`
				vim.opt.shortmess:remove('F') -- files that are read say so
				vim.g.cursord = { chat = { open_on_ask = false } }`)
			shows := func(part string) {
				n.t.Helper()
				n.poll("on the last line: "+part, func() bool {
					require.False(t, n.waits(), "it waits for a key")
					lines := strings.Split(n.screen(), "\n")
					return len(lines) == 30 && strings.Contains(lines[29], part)
				})
				require.False(t, n.waits())
			}
			n.keys(":Cursord ask do it<CR>")
			shows("5 hunks in 5") // in 40 columns, the command that goes there comes first
			n.keys(":Cursord next<CR>")
			shows("hunk 1 of 5")
			n.keys(":Cursord next<CR>")
			shows("hunk 2 of 5")
			n.keys(":Cursord accept<CR>")
			shows("accepted 1 hunk; 4 hunks le")
			n.keys(":Cursord nonsense" + strings.Repeat("x", 90) + "<CR>")
			shows(`"nonsense`)

			// In a copy, where all hunks are in conflict with unsaved texts of other clients.
			for path := range before {
				d := e.OpenDocument(path)
				d.Set("theirs\n" + after[path])
			}
			e.Must("diff/list", world.Obj{"workspace": w.Root}, nil)
			n.keys(":Cursord reject!<CR>")
			shows("rejected nothing; ")
			n.keys(":Cursord messages<CR>")
			n.poll("why not", func() bool { return strings.Contains(n.text(), "left out: ") })
			require.Equal(t, 4, strings.Count(n.text(), " has unsaved changes in an editor; save it there, or decide there"))
			n.keys("q")
			n.until("it is closed", "return #vim.api.nvim_list_wins() == 1")

			w.Plays(fmt.Sprintf(`{"type":"result","subtype":"error","is_error":true,"result":%q}`, long))
			n.keys(":Cursord ask again<CR>")
			n.until("the turn has failed", "return require('cursord').statusline():find('error', 1, true) ~= nil")
			shows("no more credit")
			n.keys(":Cursord messages<CR>")
			n.poll("all of it", func() bool { return strings.Contains(n.text(), strings.TrimSpace(long)) })
			n.until("its first line", "return vim.api.nvim_get_current_line():find('cursord: no more credit', 1, true) == 1")
			require.Contains(t, strings.Join(strings.Fields(n.screen()), " "), "cursord: no more credit", "it is shown from its beginning")
			require.Contains(t, n.text(), "; 4 hunks in 4 files from before; :Cursord next goes there", "what the agent has changed is said as well")
			n.keys("q:let g:typed = 1<CR>")
			n.until("what is typed is a command", "return vim.g.typed == 1")
			// A message that comes while somebody types a command is shown after that.
			n.keys(":let g:typed = ")
			n.lua("require('cursord.rpc').say('meanwhile') require('cursord.rpc').say('two of them', vim.log.levels.WARN)")
			n.keys("2<CR>")
			n.until("what is typed is a command", "return vim.g.typed == 2")
			shows("cursord: two of them")
			n.kill()
		}
	})
}

// TestNvimDeclinedTrust answers no, and nothing, to the question for trust: the prompt is kept, and a message says so.
func TestNvimDeclinedTrust(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", world.Numbered(9, nil))
		w.Start()
		n := neovim(w, t, bin, fmt.Sprintf(ownNotify, 80)+"\nvim.g.cursord = { chat = { open_on_ask = false } }", "f")
		asked := func() {
			n.t.Helper()
			n.poll("the question", func() bool {
				return n.waits() || strings.HasPrefix(fmt.Sprint(n.call("nvim_get_mode").(map[any]any)["mode"]), "c")
			})
		}
		n.ex("4,5Cursord ask why is this so?")
		asked()
		n.keys("<CR>")
		n.poll("a word", func() bool {
			return !n.waits() && strings.Contains(n.screen(), "\ncursord: not sent: nothing was chosen; your prompt is in the chat")
		})
		n.keys(":Cursord chat<CR>")
		n.until("the prompt", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_current_line() == '@selection why is this so?'")
		n.keys("<Esc><CR>")
		asked()
		n.keys("2<CR>")
		n.poll("a word", func() bool {
			return !n.waits() && strings.Contains(n.screen(), "\ncursord: not sent: no trust; your prompt is in the chat")
		})
		require.Equal(t, "@selection why is this so?", n.lua("return vim.api.nvim_get_current_line()"))
		require.Empty(t, w.Runs())
		n.keys("<CR>")
		asked()
		n.keys("1<CR>")
		n.poll("the agent", func() bool { return len(w.Runs()) == 1 })
		require.Contains(t, w.Prompted(), `<selection path="f" lines="4-5">`)
		require.Contains(t, w.Prompted(), "why is this so?")
	})
}

// TestNvimNames shows files by relative names, and has no functions for names that are no subcommands.
func TestNvimNames(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Tree{"f": world.Numbered(9, nil), "src/g": world.Numbered(9, nil)}
		after := world.Tree{"f": world.Numbered(9, map[int]string{5: "agent 5\n"}), "src/g": world.Numbered(9, map[int]string{3: ""}), "src/new": "a\n"}
		w.PutAll(before)
		w.Plays(world.Changing(before, after)...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.o.statusline = '%f %l' vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it")
		for _, name := range []string{"f 5", "src/g 3", "src/new 1", "f 5"} {
			n.ex("Cursord next")
			n.untilScreen("\n" + name + "\n")
		}
		n.ex("bwipeout src/new | Cursord review | wincmd b")
		n.keys("G<CR>")
		n.untilScreen("\nsrc/new 1\n")
		n.ex("Cursord diff")
		n.untilScreen("src/new 1")
		require.NotContains(t, n.screen(), w.Path("src"))
		require.Equal(t, []any{true, "function"}, n.lua("return { require('cursord').acept == nil, type(require('cursord').accept) }"))
		n.quiet()
	})
}

// TestNvimKeepsShortMessages: ":Cursord messages" has what was said in passing, too. With no turn, "cancel!" advises nothing that ends none.
func TestNvimKeepsShortMessages(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.hunksOf("f", 1)
		n.ex("Cursord cancel!")
		n.hears("cursord: no turn runs here")
		n.ex("5Cursord reject")
		n.agree(e, "f", before, 0)
		n.ex("Cursord undo")
		n.untilScreen("undone: the reject of 1 hunk in f; 1 hunk left in 1 file")
		n.ex("Cursord messages")
		require.Equal(t, "cursord: no turn runs here\ncursord: rejected 1 hunk; none left\ncursord: undone: the reject of 1 hunk in f; 1 hunk left in 1 file\n", n.text())
		n.quiet()
	})
}
