//go:build unix

package endpoint

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile opens and locks a file, and writes our process id into it for people to read. Processes that we start do not
// inherit the lock.
func lockFile(path string) (*os.File, error) {
	f, err := openOwnAs(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(forkTime); ; {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == unix.EWOULDBLOCK && (signerGone(f) || onlyLookedAt(f)) && time.Now().Before(end) {
			time.Sleep(time.Millisecond)
		} else if err != unix.EINTR {
			break
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrRunning
	}
	if err == nil {
		err = signLock(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// forkTime is how long a child process that a killed daemon was just starting may still hold the daemon's lock.
const forkTime = 2 * time.Second

// signerGone reports whether the process that signed a lock has ended.
func signerGone(f *os.File) bool {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	pid, err := strconv.Atoi(line)
	return err == nil && pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// onlyLookedAt reports whether f cannot be locked only because a process is in isLocked.
func onlyLookedAt(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil && unix.Flock(int(f.Fd()), unix.LOCK_UN) == nil
}

// isLocked reports whether a daemon has locked f. It takes a shared lock for a moment, and no daemon can start in that
// moment.
func isLocked(f *os.File) bool {
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

func isSocket(info os.FileInfo) bool { return info.Mode()&os.ModeSocket != 0 }

// sameUser returns ErrForeign unless the process at the other end runs as this user.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var uidErr error
	if err := raw.Control(func(fd uintptr) { uid, uidErr = peerUID(int(fd)) }); err != nil {
		return err
	}
	if uidErr != nil {
		return uidErr
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("the process that listens is user %d's, not yours (%d): %w", uid, os.Geteuid(), ErrForeign)
	}
	return nil
}

// NotListening reports whether a Dial failed because nobody listens: no daemon runs, or it was killed.
func NotListening(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED)
}

// Backlogged reports whether a Dial failed because the daemon does not accept clients at the moment.
func Backlogged(err error) bool { return errors.Is(err, unix.EAGAIN) }
