//go:build unix

package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// handoverVariable is set for a daemon that replaces another: the file descriptors of the lock and of the listener, and
// whether it may remove the socket.
const handoverVariable = "CURSORD_HANDOVER"

// listenFirst is the file descriptor of the first socket that systemd passes.
const listenFirst = 3

// Inherit becomes the daemon at a socket that the process was started with: by the daemon that it replaces, or by systemd as
// sd_listen_fds(3) describes. It returns nil if there is none. Child processes do not inherit the socket.
func (d Dirs) Inherit(ctx context.Context) (*Listener, error) {
	handed := os.Getenv(handoverVariable)
	pid, count := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	for _, name := range []string{handoverVariable, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	switch {
	case handed != "":
		return takeOver(handed)
	case pid != strconv.Itoa(os.Getpid()) || count == "":
		return nil, nil
	case count != "1":
		return nil, fmt.Errorf("LISTEN_FDS is %s; it must be 1", count)
	}
	unix.CloseOnExec(listenFirst)
	listener, err := listenerOf(listenFirst)
	if err != nil {
		return nil, err
	}
	e, err := d.lockFor(ctx, listener)
	if err != nil {
		listener.Close()
	}
	return e, err
}

// lockFor makes a Listener of a socket that was passed. It waits until a daemon that still has the lock has ended.
func (d Dirs) lockFor(ctx context.Context, listener *net.UnixListener) (*Listener, error) {
	path := listener.Addr().String()
	if path != d.Socket {
		return nil, fmt.Errorf("the socket that was passed is %s, and clients look for %s: run \"cursord service install\" again", path, d.Socket)
	}
	if err := checkPrivate(filepath.Dir(path), 0o022, "CURSORD_SOCKET"); err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	for {
		lock, err := lockFile(path + ".lock")
		if err == nil {
			return newListener(path, lock, listener, true), nil
		}
		if !errors.Is(err, ErrRunning) {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (process %d), which does not own this socket: end it with \"cursord stop --force\"", err, LockHolder(path))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// takeOver makes a Listener of what Replace has left.
func takeOver(handed string) (*Listener, error) {
	var lockFD, listenerFD int
	var foreign bool
	if n, err := fmt.Sscanf(handed, "%d %d %t", &lockFD, &listenerFD, &foreign); n != 3 {
		return nil, fmt.Errorf("%s is %q: %v", handoverVariable, handed, err)
	}
	unix.CloseOnExec(lockFD)
	unix.CloseOnExec(listenerFD)
	listener, err := listenerOf(listenerFD)
	if err != nil {
		return nil, err
	}
	lock := os.NewFile(uintptr(lockFD), "lock")
	if err := signLock(lock); err != nil {
		listener.Close()
		lock.Close()
		return nil, err
	}
	return newListener(listener.Addr().String(), lock, listener, foreign), nil
}

// listenerOf returns the listener of a file descriptor, and closes the descriptor.
func listenerOf(fd int) (*net.UnixListener, error) {
	f := os.NewFile(uintptr(fd), "socket")
	l, err := net.FileListener(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("the socket that was passed: %w", err)
	}
	listener, ok := l.(*net.UnixListener)
	if !ok {
		return nil, errors.Join(errors.New("the socket that was passed is not a unix socket"), l.Close())
	}
	listener.SetUnlinkOnClose(false)
	return listener, nil
}

// Keep lets clients connect even after Close. Replace, or else Release, must follow.
func (e *Listener) Keep() (err error) {
	e.kept, err = e.listener.File()
	return err
}

// Replace turns the process into another program, which becomes the daemon at the same socket and under the same lock, with
// the same arguments and environment. It returns only if that fails. Call Keep and Close before.
func (e *Listener) Replace(program string) error {
	if err := e.Close(); err != nil {
		return err
	}
	fds := [2]int{int(e.lock.Fd()), int(e.kept.Fd())}
	for _, fd := range fds {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return err
		}
	}
	env := append(os.Environ(), fmt.Sprintf("%s=%d %d %t", handoverVariable, fds[0], fds[1], e.foreign))
	err := syscall.Exec(program, append([]string{program}, os.Args[1:]...), env)
	return fmt.Errorf("cannot run %s: %w", program, err)
}
