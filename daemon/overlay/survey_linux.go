package overlay

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Look looks through a folder with all that is in it. It may stop at the first Foreign.
func Look(ctx context.Context, dir string) (Survey, error) {
	w := surveyor{left: 1, queue: []string{dir}, uid: uint32(os.Getuid()), gid: uint32(os.Getgid())}
	w.more.L = &w.mu
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return Survey{}, &fs.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if st.Uid != w.uid || st.Gid != w.gid {
		return Survey{Foreign: dir}, nil
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
		dirs, gits, foreign, err := w.read(dir)
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
		w.more.Broadcast()
		w.mu.Unlock()
	}
}

// read looks at what is in one folder.
func (w *surveyor) read(dir string) (dirs, gits []string, foreign string, err error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, "", nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil, "", nil // nobody can change anything in it
	}
	if err != nil {
		return nil, nil, "", err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, nil, "", err
	}
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(int(f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue // it is gone
		}
		full := filepath.Join(dir, name)
		if st.Uid != w.uid || st.Gid != w.gid {
			return nil, nil, full, nil
		}
		switch isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR; {
		case isDir:
			dirs = append(dirs, full)
		case name == ".git":
			gits = append(gits, full)
		}
	}
	return dirs, gits, "", nil
}
