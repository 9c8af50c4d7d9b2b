package term

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// pty returns both sides of a terminal.
func pty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// TestKeyboard: a line that was typed before a Drop is dropped, or is known by its number, whether it has been read or not.
func TestKeyboard(t *testing.T) {
	master, slave := pty(t)
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

// TestSpot: the terminal brings the cursor back where Enter was pressed, whoever has read that, and only there.
func TestSpot(t *testing.T) {
	t.Setenv("TERM", "xterm")
	master, slave := pty(t)
	k := NewKeyboard(slave)
	types := func(text string) {
		_, err := master.WriteString(text)
		require.NoError(t, err)
	}
	sized := func(rows uint16) {
		require.NoError(t, unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: 80}))
	}
	spot := func() Spot {
		s, begin := SpotOf(slave, 2)
		require.Equal(t, "\n\n\n\n\n\x1b[5A\x1b7", begin)
		return s
	}
	const back = "\x1b8\x1b[J"
	sized(24)
	first := spot()
	types("y")
	require.Empty(t, first.Back(), "letters move nothing down")
	types("\n")
	require.NoError(t, k.wait(nil))
	require.Equal(t, back, first.Back())
	second := spot()
	require.Empty(t, second.Back(), "that was before")
	line, _, err := k.Line()
	require.NoError(t, err)
	require.Equal(t, "y\n", line)
	require.Equal(t, back, first.Back())
	require.Empty(t, second.Back())
	sized(25)
	require.Empty(t, first.Back(), "the lines may be elsewhere now")

	sized(4)
	_, begin := SpotOf(slave, 2)
	require.Equal(t, "\n\n\n\x1b[3A\x1b7", begin, "all rows that there are")
	sized(2)
	_, begin = SpotOf(slave, 2)
	require.Empty(t, begin, "there is no room")
	sized(24)
	require.Empty(t, Spot{}.Back())
	_, begin = SpotOf(io.Discard, 2)
	require.Empty(t, begin)
}
