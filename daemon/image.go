package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cursord/diffs"
)

// imageMax is the largest file whose content review keeps.
const imageMax = 64 << 20

// An image is what the disk held at a path at one moment.
type image struct {
	diffs.Content
	mode fs.FileMode
	odd  string // why Content says nothing: not a regular file, too large, unreadable; "" when it does
}

func (a image) same(b image) bool {
	return a.odd == "" && b.odd == "" && a.Exists == b.Exists && bytes.Equal(a.Data, b.Data)
}

// readImage reads a path of the workspace, through a root that no path and no link leaves, or, for an absolute path,
// a file outside of it. It never blocks on a pipe or a device.
func readImage(root, path string) image {
	if filepath.IsAbs(path) {
		info, err := os.Lstat(path)
		return readOpened(info, err, func() (*os.File, error) {
			return os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
		})
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return image{odd: fmt.Sprintf("the workspace cannot be opened: %v", pathCause(err))}
	}
	defer r.Close()
	return readRooted(r, path)
}

func readRooted(r *os.Root, path string) image {
	name := filepath.FromSlash(path)
	info, err := r.Lstat(name)
	return readOpened(info, err, func() (*os.File, error) { return r.OpenFile(name, os.O_RDONLY|nonBlocking, 0) })
}

func readOpened(info fs.FileInfo, err error, open func() (*os.File, error)) image {
	switch {
	case errors.Is(err, fs.ErrNotExist) || notDirectory(err):
		return image{}
	case err != nil:
		return image{odd: fmt.Sprint(pathCause(err))}
	case !info.Mode().IsRegular():
		return image{odd: "it is not a regular file"}
	case info.Size() > imageMax:
		return image{odd: fmt.Sprintf("it is larger than %d MiB", imageMax>>20)}
	}
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return image{}
	}
	if err != nil {
		return image{odd: fmt.Sprint(pathCause(err))}
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return image{odd: "it is not a regular file"}
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(f, imageMax+1)); err != nil {
		return image{odd: fmt.Sprint(pathCause(err))}
	}
	if b.Len() > imageMax {
		return image{odd: fmt.Sprintf("it is larger than %d MiB", imageMax>>20)}
	}
	return image{Content: diffs.Content{Exists: true, Data: b.Bytes()}, mode: info.Mode()}
}
