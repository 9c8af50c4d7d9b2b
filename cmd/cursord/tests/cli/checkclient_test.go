//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cursord/cmd/cursord/tests/world"

	"github.com/stretchr/testify/require"
)

// checkClient runs one play, or all for "", against a client. It returns the output and the exit status.
func checkClient(t *testing.T, play string, command ...string) (string, int) {
	t.Helper()
	args := []string{"check-client", "--limit", "2m"}
	if play != "" {
		args = append(args, "--only", play)
	}
	cmd := exec.Command("cursord", append(append(args, "--"), command...)...)
	temp := t.TempDir()
	short, err := os.MkdirTemp("", "k") // a socket's path is limited
	require.NoError(t, err)
	defer os.RemoveAll(short)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + temp, "TMPDIR=" + short}
	var said, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &errs
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.Empty(t, errs.String())
	left, err := os.ReadDir(short)
	require.NoError(t, err)
	require.Empty(t, left)
	return said.String(), cmd.ProcessState.ExitCode()
}

// TestCheckClient runs the plays against correct clients, and against a client with each of the mistakes that the check
// detects.
func TestCheckClient(t *testing.T) {
	t.Parallel()
	client := filepath.Join(t.TempDir(), "client")
	out, err := exec.Command("go", "build", "-o", client, "./testdata/checkedclient").CombinedOutput()
	require.NoError(t, err, "%s", out)
	tests := []struct {
		mistake, play, said string
	}{
		{"no after", "crash", "subscribed again without after"},
		{"no epoch", "crash", "it would not notice another database"},
		{"ahead", "crash", "and the highest seq that it had got was"},
		{"again", "crash", "started its turn a second time"},
		{"ends", "crash", "did not learn how its turn ended"},
		{"no reset", "replaced", "holds turn the-turn, which does not exist"},
		{"leaves", "slow", "it ended before it learned how its turn ended"},
		{"impatient", "slow", "sent turn/wait again while the answer was still to come"},
		{"strict", "later", "it failed: exit status 3"},
		{"no rev", "unsaved", "sent diff/reject without rev"},
		{"no edits", "unsaved", "did not make the edits in greeting.txt that diff/reject was answered with"},
		{"other text", "unsaved", "the text of version 4 is not what the edits of diff/reject make of version 3"},
		{"version", "unsaved", "document/didChange has version 3 after 3"},
		{"unknown method", "examples", "turn/sing was refused: no such method"},
		{"wrong parameter", "examples", "turn/cancel was refused: turnId: must be a string"},
		{"not open", "examples", "document/didClose did nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.mistake, func(t *testing.T) {
			t.Parallel()
			said, status := checkClient(t, tt.play, client, tt.mistake)
			require.Contains(t, said, tt.said)
			require.Equal(t, 1, status)
		})
	}
	for _, right := range [][]string{{client}, {client, "by stdio"}} {
		t.Run("right "+strings.Join(right[1:], ""), func(t *testing.T) {
			t.Parallel()
			said, status := checkClient(t, "", right...)
			require.Equal(t, 6, strings.Count(said, " ok "), "%s", said)
			require.NotContains(t, said, "  - ")
			require.Zero(t, status)
		})
	}
}

// TestCheckClientOfReadme checks that the script for authors of clients makes no mistake. When its daemon ends, it says so
// and fails.
func TestCheckClientOfReadme(t *testing.T) {
	t.Parallel()
	python := world.Program(t, "python3")
	script := filepath.Join(t.TempDir(), "client.py")
	require.NoError(t, os.WriteFile(script, []byte(strings.Join(codeBlocks(t, "rpc/README.md", "python"), "")), 0o600))
	said, status := checkClient(t, "", python, script)
	require.Equal(t, 6, strings.Count(said, " ok "), "%s", said)
	require.Equal(t, 2, strings.Count(said, "it ended with a failure"), "%s", said)
	require.Zero(t, status)
}
