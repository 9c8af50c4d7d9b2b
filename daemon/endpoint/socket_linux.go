package endpoint

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

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

// PeerProcess returns the id of the process that made a connection of a Listener; 0 if the system does not say.
func PeerProcess(conn net.Conn) int {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) { // if it fails, the connection is gone
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
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
