//go:build unix

package emacs

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsERT runs the tests in Emacs Lisp, one Emacs for each file. Each test has a daemon of its own.
func TestEmacsERT(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(world.Top("editors", "emacs", "test", "*-tests.el"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".el"), func(t *testing.T) {
			t.Parallel()
			anEmacs(t, func(t *testing.T, bin string) {
				w := world.New(t)
				ctx, cancel := context.WithTimeout(t.Context(), 4*world.Patience)
				defer cancel()
				cmd := exec.CommandContext(ctx, bin, "-Q", "--batch", fewCollections, "-L", compiledEmacs(t, bin), "-l", file,
					"-f", "ert-run-tests-batch-and-exit")
				cmd.Env = w.Env("LC_ALL=C.UTF-8", "TMPDIR="+w.Dir) // where the tests' own worlds are
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", world.End(string(out)))
				require.Regexp(t, regexp.MustCompile(`Ran \d+ tests, \d+ results as expected, 0 unexpected`), string(out))
			})
		})
	}
}
