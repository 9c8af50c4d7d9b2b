//go:build unix

package emacs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsKnowsTheFolder opens a file of a folder that the daemon knows, and in which nothing is left to review: Emacs reports the file, and
// follows what an agent writes.
func TestEmacsKnowsTheFolder(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{3: "agent 3\n"})
		w := world.New(t)
		w.Put("f", before)
		w.Start()
		c := w.Opens()
		c.Turn(nil)
		e := startEmacs(w, t, bin, `(cursord-mode 1)`)
		e.find("f")
		e.until("it reports the file", `(with-current-buffer "f" (and (featurep 'cursord-document) (cursord-document) (cursord-document-named (cursord-document))))`)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.CursordOK("run", "go")
		e.untilText("f", after)
		e.pending("f", 1)
		e.quiet()
	})
}

// TestEmacsNoticesADaemon opens files before a daemon runs. It connects when one begins, and then follows the folders that the daemon knows. The
// folder of the daemon's socket, and the one above it, are made by the daemon.
func TestEmacsNoticesADaemon(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) { noticesADaemon(t, bin, "") })
}

// TestEmacsNoticesADaemonWhoseFolderComesAtOnce: the socket's folder comes after Emacs has looked for it, and before it watches the one above.
func TestEmacsNoticesADaemonWhoseFolderComesAtOnce(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		noticesADaemon(t, bin, `
(advice-add 'file-directory-p :around
            (lambda (is name)
              (let ((found (funcall is name))
                    (dir (file-name-directory (getenv "CURSORD_SOCKET"))))
                (when (and (equal name dir) (not found))
                  (with-file-modes #o700 (make-directory dir t)))
                found)))`)
	})
}

func noticesADaemon(t *testing.T, bin, init string) {
	before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{3: "agent 3\n"})
	w := world.New(t)
	w.PutAll(world.Tree{"f": before, ".git/HEAD": ""})
	socket, cursord := w.LateDaemon()
	e := startEmacs(w, t, bin, fmt.Sprintf(`(progn (setenv "CURSORD_SOCKET" %q) %s (cursord-mode 1))`, socket, init))
	e.find("f")
	e.until("an answer", `(and (featurep 'cursord-first) cursord--watch)`)
	require.Nil(t, e.eval(`(and (featurep 'cursord-connection) (cursord-connection-to nil))`))
	w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
	cursord("run", "go")
	e.untilText("f", after)
	e.pending("f", 1)
	e.eval(`(progn (cursord-mode -1) nil)`)
	require.Nil(t, e.eval(`cursord--watch`))
	e.quiet()
	cursord("stop", "--force")
}

// TestEmacsNoticesAFoldersFirstTurn has a file open in a folder that a running daemon does not know. A turn that is started elsewhere is the folder's
// first: Emacs follows it without a key.
func TestEmacsNoticesAFoldersFirstTurn(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{3: "agent 3\n"})
		w := world.New(t)
		w.Put("f", before)
		w.Start()
		e := startEmacs(w, t, bin, `(progn (setq cursord--look-idle 1000000) (cursord-mode 1))`)
		e.find("f")
		e.until("an answer", `(and (featurep 'cursord-first) cursord--watch)`)
		require.Nil(t, e.eval(`(and (featurep 'cursord-connection) (cursord-connection-to nil))`))
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.CursordOK("run", "--trust", "go")
		e.untilText("f", after)
		e.pending("f", 1)
		e.quiet()
	})
}
