//go:build unix

package rpc

import (
	"io"
	"net"
	"syscall"
)

// An eagerWriter writes to a socket as much as there is room for, and never waits. Only one goroutine at a time may use it.
type eagerWriter struct {
	raw  syscall.RawConn
	try  func(fd uintptr) bool // writes p once, and stores in n how much of it was written
	p    []byte
	n    int
	next []byte // the outbox's buffer for the frame to write
}

// newEagerWriter returns nil if w is no socket: a pipe or a file may block.
func newEagerWriter(w io.Writer) *eagerWriter {
	if once, ok := w.(*closeOnce); ok {
		w = once.WriteCloser
	}
	conn, ok := w.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	e := &eagerWriter{raw: raw}
	e.try = func(fd uintptr) bool {
		e.n, _ = syscall.Write(int(fd), e.p)
		return true
	}
	return e
}

// write returns how much of p was written. If that is less than all, the next ordinary write tells why.
func (e *eagerWriter) write(p []byte) int {
	e.p, e.n = p, 0
	_ = e.raw.Write(e.try)
	e.p = nil
	return max(e.n, 0)
}
