//go:build unix

package emacs

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsERT runs the tests that are written in Emacs Lisp; each of them has a daemon of its own.
func TestEmacsERT(t *testing.T) {
	t.Parallel()
	eachEmacs(t, func(t *testing.T, bin string) {
		lisp := world.Top("editors", "emacs")
		w := world.New(t)
		ctx, cancel := context.WithTimeout(t.Context(), 4*world.Patience)
		defer cancel()
		args := []string{"-Q", "--batch", "-L", lisp}
		files, err := filepath.Glob(filepath.Join(lisp, "test", "*-tests.el"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			args = append(args, "-l", file)
		}
		cmd := exec.CommandContext(ctx, bin, append(args, "-f", "ert-run-tests-batch-and-exit")...)
		cmd.Env = w.Env("LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", world.End(string(out)))
		require.Regexp(t, regexp.MustCompile(`Ran \d+ tests, \d+ results as expected, 0 unexpected`), string(out))
	})
}
