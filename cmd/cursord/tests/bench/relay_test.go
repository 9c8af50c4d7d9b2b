//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// bareRelay is what the daemon's speed is measured against: a program that runs an agent and copies its lines from the
// pipe to whoever connects to a unix socket, and does nothing else. What can be read without waiting is written at once.
//
//	bare-relay SOCKET AGENT ARGUMENT...
//
// Without an agent it copies what comes from such a socket to stdout: what a process between the two costs at least.
//
//	bare-relay SOCKET
func bareRelay() {
	err := error(nil)
	if len(os.Args) == 2 {
		err = copyToStdout(os.Args[1])
	} else {
		err = relayLines(os.Args[1], os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bare-relay:", err)
		os.Exit(1)
	}
}

func relayLines(socket string, argv []string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	agent := exec.Command(argv[0], argv[1:]...)
	agent.Stderr = os.Stderr
	pipe, err := agent.StdoutPipe()
	if err != nil {
		return err
	}
	if err := agent.Start(); err != nil {
		return err
	}
	from, to := bufio.NewReaderSize(pipe, 64<<10), bufio.NewWriterSize(conn, 64<<10)
	for {
		line, err := from.ReadSlice('\n')
		if _, err := to.Write(line); err != nil {
			return err
		}
		if rest, _ := from.Peek(from.Buffered()); err != nil || bytes.IndexByte(rest, '\n') < 0 {
			if err := to.Flush(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return agent.Wait()
		}
		if err != nil {
			return err
		}
	}
}

func copyToStdout(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(buf[:n]); err != nil {
			return err
		}
	}
}

// relayedTwice puts a process between a bare relay and the listener.
func relayedTwice(w *world.World) *listener {
	first := startRelay(w)
	cmd := exec.Command("bare-relay", relaySocket(w))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(w.T, err)
	require.Eventually(w.T, func() bool { _, err := os.Stat(relaySocket(w)); return err == nil }, world.Patience, time.Millisecond)
	require.NoError(w.T, cmd.Start())
	l := newListener(readOnly{out})
	l.pid = cmd.Process.Pid
	l.ended = func() {
		require.NoError(w.T, cmd.Wait())
		require.NoError(w.T, first.Wait())
	}
	return l
}

// piped reads the world's agent directly.
func piped(w *world.World) *listener {
	cmd := exec.Command(filepath.Join(w.Dir, "agent"), "-p", "--output-format", "stream-json", "--workspace", w.Root, "do it")
	cmd.Env, cmd.Dir, cmd.Stderr = w.Env(), w.Root, os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(w.T, err)
	require.NoError(w.T, cmd.Start())
	l := newListener(readOnly{out})
	l.pid = cmd.Process.Pid
	l.ended = func() {
		_, _ = io.Copy(io.Discard, l.lines)
		require.NoError(w.T, cmd.Wait())
	}
	return l
}

// readOnly is a connection to which nothing is written.
type readOnly struct{ io.ReadCloser }

func (readOnly) Write(p []byte) (int, error) { return 0, io.ErrClosedPipe }

// relayed starts a bare relay of the world's agent. The agent starts with the connection.
func relayed(w *world.World) *listener {
	cmd := startRelay(w)
	l := newListener(dials(w, relaySocket(w)))
	l.pid, l.ended = cmd.Process.Pid, func() { require.NoError(w.T, cmd.Wait()) }
	return l
}

func relaySocket(w *world.World) string { return filepath.Join(w.Dir, "r.sock") }

func startRelay(w *world.World) *exec.Cmd {
	os.Remove(relaySocket(w))
	cmd := exec.Command("bare-relay", relaySocket(w), filepath.Join(w.Dir, "agent"),
		"-p", "--output-format", "stream-json", "--workspace", w.Root, "do it")
	cmd.Env, cmd.Dir, cmd.Stderr = w.Env(), w.Root, os.Stderr
	require.NoError(w.T, cmd.Start())
	return cmd
}

// dials connects to a socket that another process is about to make.
func dials(w *world.World, socket string) net.Conn {
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			return conn
		}
		require.Less(w.T, time.Since(start), world.Patience, "%v", err)
	}
}

// A listener is a client that does little work itself, so that the measurement is about the program it reads from. It reads
// lines.
type listener struct {
	conn  io.ReadWriteCloser
	lines *bufio.Reader
	long  []byte // a line that did not fit into lines
	pid   int    // the process that it reads from, if it started it
	ended func() // waits for cmd

	session string // that it has opened by ACP, or ""
}

func newListener(conn io.ReadWriteCloser) *listener {
	return &listener{conn: conn, lines: bufio.NewReaderSize(conn, 256<<10)}
}

// listens connects a listener that has subscribed to the world's workspace.
func listens(w *world.World) *listener {
	return listensOn(w, dials(w, w.Socket()))
}

// listensByStdio connects a listener through "cursord stdio", as an editor does.
func listensByStdio(w *world.World) *listener {
	cmd := exec.Command("cursord", "stdio")
	cmd.Env, cmd.Dir, cmd.Stderr = w.Env(), w.Root, os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(w.T, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.T, err)
	require.NoError(w.T, cmd.Start())
	l := listensOn(w, world.Piped{ReadCloser: out, WriteCloser: in})
	l.pid, l.ended = cmd.Process.Pid, func() { require.NoError(w.T, cmd.Wait()) }
	return l
}

func listensOn(w *world.World, conn io.ReadWriteCloser) *listener {
	l := newListener(conn)
	l.calls("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true})
	l.calls("workspace/subscribe", world.Obj{"workspace": w.Root})
	return l
}

// calls sends a request and reads until its answer.
func (l *listener) calls(method string, params world.Obj) {
	l.asks(method, params)
	for !isAnswer(l.next()) {
	}
}

func (l *listener) asks(method string, params world.Obj) {
	if _, err := io.WriteString(l.conn, world.Request(1, method, params)+"\n"); err != nil {
		panic(err)
	}
}

func isAnswer(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)) }

// next returns the next line. It is valid until the next call.
func (l *listener) next() []byte {
	line, err := l.lines.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = l.lines.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	if err != nil {
		panic(err)
	}
	return line
}

// deltaOf returns the text of a line of the agent, the daemon or a peer, if it is a delta. The benchmarks' texts need no
// escapes in JSON.
func deltaOf(line []byte) ([]byte, bool) {
	if !bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":"item/delta"`)) && !bytes.HasPrefix(line, []byte(`{"type":"assistant"`)) &&
		!bytes.Contains(line[:min(len(line), 300)], []byte(`"agent_message_chunk"`)) {
		return nil, false
	}
	_, text, ok := bytes.Cut(line, []byte(`"text":"`))
	if !ok {
		return nil, false
	}
	return text[:bytes.IndexByte(text, '"')], true
}

// hears reads until so many bytes of text have come, and returns the times of the first and the last delta.
func (l *listener) hears(size int, each func(text []byte, at time.Time)) (first, last time.Time) {
	for size > 0 {
		text, ok := deltaOf(l.next())
		if !ok {
			continue
		}
		last = time.Now()
		if first.IsZero() {
			first = last
		}
		if size -= len(text); each != nil {
			each(text, last)
		}
	}
	return first, last
}

// leaves ends the listener, and the process that it started.
func (l *listener) leaves() {
	if l.ended == nil {
		l.conn.Close()
		return
	}
	if half, ok := l.conn.(world.Piped); ok {
		half.WriteCloser.Close() // which then ends
		for {
			if _, err := l.lines.ReadSlice('\n'); err != nil && err != bufio.ErrBufferFull {
				break
			}
		}
	}
	l.ended()
	l.conn.Close()
}
