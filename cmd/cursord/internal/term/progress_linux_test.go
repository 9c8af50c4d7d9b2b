package term

import (
	"bufio"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWaits shows on a terminal what takes long, and takes it away again; elsewhere it shows nothing.
func TestWaits(t *testing.T) {
	master, slave := pty(t)
	done := Waits(slave, "taking back")
	text, err := bufio.NewReader(master).ReadString('s')
	require.NoError(t, err)
	require.Equal(t, "\r\x1b[Ktaking back … 1 s", text)
	done()
	_, err = slave.WriteString("then\n")
	require.NoError(t, err)
	var all string
	for r := bufio.NewReader(master); ; {
		line, err := r.ReadString('n')
		require.NoError(t, err)
		if all += line; len(all) > 4 && all[len(all)-4:] == "then" {
			break
		}
	}
	require.Contains(t, all, "\r\x1b[Kthen", "the line is taken away")
	Waits(io.Discard, "x")()
}
