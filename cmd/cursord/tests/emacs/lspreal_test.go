//go:build unix

package emacs

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPInEmacs reviews by eglot, Emacs's client of LSP.
func TestLSPInEmacs(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w, before, after := world.BuiltinWorld(t)
		e := startEmacs(w, t, bin, `(progn
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
		e.eval(`(progn (undo-boundary) (undo) t)`)
		e.until("two hunks again", `(= (hunks) 2)`)
		require.Equal(t, before, e.eval(`(buffer-string)`))
		e.eval(`(run "cursord.acceptAll")`)
		e.until("no hunk", `(= (hunks) 0)`)
		require.Equal(t, after, e.eval(`(buffer-string)`))
		require.Equal(t, before, w.Get("f.txt"))
		e.eval(`(progn (save-buffer) t)`)
		require.Equal(t, after, w.Get("f.txt"))

		w.Plays(world.Done)
		e.eval(`(run "cursord.compose")`)
		e.until("the prompt's file", `(get-buffer "PROMPT.md")`)
		e.eval(`(with-current-buffer "PROMPT.md" (goto-char (point-min)) (insert "first line\nsecond line\n") (save-buffer) t)`)
		e.poll("the prompt to be sent", func() bool { return len(w.Runs()) == 2 })
		require.True(t, strings.HasSuffix(w.Runs()[1].Prompt, "</context>\n\nfirst line\nsecond line"), w.Runs()[1].Prompt)
		_, err := os.Stat(w.LspFile("PROMPT.md"))
		require.NoError(t, err)
	})
}
