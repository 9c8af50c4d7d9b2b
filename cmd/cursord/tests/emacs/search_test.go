//go:build unix

package emacs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsForkAndSearch forks a session of the list and the chat's own, and goes to a place that a search has found.
func TestEmacsForkAndSearch(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		w.Trusts()
		w.Plays(world.Streams("The Bär loses a wakeup."), world.Done)
		c := w.Joins()
		c.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
		first := c.Turn(world.Obj{"prompt": "why does it hang"})
		e := startEmacs(w, t, bin, emacsAnswers)
		e.eval(`(progn (cursord-sessions) (goto-char (point-min)) (search-forward "why does it hang") (call-interactively #'cursord-sessions-fork) nil)`)
		e.until("the fork in the chat", `(let ((ws (cursord-workspace-find))) (and ws (cursord-workspace-current ws) (not (equal "`+first.SessionID+`" (cursord-workspace-current ws)))))`)
		e.eval(`(progn (cursord-fork-session) nil)`)
		e.eval(`(progn (cursord-sessions) nil)`)
		e.until("two forks", `(with-current-buffer "*cursord sessions*" (= 2 (how-many "└ why does it hang (fork" (point-min) (point-max))))`)
		require.Equal(t, []any{"", "└ ", "  └ "}, e.eval(`(with-current-buffer "*cursord sessions*" (mapcar #'cdr (cursord--session-tree (mapcar #'car tabulated-list-entries))))`))
		require.Regexp(t, `(?s)^[^└]*  why does it hang *\n[^└]*  └ why does it hang \(fork\).*\n[^└]*    └ why does it hang \(fork`, e.buffer("*cursord sessions*"))

		e.eval(`(progn (cursord-search "LOSES bär") nil)`)
		require.Equal(t, "1", e.eval(`(with-current-buffer "*cursord search*" (number-to-string (how-many "The Bär loses a wakeup" (point-min) (point-max))))`))
		require.Equal(t, "Bär", e.eval(`(with-current-buffer "*cursord search*" (goto-char (point-min))
			(let ((m (text-property-search-forward 'face 'match t))) (buffer-substring-no-properties (prop-match-beginning m) (prop-match-end m))))`))
		e.eval(`(with-current-buffer "*cursord search*" (goto-char (point-max)) (forward-line -1) (call-interactively #'cursord-sessions-go) nil)`)
		e.until("the chat of the first session", `(equal "`+first.SessionID+`" (cursord-workspace-current (cursord-workspace-find)))`)
		require.Contains(t, e.eval(`(condition-case err (progn (cursord-search "…") "no error") (user-error (cadr err)))`), "no word")
	})
}
