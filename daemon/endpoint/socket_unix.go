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

// lockFile opens and locks a file, and writes our process id into it for people to read. The lock goes with the file
// and is not inherited by the processes that we start.
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

// forkTime is how long a daemon that was killed may leave its lock with a process that it was just about to start.
const forkTime = 2 * time.Second

// signerGone reports whether a lock is held for a process that is no more.
func signerGone(f *os.File) bool {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	pid, err := strconv.Atoi(line)
	return err == nil && pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// onlyLookedAt reports whether what keeps us from locking f is not a daemon but isLocked.
func onlyLookedAt(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil && unix.Flock(int(f.Fd()), unix.LOCK_UN) == nil
}

// isLocked reports whether a daemon has locked f. It takes a shared lock for a moment, in which no daemon can start.
func isLocked(f *os.File) bool {
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

func isSocket(info os.FileInfo) bool { return info.Mode()&os.ModeSocket != 0 }

// sameUser returns an ErrForeign unless the process at the other end runs as our user.
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

// NotListening reports whether a Dial failed because nobody listens: no daemon runs, or one was killed.
func NotListening(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED)
}

// Backlogged reports whether a Dial failed because a daemon is there and does not accept for the moment.
func Backlogged(err error) bool { return errors.Is(err, unix.EAGAIN) }
