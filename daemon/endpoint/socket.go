package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ErrRunning is returned when another process is the daemon at a socket path: it holds the lock. It may be about to end, and
// no longer accept clients.
var ErrRunning = errors.New("a cursord daemon is already running")

// A Listener is where clients find the daemon: a listening unix socket and the lock beside it. The process that holds the
// lock is the daemon, and only it creates or removes the socket's file. The lock ends with the process, however that ends.
// Its file stays, because a deleted file could be locked twice.
type Listener struct {
	path     string
	lock     *os.File
	listener *net.UnixListener
	close    func() error // closes listener, once
	foreign  bool         // whoever started us created the socket, and removes it
	kept     *os.File     // the listener, for a successor; nil without one
}

func newListener(path string, lock *os.File, listener *net.UnixListener, foreign bool) *Listener {
	return &Listener{path: path, lock: lock, listener: listener, close: sync.OnceValue(listener.Close), foreign: foreign}
}

// Listen becomes the daemon at a socket path. It creates the path's folder for this user alone, and refuses one that others
// can write to. It returns ErrRunning if there is a daemon.
func Listen(path string) (*Listener, error) { return listen(path, 0o022) }

// Listen becomes the daemon at d.Socket, as the function Listen does. Unless CURSORD_SOCKET chose the folder, others may not
// even enter it.
func (d Dirs) Listen() (*Listener, error) {
	if d.socketChosen {
		return listen(d.Socket, 0o022)
	}
	return listen(d.Socket, 0o077)
}

func listen(path string, forbidden os.FileMode) (*Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	if err := checkPrivate(dir, forbidden, "CURSORD_SOCKET"); err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	listener, err := listenLocked(path)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	return newListener(path, lock, listener, false), nil
}

// listenLocked creates the socket, in the place of one that a killed daemon left. The lock must be held.
func listenLocked(path string) (*net.UnixListener, error) {
	err := checkSocket(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	// Release removes the file under the lock; the listener would do it at another time.
	listener.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, err
	}
	return listener, nil
}

// checkSocket returns an error unless there is a socket of this user's at a path.
func checkSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !isSocket(info):
		return fmt.Errorf("%s is not a socket: move it away", path)
	}
	return checkOwner(path, info)
}

// Accept waits for a client of the same user, and drops others.
func (e *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := e.listener.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if sameUser(conn) == nil {
			return conn, nil
		}
		conn.Close()
	}
}

// Addr returns the socket's address.
func (e *Listener) Addr() net.Addr { return e.listener.Addr() }

// Path returns the socket's path.
func (e *Listener) Path() string { return e.path }

// signLock writes only our process id into the lock's file.
func signLock(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f, os.Getpid())
	return err
}

// MarkServing notes in the lock's file that requests are answered from now on.
func (e *Listener) MarkServing() error {
	_, err := fmt.Fprintln(e.lock, servingMark)
	return err
}

// MarkStopped notes in the lock's file that the daemon ends on purpose.
func (e *Listener) MarkStopped() error {
	_, err := fmt.Fprintln(e.lock, stoppedMark)
	return err
}

// Lines of the lock's file, after the process id.
const (
	servingMark = "serving"
	stoppedMark = "stopped"
)

// Close stops accepting. The process stays the daemon until Release, so that no other daemon starts while this one still
// writes.
func (e *Listener) Close() error { return e.close() }

// Release closes the Listener, removes the socket and gives up the lock. Calling it again does nothing.
func (e *Listener) Release() error {
	err := e.Close()
	if e.lock == nil {
		return err
	}
	if e.kept != nil {
		e.kept.Close()
	}
	if !e.foreign {
		if removeErr := os.Remove(e.path); err == nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = removeErr
		}
		_ = os.Remove(NewFolder(e.path))
	}
	if closeErr := e.lock.Close(); err == nil {
		err = closeErr
	}
	e.lock = nil
	return err
}

// Dial connects to the daemon at a socket path. It returns ErrForeign if the socket, its folder or the listening process
// belongs to another user. NotListening and Backlogged classify the system's errors.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	if err := checkPrivate(filepath.Dir(path), 0o022, "CURSORD_SOCKET"); err != nil {
		return nil, err
	}
	if err := checkSocket(path); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := sameUser(conn.(*net.UnixConn)); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return conn, nil
}

// openLock opens the lock beside a socket, if no other user can have put it there.
func openLock(path string) (*os.File, error) {
	if err := checkPrivate(filepath.Dir(path), 0o022, "CURSORD_SOCKET"); err != nil {
		return nil, err
	}
	return OpenOwn(path + ".lock")
}

// Running reports whether a process is the daemon at a socket path; it may be about to end.
func Running(path string) bool {
	f, err := openLock(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return isLocked(f)
}

// LockHolder returns the process id that the last daemon at a socket path wrote, or 0. That process may have ended.
func LockHolder(path string) int {
	pid, err := strconv.Atoi(readLock(path)[0])
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// Serving reports whether the last daemon at a socket path has begun to answer requests. It may have ended since.
func Serving(path string) bool { return slices.Contains(readLock(path), servingMark) }

// Stopped reports whether the last daemon at a socket path has ended, or is about to end, on purpose.
func Stopped(path string) bool { return slices.Contains(readLock(path), stoppedMark) }

// readLock returns the lines of a lock's file; the first, the process id, may be empty.
func readLock(path string) []string {
	f, err := openLock(path)
	if err != nil {
		return []string{""}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxNote))
	if err != nil {
		return []string{""}
	}
	return strings.Split(string(b), "\n")
}

// KillDaemon kills process pid if it is the daemon at a socket path, and no other process: the lock must be held, name that
// process and be open in it, and the process must be this user's and run cursord. If the daemon has ended already, it
// returns nil. Then Stopped is true.
func KillDaemon(path string, pid int) error {
	lock, err := openLock(path)
	if err != nil {
		return err
	}
	defer lock.Close()
	if !isLocked(lock) || LockHolder(path) != pid {
		return nil
	}
	if pid <= 0 {
		return fmt.Errorf("the daemon has not written its process id to %s: find it with ps and end it", lock.Name())
	}
	process, err := os.FindProcess(pid) // on Linux this stays the same process, even if another gets its id later
	if err == nil {
		defer process.Release()
		err = checkDaemon(pid, lock)
	}
	if err == nil {
		markKilled(path)
		err = process.Kill()
	}
	switch {
	case err == nil, errors.Is(err, os.ErrProcessDone):
		return nil
	case !isLocked(lock): // it has just ended
		return nil
	}
	return fmt.Errorf("process %d, which %s names, was not killed: %w: find the process that has this file open, and end it", pid, lock.Name(), err)
}

// markKilled notes in the lock's file that the daemon is about to end on purpose. Without the note clients start another one at once.
func markKilled(path string) {
	if lock, err := openOwnAs(path+".lock", os.O_WRONLY|os.O_APPEND); err == nil {
		fmt.Fprintln(lock, stoppedMark)
		lock.Close()
	}
}

// errNoDaemon is returned by checkDaemon for a process that is not the daemon.
var errNoDaemon = errors.New("it is not the daemon that holds the lock")

// isOurProgram reports whether a program's file has the name cursord, or the name of this program.
func isOurProgram(file string) bool {
	name := filepath.Base(file)
	own, err := os.Executable()
	return strings.HasPrefix(name, "cursord") || err == nil && name == filepath.Base(own)
}
