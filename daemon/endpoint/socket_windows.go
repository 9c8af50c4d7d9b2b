package endpoint

import (
	"errors"
	"net"
	"os"

	syswindows "golang.org/x/sys/windows"
)

// lockFile opens and locks a file, and writes our process id into it for people to read. It locks a byte far after the text,
// because on Windows nobody else can read a locked part.
func lockFile(path string) (*os.File, error) {
	f, err := openOwnAs(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	const flags = syswindows.LOCKFILE_EXCLUSIVE_LOCK | syswindows.LOCKFILE_FAIL_IMMEDIATELY
	err = syswindows.LockFileEx(syswindows.Handle(f.Fd()), flags, 0, 1, 0, lockedByte())
	if isTaken(err) {
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

// isLocked reports whether another process has locked f. It takes a shared lock for a moment, and no daemon can start in
// that moment.
func isLocked(f *os.File) bool {
	return isTaken(syswindows.LockFileEx(syswindows.Handle(f.Fd()), syswindows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockedByte()))
}

// lockedByte is the byte that is locked.
func lockedByte() *syswindows.Overlapped { return &syswindows.Overlapped{OffsetHigh: 1} }

func isTaken(err error) bool {
	return errors.Is(err, syswindows.ERROR_LOCK_VIOLATION) || errors.Is(err, syswindows.ERROR_IO_PENDING)
}

// isSocket judges by the size, because not every version of Windows has a file mode for unix sockets.
func isSocket(info os.FileInfo) bool { return !info.IsDir() && info.Size() == 0 }

// sameUser returns nil: on Windows the folder's access list keeps others out.
func sameUser(*net.UnixConn) error { return nil }

// NotListening reports whether a Dial failed because nobody listens: no daemon runs, or it was killed.
func NotListening(err error) bool {
	return errors.Is(err, syswindows.WSAECONNREFUSED) || errors.Is(err, syswindows.ERROR_FILE_NOT_FOUND) ||
		errors.Is(err, syswindows.ERROR_PATH_NOT_FOUND) || errors.Is(err, syswindows.WSAEINVAL)
}

// Backlogged reports whether a Dial failed because the daemon does not accept clients at the moment.
func Backlogged(err error) bool { return errors.Is(err, syswindows.WSAEWOULDBLOCK) }

// checkDaemon returns an error unless a process runs cursord.
func checkDaemon(pid int, _ *os.File) error {
	h, err := syswindows.OpenProcess(syswindows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return err
	}
	defer syswindows.CloseHandle(h)
	name := make([]uint16, syswindows.MAX_LONG_PATH)
	size := uint32(len(name))
	if err := syswindows.QueryFullProcessImageName(h, 0, &name[0], &size); err != nil {
		return err
	}
	if !isOurProgram(syswindows.UTF16ToString(name[:size])) {
		return errNoDaemon
	}
	return nil
}
