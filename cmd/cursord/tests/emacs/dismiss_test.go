//go:build unix

package emacs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsDismisses presses the key of the review that takes files outside of the workspace off the list; files in it stay.
func TestEmacsDismisses(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		lib := w.Folder("lib")
		for _, name := range []string{filepath.Join(lib, "one"), filepath.Join(lib, "two"), filepath.Join(lib, "three"), w.Path("in")} {
			require.NoError(t, os.WriteFile(name, []byte("a\n"), 0o600))
		}
		w.Plays(world.Lines(world.Edits("1", "../lib/one", "a\n", "b\n"), world.Edits("2", "../lib/two", "a\n", "b\n"),
			world.Edits("3", "../lib/three", "a\n", "b\n"), world.Edits("4", "in", "a\n", "b\n"))...)
		w.Start()
		c := w.Opens()
		c.Turn(nil)
		e := emacsOpens(w, t, bin, "")
		e.command("cursord-review")
		shown := func(files ...string) {
			e.t.Helper()
			e.poll("the files of the review", func() bool {
				var have []string
				for line := range strings.Lines(e.buffer(emacsReview)) {
					if name, is := strings.CutPrefix(line, "+++ b/"); is {
						have = append(have, filepath.Base(strings.TrimSpace(name)))
					}
				}
				return slices.Equal(files, have)
			})
		}
		at := func(name string) {
			e.t.Helper()
			e.eval(`(progn (goto-char (point-min)) (re-search-forward "^[+][+][+] b/.*%s") (beginning-of-line) nil)`, name)
		}
		shown("one", "three", "two", "in")
		at("in$")
		require.Equal(t, "in is in the workspace: accept or reject it",
			e.eval(`(condition-case err (progn (execute-kbd-macro (kbd "k")) nil) (user-error (error-message-string err)))`))
		at("one")
		e.keys("k")
		shown("three", "two", "in")
		e.poll("what was done", func() bool { return strings.Contains(e.messages(), "cursord: dismissed 1 file\n") })
		e.keys("C-u k")
		shown("in")
		require.Equal(t, "b\n", w.Get("../lib/one"))
		require.Equal(t, []string{"in"}, world.Keys(c.Diffs()))
	})
}
