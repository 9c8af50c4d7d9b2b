package term

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestKeyboard: a line that was typed before a Drop is dropped, or is known by its number, whether it has been read or not.
func TestKeyboard(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer slave.Close()
	k := NewKeyboard(slave)
	types := func(text string) {
		_, err := master.WriteString(text)
		require.NoError(t, err)
	}
	line := func() (string, int) {
		text, drops, err := k.Line()
		require.NoError(t, err)
		return text, drops
	}

	types("one\n")
	text, drops := line()
	require.Equal(t, "one\n", text)
	require.Zero(t, drops, "it was read before the Drop, however late it is looked at")

	types("two\n")
	require.NoError(t, k.wait(nil))
	require.Equal(t, 1, k.Drop())
	require.Error(t, k.wait(&unix.Timeval{}))
	types("thr\x04ee\n") // at Ctrl-D the terminal hands over the line so far
	text, drops = line()
	require.Equal(t, "three\n", text)
	require.Equal(t, 1, drops)

	types("fo\x04")
	require.NoError(t, k.wait(nil))
	buf := make([]byte, 10)
	size, drops, err := k.read(buf)
	require.NoError(t, err)
	require.Equal(t, "fo", string(buf[:size]))
	require.Equal(t, 1, drops)

	require.Equal(t, 2, k.Drop())
	types("\x04")
	_, _, err = k.Line()
	require.Error(t, err, "the end")
}
