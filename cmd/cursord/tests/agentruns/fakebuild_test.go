//go:build unix

package agentruns

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestFakeAgentEnds ends a run from outside while a command of it is in the background.
func TestFakeAgentEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
		says   string
	}{{syscall.SIGINT, 130, "Aborting operation...\n"}, {syscall.SIGTERM, 143, ""}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			mark := "CURSORD_TEST_MARK=" + dir
			script := filepath.Join(dir, "script")
			require.NoError(t, os.WriteFile(script, []byte(`{"fake":"begin"}
{"fake":"background","command":"exec sleep 100","group":true}
{"fake":"finish"}
`), 0o600))
			cmd := exec.Command("cursord", "fake-agent", "--build", "2026.09.28", "-p", "--trust", "--workspace", dir, "--output-format", "stream-json", "hello")
			cmd.Env = append(os.Environ(), "CURSORD_FAKE_SCRIPT="+script, mark)
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(out)
			for n := 0; n < 4; n++ { // init, the prompt, the call's start and end
				require.True(t, lines.Scan())
			}
			both := func() bool { return len(world.Processes(t, mark)) == 2 } // one that is about to become "sleep" has no environment
			require.Eventually(t, both, world.Patience, 5*time.Millisecond)
			require.NoError(t, cmd.Process.Signal(tt.signal))
			require.False(t, lines.Scan(), "no result: %s", lines.Text())
			cmd.Wait()
			require.Equal(t, tt.code, cmd.ProcessState.ExitCode())
			require.Equal(t, tt.says, said.String())
			require.Eventually(t, func() bool { return len(world.Processes(t, mark)) == 0 }, world.Patience, 5*time.Millisecond)
		})
	}
}
