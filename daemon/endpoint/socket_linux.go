package endpoint

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// peerUID returns the user of the process at the other end of a unix socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// A Peer is the process that made a connection of a Listener.
type Peer struct {
	PID   int // 0: the system does not say
	fd    int // stays that process, whoever gets its id; 0: the system has no such
	began string
}

// PeerOf returns the process at the other end. The caller must close it.
func PeerOf(conn net.Conn) (p Peer) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return p
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return p
	}
	_ = raw.Control(func(fd uintptr) { // if it fails, the connection is gone
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return
		}
		p.PID = int(cred.Pid)
		peer, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		switch err {
		case nil:
			p.fd = peer
		case unix.ENOPROTOOPT: // Linux before 6.5
			p.began = beginning(p.PID)
		}
	})
	return p
}

// Ended reports whether the process has ended: its id may be another's.
func (p Peer) Ended() bool {
	if p.fd == 0 {
		return p.began == "" || beginning(p.PID) != p.began
	}
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if err != unix.EINTR {
			return err != nil || n > 0
		}
	}
}

// Close frees what p holds.
func (p Peer) Close() {
	if p.fd != 0 {
		unix.Close(p.fd)
	}
}

// beginning returns when a process began, by the system's own clock; "" if there is none.
func beginning(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 20 {
		return ""
	}
	return f[19]
}

// checkDaemon returns an error unless a process is this user's, runs cursord and has the lock open.
func checkDaemon(pid int, lock *os.File) error {
	dir := fmt.Sprintf("/proc/%d", pid)
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := checkOwner(fmt.Sprintf("process %d", pid), info); err != nil {
		return err
	}
	program, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil {
		return err
	}
	if !isOurProgram(program) {
		return fmt.Errorf("%w: it runs %s", errNoDaemon, program)
	}
	own, err := lock.Stat()
	if err != nil {
		return err
	}
	open, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return err
	}
	for _, fd := range open {
		if info, err := os.Stat(filepath.Join(dir, "fd", fd.Name())); err == nil && os.SameFile(own, info) {
			return nil
		}
	}
	return errNoDaemon
}
