package overlay

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Look looks through folders with all that is in them. It may stop at the first Foreign. It calls enter, from several goroutines, before it
// reads a folder.
func Look(ctx context.Context, dirs []string, enter func(dir string)) (Survey, error) {
	w := surveyor{left: len(dirs), queue: slices.Clone(dirs), uid: uint32(os.Getuid()), gid: uint32(os.Getgid()), enter: enter}
	w.more.L = &w.mu
	for _, dir := range dirs {
		var st unix.Stat_t
		if err := unix.Lstat(dir, &st); err != nil && !gone(err) {
			return Survey{}, &fs.PathError{Op: "lstat", Path: dir, Err: err}
		} else if err == nil && (st.Uid != w.uid || st.Gid != w.gid) {
			return Survey{Foreign: dir}, nil
		}
	}
	stop := context.AfterFunc(ctx, func() { w.end(ctx.Err()) })
	defer stop()
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		all.Go(w.work)
	}
	all.Wait()
	return w.found, w.err
}

// A surveyor looks at folders, several at a time.
type surveyor struct {
	uid, gid uint32
	enter    func(dir string)

	mu    sync.Mutex // guards all below
	more  sync.Cond
	queue []string
	left  int // folders that were queued and not yet read
	found Survey
	err   error
}

func (w *surveyor) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.left = 0
	w.more.Broadcast()
}

func (w *surveyor) work() {
	said := make([]byte, 32<<10)
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && w.left > 0 {
			w.more.Wait()
		}
		if w.left <= 0 {
			w.mu.Unlock()
			return
		}
		dir := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.mu.Unlock()
		dirs, gits, foreign, err := w.read(dir, said)
		if err != nil || foreign != "" {
			w.mu.Lock()
			w.found.Foreign = foreign
			w.mu.Unlock()
			w.end(err)
			return
		}
		w.mu.Lock()
		w.queue, w.found.GitFiles = append(w.queue, dirs...), append(w.found.GitFiles, gits...)
		if w.left > 0 { // nobody has ended it
			w.left += len(dirs) - 1
		}
		if w.left <= 0 || len(dirs) > 0 {
			w.more.Broadcast()
		}
		w.mu.Unlock()
	}
}

// read looks at what is in one folder. It is said in the buffer said.
func (w *surveyor) read(dir string, said []byte) (dirs, gits []string, foreign string, err error) {
	w.enter(dir)
	fd, err := openFolder(dir)
	switch {
	case gone(err):
		return nil, nil, "", nil
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, "", nil // nobody can change anything in it
	case err != nil:
		return nil, nil, "", &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Getdents(fd, said)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, nil, "", &fs.PathError{Op: "getdents", Path: dir, Err: err}
		case n == 0:
			return dirs, gits, "", nil
		}
		for b := said[:n]; len(b) > 0; {
			long := binary.NativeEndian.Uint16(b[16:])
			before, _, _ := bytes.Cut(b[19:long], []byte{0})
			if b = b[long:]; string(before) == "." || string(before) == ".." {
				continue
			}
			name := string(before)
			var st unix.Stat_t
			if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue // it is gone
			}
			switch isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR; {
			case st.Uid != w.uid || st.Gid != w.gid:
				return nil, nil, filepath.Join(dir, name), nil
			case isDir:
				dirs = append(dirs, filepath.Join(dir, name))
			case name == ".git":
				gits = append(gits, filepath.Join(dir, name))
			}
		}
	}
}

// gone reports whether an error says that there is no such folder, or something else in its place.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

func openFolder(dir string) (fd int, err error) {
	for {
		fd, err = unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
