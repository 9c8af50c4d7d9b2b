// Package endpoint says where a user's daemon is and who it is: its folders, the lock that makes a process the daemon, the
// socket beside it, how a build hands both to the next, and the log file. The process that holds the lock owns the socket;
// clients only look. Nothing here trusts a folder or file of another user: owner, mode and kind are checked before a read,
// and every read is bounded and never waits.
//
// A daemon whose client is of a newer build gives way when no turn runs: it closes everything but the lock and the listening
// socket and becomes the newer program by exec (inherit_unix.go). So there is always a daemon, and an older
// client cannot start another of its own kind in between. Before that it asks the program for its version
// (successor.go) and stays if the answer is wrong. Builds have a total order (daemon/endpoint/build.go), so no
// two of them replace each other in turn. The lock file says how far its holder is: nothing yet, serving, or stopped on
// purpose. If a client's environment names another socket than the daemon's did, the note beside the database leads the client
// to the daemon (FindDaemon).
package endpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// Dirs says where a user's folders and files are. All paths are absolute; none of them need exist.
type Dirs struct {
	State  string // a folder, for this program alone
	Config string // a file
	Socket string

	socketChosen bool // Socket is CURSORD_SOCKET's
}

// Database returns the path of the database.
func (d Dirs) Database() string { return filepath.Join(d.State, "cursord.db") }

// Log returns the path of the log of a daemon that was started in the background.
func (d Dirs) Log() string { return filepath.Join(d.State, "cursord.log") }

// FindDirs finds them by the environment: CURSORD_STATE_DIR, CURSORD_CONFIG and CURSORD_SOCKET, or else the platform's usual
// places. It creates nothing. Its errors say which variable to set or to correct.
func FindDirs() (Dirs, error) {
	xdg.Reload()
	var d Dirs
	var err error
	if d.State, err = place("CURSORD_STATE_DIR", "XDG_STATE_HOME", xdg.StateHome, "cursord"); err != nil {
		return Dirs{}, err
	}
	if d.Config, err = place("CURSORD_CONFIG", "XDG_CONFIG_HOME", xdg.ConfigHome, filepath.Join("cursord", "config.toml")); err != nil {
		return Dirs{}, err
	}
	if d.Socket, err = socketPath(d.State); err != nil {
		return Dirs{}, err
	}
	d.socketChosen = os.Getenv("CURSORD_SOCKET") != ""
	return d, nil
}

// FindDaemon is FindDirs for clients. If no daemon serves at that socket and CURSORD_SOCKET is not set, it follows the note
// of a daemon that has the same database but was started in another environment, for example without XDG_RUNTIME_DIR.
func FindDaemon() (Dirs, error) {
	d, err := FindDirs()
	if err != nil || d.socketChosen {
		return d, err
	}
	note, err := d.readNote()
	path := strings.TrimSpace(note)
	serves := func(socket string) bool { return Serving(socket) && Running(socket) }
	if err == nil && path != d.Socket && filepath.IsAbs(path) && !serves(d.Socket) && serves(path) {
		d.Socket = path
	}
	return d, nil
}

// note is the file in which the daemon that has the database writes its socket.
func (d Dirs) note() string { return filepath.Join(d.State, "socket") }

// readNote returns the note's text, if no other user can have written it.
func (d Dirs) readNote() (string, error) {
	if err := d.checkState(); err != nil {
		return "", err
	}
	f, err := OpenOwn(d.note())
	if err != nil {
		return "", err
	}
	defer f.Close()
	note, err := io.ReadAll(io.LimitReader(f, maxNote))
	return string(note), err
}

// maxNote bounds what is read of the note and of the lock's file, in bytes.
const maxNote = 4 << 10

// NoteSocket writes that the daemon with d's database listens at d.Socket.
func (d Dirs) NoteSocket() error {
	fresh := d.note() + ".new"
	if err := os.WriteFile(fresh, []byte(d.Socket+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, d.note())
}

// place returns the value of the variable own, or else name below the folder in the variable base, or else below home.
func place(own, base, home, name string) (string, error) {
	if v := os.Getenv(own); v != "" {
		return absolutePlace(own, v)
	}
	// A relative base is ignored. Without a home the library would use "/".
	if userHome, err := os.UserHomeDir(); !filepath.IsAbs(os.Getenv(base)) && (err != nil || !filepath.IsAbs(userHome)) {
		return "", fmt.Errorf("no home directory: set HOME, %s or %s", base, own)
	}
	return filepath.Join(home, name), nil
}

// absolutePlace returns an environment variable's value. It must be an absolute path, because the daemon and its clients run
// in different folders.
func absolutePlace(name, value string) (string, error) {
	if why := paths.TooLong(value); why != "" {
		return "", fmt.Errorf("%s: %s", name, why)
	}
	if !filepath.IsAbs(value) {
		return "", fmt.Errorf("%s is %q; it must be an absolute path", name, value)
	}
	return filepath.Clean(value), nil
}

// socketPath returns where the user's daemon listens: CURSORD_SOCKET; or the user's runtime directory, if it is the user's
// alone; or below the state folder. If that path is too long, or on a file system that may not take sockets, it is a folder
// of ours below the directory for temporary files.
func socketPath(state string) (string, error) {
	if v := os.Getenv("CURSORD_SOCKET"); v != "" {
		path, err := absolutePlace("CURSORD_SOCKET", v)
		if err == nil && len(path) > maxSocketPath {
			err = fmt.Errorf("CURSORD_SOCKET is %d bytes long; the system allows %d", len(path), maxSocketPath)
		}
		return path, err
	}
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	hasRuntime := filepath.IsAbs(runtime) && checkPrivate(runtime, 0o077, "XDG_RUNTIME_DIR") == nil
	path := filepath.Join(state, "run", "d.sock")
	if hasRuntime {
		path = filepath.Join(runtime, "cursord", "d.sock")
	}
	if len(path) <= maxSocketPath && (hasRuntime || filestat.RemoteFS(existing(state)) == "") {
		return path, nil
	}
	sum := sha256.Sum256([]byte(path))
	path = filepath.Join(tempDir(), "cursord"+uidSuffix(), hex.EncodeToString(sum[:8])+".sock")
	if len(path) > maxSocketPath {
		return "", errors.New("no path for the socket is short enough: set CURSORD_SOCKET")
	}
	return path, nil
}

// existing returns path, or the nearest existing folder above it.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// MakeState creates the folder State for this user alone. It refuses an existing one that others can write to.
func (d Dirs) MakeState() error {
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		return fmt.Errorf("%w: allow it, or choose another folder with CURSORD_STATE_DIR", err)
	}
	return d.checkState()
}

// checkState returns an error unless State is a folder that only this user can write to.
func (d Dirs) checkState() error {
	// A link to another disk is the user's choice; the folder that it leads to must be private.
	dir, err := filepath.EvalSymlinks(d.State)
	if err != nil {
		return err
	}
	return checkPrivate(dir, 0o022, "CURSORD_STATE_DIR")
}
