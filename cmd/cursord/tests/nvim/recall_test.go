//go:build unix

package nvim

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimRecallsAllPrompts recalls by <Up> the prompts of ":Cursord ask", one that could not be sent, and, in another
// Neovim, those of the session.
func TestNvimRecallsAllPrompts(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "text\n")
		w.Start()
		w.Trusts()
		const init = "vim.g.cursord = { notify = { progress = false } }"
		n := neovim(w, t, bin, init, "f")
		n.turn("first")
		n.ex("Cursord ask see @quickfix")
		n.hears("the quickfix list is empty")
		input := func() {
			n.t.Helper()
			n.ex("Cursord chat")
			n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode:find('^i') ~= nil")
			n.keys("<Esc>")
			n.until("Normal mode", "return vim.api.nvim_get_mode().mode == 'n'")
		}
		up := func(key, want string) {
			n.t.Helper()
			n.keys(key)
			n.until("the prompt "+want, "return vim.api.nvim_get_current_line() == ...", want)
		}
		n.ex("Cursord chat") // which closes it
		input()
		n.keys("cc<Esc>")
		up("<Up>", "see @quickfix")
		up("<Up>", "first")
		n.keys("ccunfinished<Esc>otwo<Esc>")
		n.until("a draft", "return vim.fn.line('$') == 2")
		n.quits()

		n = neovim(w, t, bin, init, "f")
		input()
		n.untilScreen("│first")
		require.Equal(t, "unfinished\ntwo\n", n.text(), "the draft of the Neovim before")
		n.keys("ggdGcc<Esc>")
		n.until("no draft", "return vim.api.nvim_get_current_line() == ''")
		up("<Up>", "first")
		up("<Down>", "")
		n.quiet()
	})
}

// TestNvimSaysThatATurnRunsAndOneWaits opens the chat in the middle of a turn, with another one queued.
func TestNvimSaysThatATurnRunsAndOneWaits(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "text\n")
		w.Plays(world.Streams("I wait."), world.Waits("never"), world.Done)
		w.Start()
		e := w.Opens()
		first := e.Asks(nil)
		e.Asks(world.Obj{"sessionId": first.SessionID, "prompt": "the second"})
		n := neovim(w, t, bin, "vim.g.cursord = {}", "f")
		n.ex("Cursord chat")
		n.until("both", "return require('cursord').statusline() == 'cursord: working, 1 queued'")
		n.untilScreen("working, 1 queued")
		require.NotContains(t, n.screen(), "\nqueued")
		n.quiet()
	})
}

// TestNvimHasNothingToReview decides everything when there is nothing, and in a file without hunks.
func TestNvimHasNothingToReview(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "text\n")
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "", "f")
		for command, why := range map[string]string{"Cursord reject!": "nothing to review", "Cursord accept all": "nothing to review", "Cursord reject file": "nothing to review in f"} {
			n.lua("said = {}")
			n.ex(command)
			n.hears("cursord: " + why)
		}
		n.quiet()
	})
}

// TestNvimListsAllKeys fits the keys of the review buffer and of the chat onto a screen of 24 rows.
func TestNvimListsAllKeys(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, _ := world.Reviewing(t, "f", "a\n", "b\n")
		n := neovim(w, t, bin, "vim.o.columns, vim.o.lines = 100, 24", "f")
		n.keys(":Cursord patch<CR>")
		n.untilScreen("modified f +1 −1")
		n.keys("g?")
		for _, about := range []string{"accept all that is shown", "these keys", "this turn alone, or all", "dismiss a file outside"} {
			n.untilScreen(about)
		}
		closed := func() {
			n.t.Helper()
			n.keys("q")
			n.poll("it is closed", func() bool {
				return !strings.Contains(n.screen(), "these keys") && !strings.Contains(n.screen(), "more: g?")
			})
		}
		closed()
		n.lua("vim.o.columns, vim.o.lines = 60, 18")
		n.keys("g?")
		n.untilScreen("more: g? again, then j")
		closed()
		n.lua("vim.o.columns, vim.o.lines = 80, 24")
		n.keys(":Cursord chat<CR>")
		n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode == 'i'")
		n.keys("<Esc>g?")
		n.untilScreen("a file, symbol, selection …")
		closed()
		n.keys("<C-w>kg?")
		n.untilScreen("take this turn and later back│")
		n.quiet()
	})
}

// TestNvimDraftOfAKilledOne kills a Neovim, as a terminal that closes does. The next one has its draft, and not that of one that still runs.
func TestNvimDraftOfAKilledOne(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, _ := trusted(t, nil)
		onDisk := func(text string) bool {
			files, _ := filepath.Glob(filepath.Join(w.Dir, ".local/state/nvim/cursord/drafts/*"))
			for _, f := range files {
				if have, _ := os.ReadFile(f); string(have) == text {
					return true
				}
			}
			return false
		}
		opens := func() *nvim {
			n := neovim(w, t, bin, "")
			n.ex("Cursord chat")
			n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode:find('^i') ~= nil")
			return n
		}
		n := opens()
		n.keys("a draft")
		n.poll("it is on disk", func() bool { return onDisk("a draft") })
		other := opens()
		require.Equal(t, "\n", other.text())
		other.kill()
		n.keys("<CR>of two lines<Esc><C-w>w")
		n.poll("it is on disk when the window is left", func() bool { return onDisk("a draft\nof two lines") })
		n.kill()
		n = opens()
		require.Equal(t, "a draft\nof two lines\n", n.text())
		n.quits()
		n = opens()
		require.Equal(t, "a draft\nof two lines\n", n.text())
		n.quiet()
	})
}

// TestNvimDraftOfOneThatASignalEnds ends a Neovim as a terminal that closes does, by a signal, or by the end of its user interface. Neovim has unloaded its
// buffers when it tells of that, and the draft was taken as empty.
func TestNvimDraftOfOneThatASignalEnds(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, _ := trusted(t, nil)
		opens := func() *nvim {
			n := neovim(w, t, bin, "")
			n.ex("Cursord chat")
			n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode:find('^i') ~= nil")
			return n
		}
		n, want := opens(), ""
		for _, end := range []struct {
			word string
			by   func()
		}{
			{"hangs up", func() { require.NoError(t, n.cmd.Process.Signal(syscall.SIGHUP)) }},
			{"terminates", func() { require.NoError(t, n.cmd.Process.Signal(syscall.SIGTERM)) }},
			{"leaves", func() { require.NoError(t, n.in.Close()) }},
		} {
			n.keys(" " + end.word)
			want += " " + end.word
			n.poll("it is on disk", func() bool {
				files, _ := filepath.Glob(filepath.Join(w.Dir, ".local/state/nvim/cursord/drafts/*"))
				for _, f := range files {
					if have, _ := os.ReadFile(f); string(have) == want {
						return true
					}
				}
				return false
			})
			end.by()
			<-n.gone
			_ = n.cmd.Wait()
			n = opens()
			require.Equal(t, want+"\n", n.text())
		}
		n.quiet()
	})
}
