package nowait

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestReader reads what comes, waits for it, and tells the end and a close as an ordinary reader does.
func TestReader(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer l.Close()
	ours, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	theirs, err := l.Accept()
	require.NoError(t, err)
	r := Reader(ours)
	require.NotEqual(t, io.Reader(ours), r)
	buf := make([]byte, 4)
	read := make(chan string)
	next := func() {
		n, err := r.Read(buf)
		read <- string(buf[:n])
		if err != nil {
			read <- err.Error()
		}
	}
	go next() // which waits
	_, err = io.WriteString(theirs, "abcdef")
	require.NoError(t, err)
	require.Equal(t, "abcd", <-read)
	go next()
	require.Equal(t, "ef", <-read)
	n, err := r.Read(nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, ours.SetReadDeadline(time.Now()))
	_, err = r.Read(buf)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, ours.SetReadDeadline(time.Time{}))
	require.NoError(t, theirs.Close())
	_, err = r.Read(buf)
	require.Equal(t, io.EOF, err)
	require.NoError(t, ours.Close())
	_, err = r.Read(buf)
	require.ErrorIs(t, err, net.ErrClosed)

	other := strings.NewReader("x")
	require.Equal(t, io.Reader(other), Reader(other))
}

// TestWriter writes to a pipe and to a socket until they are full, and nothing to what is closed or neither.
func TestWriter(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	for name, ends := range map[string][2]*os.File{"pipe": {in, out}, "socket": {os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")}} {
		t.Run(name, func(t *testing.T) {
			w := NewWriter(ends[1])
			require.Equal(t, 3, w.Write([]byte("abc")))
			require.Zero(t, w.Write(nil))
			written := 3
			for {
				n := w.Write(bytes.Repeat([]byte("x"), 1000))
				if written += n; n == 0 {
					break
				}
			}
			got := make([]byte, written)
			_, err := io.ReadFull(ends[0], got)
			require.NoError(t, err)
			require.Equal(t, "abcx", string(got[:4]))
			require.NoError(t, ends[0].Close())
			require.Zero(t, w.Write([]byte("nobody reads")))
			require.NoError(t, ends[1].Close())
			require.Zero(t, w.Write([]byte("closed")))
		})
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer file.Close()
	require.Nil(t, NewWriter(file))
	require.Nil(t, NewWriter(&bytes.Buffer{}))
	require.Zero(t, (*Writer)(nil).Write([]byte("x")))
}
