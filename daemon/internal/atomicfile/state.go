package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// MaxSize is the largest content that review keeps, in bytes.
const MaxSize = 64 << 20

// A State is the content of a path on disk at one moment.
type State struct {
	diffs.Content
	FileMode   fs.FileMode // the whole mode; Content has only what review keeps
	Unreadable string      // why Content says nothing: not a regular file, too large, unreadable; "" when it does
}

// Same reports whether both states are known and equal. Modes count only if both are known.
func (a State) Same(b State) bool {
	return a.Unreadable == "" && b.Unreadable == "" && a.Exists == b.Exists && a.Target == b.Target && bytes.Equal(a.Data, b.Data) &&
		(a.Mode == b.Mode || a.Mode == 0 || b.Mode == 0)
}

// UnreadableAt returns a text for people: the reason why the state of a path is unknown.
func (a State) UnreadableAt(path string) string { return paths.Shown(path) + ": " + a.Unreadable }

// Bytes returns the content; for a link, its target.
func (a State) Bytes() []byte {
	if a.Target != "" {
		return []byte(a.Target)
	}
	return a.Data
}

// ContentOf returns the content of a file or a link with this mode and these bytes.
func ContentOf(mode fs.FileMode, data []byte) diffs.Content {
	if mode&fs.ModeSymlink != 0 {
		return diffs.Content{Exists: true, Target: string(data)}
	}
	return diffs.Content{Exists: true, Data: data, Mode: permissions(mode)}
}

// Reviewable reports whether review handles files of this mode: regular files and links.
func Reviewable(mode fs.FileMode) bool { return mode.IsRegular() || mode&fs.ModeType == fs.ModeSymlink }

// Times that people's programs take to save a file.
const (
	WriteTime = 50 * time.Millisecond  // how long to wait for a file that somebody is writing
	EmptyTime = 250 * time.Millisecond // how long a file that is being saved may be empty or missing
)

// ReadWritten reads a file. reported, if not nil, is the content that a call reports as its result. While the disk has only
// the beginning of it, somebody is writing the file, and ReadWritten reads again for up to WriteTime.
func ReadWritten(root, path string, reported *string) State {
	img := Read(root, path)
	for end := time.Now().Add(WriteTime); reported != nil && img.begins(*reported) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
		img = Read(root, path)
	}
	return img
}

// begins reports whether a is a file with the beginning of text, but not all of it.
func (a State) begins(text string) bool {
	return a.Unreadable == "" && a.Exists && a.Target == "" && len(a.Data) < len(text) && strings.HasPrefix(text, string(a.Data))
}

// Read reads a slash path below root, through an os.Root that no path and no link leaves; an absolute path may be anywhere.
// It never waits for a pipe or a device. It reads again, a few times, if the file changes meanwhile.
func Read(root, path string) State {
	if filepath.IsAbs(path) {
		info, err := os.Lstat(path)
		return readOpened(info, err, func() (*os.File, error) {
			return os.OpenFile(path, os.O_RDONLY|filestat.NonBlocking, 0)
		}, func() (string, error) { return os.Readlink(path) })
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return State{Unreadable: fmt.Sprintf("the workspace cannot be opened: %v", paths.Cause(err))}
	}
	defer r.Close()
	return readRooted(r, path)
}

func readRooted(r *os.Root, slashed string) State {
	name := filepath.FromSlash(slashed)
	if beyondLink(r, slashed) {
		return State{}
	}
	info, err := r.Lstat(name)
	return readOpened(info, err, func() (*os.File, error) {
		return r.OpenFile(name, os.O_RDONLY|filestat.NonBlocking, 0)
	}, func() (string, error) { return r.Readlink(name) })
}

// beyondLink reports whether one of the path's folders is a link: the file then lies elsewhere.
func beyondLink(r *os.Root, name string) (beyond bool) {
	eachFolder(r, name, func(_ string, info fs.FileInfo, err error) {
		beyond = err == nil && info.Mode()&fs.ModeSymlink != 0
	})
	return beyond
}

// eachFolder calls look for the folders of a path, the outermost first, until a folder is missing, is no folder or cannot be
// read. It opens each folder from the one before, because a look from r on would walk the whole path.
func eachFolder(r *os.Root, name string, look func(dir string, info fs.FileInfo, err error)) {
	in := r
	defer func() {
		if in != r {
			in.Close()
		}
	}()
	for from := 0; ; {
		n := strings.IndexByte(name[from:], '/')
		if n < 0 {
			return
		}
		base, dir := name[from:from+n], name[:from+n]
		from += n + 1
		info, err := in.Lstat(base)
		if look(dir, info, err); err != nil || !info.IsDir() || strings.IndexByte(name[from:], '/') < 0 {
			return
		}
		next, err := in.OpenRoot(base)
		if err != nil {
			look(dir, nil, err)
			return
		}
		if in != r {
			in.Close()
		}
		in = next
	}
}

// readTries is how often a file that changes meanwhile is read.
const readTries = 5

func readOpened(info fs.FileInfo, err error, open func() (*os.File, error), readLink func() (string, error)) State {
	switch {
	case errors.Is(err, fs.ErrNotExist) || filestat.NotDirectory(err):
		return State{}
	case err != nil:
		return State{Unreadable: fmt.Sprint(paths.Cause(err))}
	case info.IsDir():
		return State{} // a folder is not reviewed; the files in it are
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := readLink()
		if err != nil || target == "" {
			return State{Unreadable: "it is a link that cannot be read"}
		}
		return State{Content: diffs.Content{Exists: true, Target: target}, FileMode: info.Mode()}
	case !info.Mode().IsRegular():
		return State{Unreadable: "it is not a regular file"}
	case info.Size() > MaxSize:
		return State{Unreadable: fmt.Sprintf("it is larger than %d MiB", MaxSize>>20)}
	}
	f, err := open()
	for end := time.Now().Add(2 * busyTime); errors.Is(err, syscall.EWOULDBLOCK) && time.Now().Before(end); f, err = open() {
		time.Sleep(time.Millisecond) // a decision is writing it
	}
	if errors.Is(err, fs.ErrNotExist) {
		return State{}
	}
	if err != nil {
		return State{Unreadable: fmt.Sprint(paths.Cause(err))}
	}
	defer f.Close()
	var b bytes.Buffer
	for try := 0; ; try++ {
		if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
			return State{Unreadable: "it is not a regular file"}
		}
		b.Reset()
		b.Grow(int(info.Size()) + bytes.MinRead)
		if _, err := b.ReadFrom(io.NewSectionReader(f, 0, MaxSize+1)); err != nil {
			return State{Unreadable: fmt.Sprint(paths.Cause(err))}
		}
		// Somebody may have appended to the file meanwhile.
		now, err := f.Stat()
		same := err == nil && now.Size() == int64(b.Len()) && now.Size() == info.Size() && now.ModTime().Equal(info.ModTime())
		if same || try == readTries {
			break
		}
	}
	if b.Len() > MaxSize {
		return State{Unreadable: fmt.Sprintf("it is larger than %d MiB", MaxSize>>20)}
	}
	return State{Content: ContentOf(info.Mode(), b.Bytes()), FileMode: info.Mode()}
}
