//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestKillOrphans(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	mark := fmt.Sprintf("AGENT_TEST_MARK=%d", os.Getpid())
	cmd.Env = append(os.Environ(), mark)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	require.Equal(t, 0, KillOrphans(mark+"0"))
	require.Equal(t, 1, KillOrphans(mark))
	require.ErrorContains(t, cmd.Wait(), "killed")
}

// TestOrphansOfACommand: a shell ends before its commands in the background.
func TestOrphansOfACommand(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("the system hides the environment of its own programs")
	}
	mark := fmt.Sprintf("AGENT_TEST_MARK=orphans%d", os.Getpid())
	cmd := exec.Command("sh", "-c", "(sleep 100) & (sleep 100) & read line; exit 0")
	cmd.Env = append(os.Environ(), mark)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { unix.Kill(-cmd.Process.Pid, unix.SIGKILL) })
	require.Eventually(t, func() bool { return len(marked(mark)) >= 3 }, 10*time.Second, time.Millisecond)
	require.Empty(t, Orphans(mark), "the shell is there, and is ours")
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	left := marked(mark)
	for _, pid := range Orphans(mark) {
		require.Contains(t, left, pid)
	}
	require.NotEmpty(t, Orphans(mark))
	require.Empty(t, Orphans(mark+"0"))
}
