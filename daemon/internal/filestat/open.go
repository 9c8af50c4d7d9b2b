package filestat

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is wrapped by the error of OpenRegular for a folder, a FIFO, a device or the like.
var ErrNotRegular = errors.New("not a regular file; remove it")

// OpenRegular opens a regular file, or a link to one, for reading. It never waits: os.Open waits for the other end of a FIFO, and an agent can
// put one in the place of any file.
func OpenRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadRegular returns what a regular file holds, as OpenRegular opens it.
func ReadRegular(path string) ([]byte, error) {
	f, _, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
