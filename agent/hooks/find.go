package hooks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	maxBytes = 1 << 20 // of one file
	maxFiles = 512     // files that a Finder remembers

	// A file's time tells two versions apart only if they are further apart than this: some clocks count in seconds.
	settled = 2 * time.Second
)

// A Finder finds hooks. It reads a file again only if the file has changed. Several goroutines may use it.
type Finder struct {
	always []string // files that count for every workspace

	mu    sync.Mutex
	known map[string]state // guarded by mu; by path
}

// A state is a file as it was read.
type state struct {
	info  fs.FileInfo // nil: do not rely on the rest
	hooks []Hook
	err   error
}

// NewFinder returns a Finder for a user's home directory; "" for none. The agent looks there even if CURSOR_CONFIG_DIR names
// another place for its other configuration.
func NewFinder(home string) *Finder {
	return newFinder(systemFile(), home)
}

func newFinder(system, home string) *Finder {
	f := &Finder{known: map[string]state{}}
	if system != "" {
		f.always = append(f.always, system)
	}
	if home != "" {
		f.always = append(f.always, filepath.Join(home, ".cursor", "hooks.json"), filepath.Join(home, ".claude", "settings.json"))
	}
	return f
}

// systemFile is where an administrator configures hooks.
func systemFile() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/Cursor/hooks.json"
	case "windows":
		if data := os.Getenv("ProgramData"); data != "" {
			return filepath.Join(data, "Cursor", "hooks.json")
		}
		return ""
	}
	return "/etc/cursor/hooks.json"
}

// Find returns the hooks of agents that run in a directory, as of now.
func (f *Finder) Find(dir string) Set {
	var set Set
	files := append(f.always[:len(f.always):len(f.always)],
		filepath.Join(dir, ".cursor", "hooks.json"),
		filepath.Join(dir, ".claude", "settings.json"),
		filepath.Join(dir, ".claude", "settings.local.json"))
	seen := map[string]bool{}
	for _, file := range files {
		if seen[file] { // the workspace is the home directory
			continue
		}
		seen[file] = true
		list, err := f.hooksOf(file)
		if err != nil {
			set.Unreadable = append(set.Unreadable, Unreadable{file, err})
		}
		for _, h := range list {
			set.Any = true
			set.AfterEdit = set.AfterEdit || h.AfterEdit
		}
		set.Hooks = append(set.Hooks, list[:min(len(list), maxHooks)]...)
	}
	return set
}

// hooksOf returns a file's hooks; none if there is no file.
func (f *Finder) hooksOf(file string) ([]Hook, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, plain(err)
	}
	f.mu.Lock()
	was := f.known[file]
	f.mu.Unlock()
	if was.info != nil && os.SameFile(was.info, info) && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime()) &&
		was.info.Mode() == info.Mode() {
		return was.hooks, was.err
	}
	now := read(file, info)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= maxFiles {
		clear(f.known)
	}
	f.known[file] = now
	return now.hooks, now.err
}

// read reads a file whose information is info.
func read(file string, info fs.FileInfo) state {
	if !info.Mode().IsRegular() { // opening a device may do something
		return state{err: errors.New("it is not a file")}
	}
	began := time.Now()
	opened, err := os.OpenFile(file, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return state{err: plain(err)}
	}
	defer opened.Close()
	if info, err = opened.Stat(); err != nil {
		return state{err: plain(err)}
	}
	if !info.Mode().IsRegular() {
		return state{err: errors.New("it is not a file")}
	}
	data, err := io.ReadAll(io.LimitReader(opened, maxBytes+1))
	if err != nil {
		return state{err: plain(err)}
	}
	s := state{info: info}
	if began.Sub(info.ModTime()) < settled {
		s.info = nil
	}
	if len(data) > maxBytes {
		s.err = fmt.Errorf("it is larger than %d bytes", maxBytes)
		return s
	}
	s.hooks, s.err = parse(file, data)
	return s
}

// plain returns an error without the path, which stands beside it.
func plain(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
