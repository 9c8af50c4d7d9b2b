package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BuiltinWorld is a workspace in which an agent will change a file in two places.
func BuiltinWorld(t *testing.T) (w *World, before, after string) {
	w = New(t)
	before, after = Numbered(30, nil), Numbered(30, map[int]string{5: "agent 5\n", 25: ""})
	w.Put("f.txt", before)
	w.Plays(Lines(Edits("c1", "f.txt", before, after))...)
	_, stderr, status := w.Cursord("trust", w.Root)
	require.Zero(t, status, stderr)
	t.Cleanup(func() { w.Cursord("stop", "--force") })
	return w, before, after
}

// TestLSPInNeovim works with Neovim's built-in client: asks, reviews by code actions and undo, and writes a prompt.
func TestLSPInNeovim(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, before, after := BuiltinWorld(t)
		n := w.neovim(t, bin, "", "f.txt")
		n.lua(`
			vim.lsp.start({ name = "cursord", cmd = { "cursord", "lsp" }, root_dir = ..., init_options = { isolation = "copy" } })
			function run(command, ...)
				vim.lsp.buf_request(0, "workspace/executeCommand", { command = command, arguments = { ... } }, function() end)
			end
			function choose(title)
				vim.lsp.buf.code_action({ apply = true, filter = function(a) return vim.startswith(a.title, title) end })
			end`, w.Root)
		n.until("the server", `local c = vim.lsp.get_clients({ name = "cursord" })[1] return c ~= nil and c.initialized == true`)
		hunks := func(count int) {
			t.Helper()
			n.until("hunks", "return #vim.diagnostic.get(0) == ...", count)
		}
		n.lua(`run("cursord.ask", "change it")`)
		hunks(2)
		require.Contains(t, n.lua(`return vim.diagnostic.get(0)[1].message`), "1/2 +1 −1 · change it")
		n.ex("5")
		n.lua(`choose("Accept hunk 1/2")`)
		hunks(1)
		accepted := strings.Replace(before, "line 5\n", "agent 5\n", 1)
		n.untilText("f.txt", accepted)
		n.ex("undo")
		hunks(2)
		n.untilText("f.txt", before)
		n.lua(`run("cursord.acceptAll")`)
		hunks(0)
		n.untilText("f.txt", after)
		require.Equal(t, before, w.Get("f.txt"))
		n.ex("write")
		require.Equal(t, after, w.Get("f.txt"))

		w.Plays(Done)
		n.lua(`run("cursord.compose")`)
		n.until("the prompt's file", `return vim.endswith(vim.api.nvim_buf_get_name(0), "PROMPT.md")`)
		n.lua(`vim.api.nvim_buf_set_lines(0, 0, 1, false, { "first line", "second line" })`)
		n.ex("write")
		n.poll("the prompt to be sent", func() bool { return len(w.Runs()) == 2 })
		require.True(t, strings.HasSuffix(w.Runs()[1].Prompt, "</context>\n\nfirst line\nsecond line"), w.Runs()[1].Prompt)
	})
}

// TestLSPInEmacs does the same in Emacs's eglot.
func TestLSPInEmacs(t *testing.T) {
	t.Parallel()
	eachEmacs(t, func(t *testing.T, bin string) {
		w, before, after := BuiltinWorld(t)
		e := w.emacs(t, bin, `(progn
			(require 'eglot)
			(setq eglot-confirm-server-edits nil eglot-sync-connect 10)
			(defun run (command &rest args)
			  (jsonrpc-request (eglot-current-server) :workspace/executeCommand
			                   (list :command command :arguments (vconcat args))) t)
			(defun hunks () (flymake-start) (length (flymake-diagnostics)))
			(defun choose (title)
			  (eglot-execute (eglot-current-server)
			    (seq-find (lambda (a) (string-prefix-p title (plist-get a :title)))
			              (eglot-code-actions (point) (point) nil nil)))
			  t))`)
		e.eval(`(progn (find-file %q) (buffer-enable-undo)
			(eglot 'text-mode (cons 'transient %q) 'eglot-lsp-server
			       '("cursord" "lsp" :initializationOptions (:isolation "copy")) '("text")) t)`, w.Path("f.txt"), w.Root)
		e.until("the server", `(eglot-managed-p)`)
		e.eval(`(run "cursord.ask" "change it")`)
		e.until("two hunks", `(= (hunks) 2)`)
		e.eval(`(progn (goto-char (point-min)) (forward-line 4) (undo-boundary) (choose "Accept hunk 1/2") (undo-boundary) t)`)
		e.until("one hunk", `(= (hunks) 1)`)
		require.Equal(t, strings.Replace(before, "line 5\n", "agent 5\n", 1), e.eval(`(buffer-string)`))
		e.eval(`(progn (undo) t)`)
		e.until("two hunks again", `(= (hunks) 2)`)
		require.Equal(t, before, e.eval(`(buffer-string)`))
		e.eval(`(run "cursord.acceptAll")`)
		e.until("no hunk", `(= (hunks) 0)`)
		require.Equal(t, after, e.eval(`(buffer-string)`))
		require.Equal(t, before, w.Get("f.txt"))
		e.eval(`(progn (save-buffer) t)`)
		require.Equal(t, after, w.Get("f.txt"))

		w.Plays(Done)
		e.eval(`(run "cursord.compose")`)
		e.until("the prompt's file", `(get-buffer "PROMPT.md")`)
		e.eval(`(with-current-buffer "PROMPT.md" (goto-char (point-min)) (insert "first line\nsecond line\n") (save-buffer) t)`)
		e.poll("the prompt to be sent", func() bool { return len(w.Runs()) == 2 })
		require.True(t, strings.HasSuffix(w.Runs()[1].Prompt, "</context>\n\nfirst line\nsecond line"), w.Runs()[1].Prompt)
		_, err := os.Stat(w.LspFile("PROMPT.md"))
		require.NoError(t, err)
	})
}
