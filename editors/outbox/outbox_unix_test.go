//go:build unix

package outbox

import (
	"os"
	"testing"

	"syscall"

	"github.com/stretchr/testify/require"
)

func TestSockets(t *testing.T) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	inOrder(t, os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out"))
}
