// Package logs shows the daemon's log: its last lines, also from rotated files, and new lines across daemons and rotations.
// It only reads the files and needs no daemon.
package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"cursord/daemon/endpoint"
)

const (
	poll    = 200 * time.Millisecond
	older   = 2        // rotated files, .1 being the latest
	lineMax = 64 << 10 // longer lines are shown in pieces
)

// ErrNone is returned by Show when there is no log file and follow is not set.
var ErrNone = errors.New("no log yet")

// Show writes the last n lines of the log at path to w and, if follow is set, every new line until ctx is done. With raw,
// lines stay JSON as in the file; otherwise they are formatted for people.
func Show(ctx context.Context, w io.Writer, path string, n int, follow, raw bool) (err error) {
	t, err := open(path, n)
	if err != nil {
		return err
	}
	defer t.close()
	if t.file == nil && !follow {
		return ErrNone
	}
	s := newScreen(w, raw)
	for {
		if err := t.read(s); err != nil || !follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(poll):
		}
	}
}

// A tail reads a log across rotations.
type tail struct {
	path  string
	first [][]byte // earlier lines, to be shown first
	file  *os.File // nil while there is no log file
	part  []byte   // the beginning of a line whose end is not written yet
}

// open opens the log at its end. It keeps the last n lines for read to show.
func open(path string, n int) (*tail, error) {
	t := &tail{path: path}
	for i := 0; i <= older && len(t.first) < n; i++ {
		f, err := endpoint.OpenRegular(t.name(i), os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		lines, part, err := lastLines(f, n-len(t.first))
		if i == 0 {
			t.file, t.part = f, part
		} else if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		t.first = append(lines, t.first...)
	}
	if n == 0 {
		f, err := endpoint.OpenRegular(path, os.O_RDONLY, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			t.file = f
			if _, err := f.Seek(0, io.SeekEnd); err != nil {
				return nil, errors.Join(err, t.close())
			}
		}
	}
	return t, nil
}

func (t *tail) name(age int) string {
	if age == 0 {
		return t.path
	}
	return fmt.Sprintf("%s.%d", t.path, age)
}

func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// lastLines returns the last n lines of f, and the text behind the last newline. It leaves f at its end.
func lastLines(f *os.File, n int) (lines [][]byte, part []byte, err error) {
	r := bufio.NewReaderSize(f, lineMax)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
			lines = append(lines, bytes.Clone(line))
			if len(lines) > 2*n+16 {
				lines = slices.Clone(lines[len(lines)-n:])
			}
		case errors.Is(err, io.EOF):
			return lines[max(len(lines)-n, 0):], bytes.Clone(line), nil
		default:
			return nil, nil, err
		}
	}
}

// read shows the lines that have not been shown yet.
func (t *tail) read(show *screen) error {
	for _, line := range t.first {
		show.line(line)
	}
	t.first = nil
	for {
		if t.file == nil {
			f, err := endpoint.OpenRegular(t.path, os.O_RDONLY, 0)
			if errors.Is(err, fs.ErrNotExist) {
				return show.err
			}
			if err != nil {
				return err
			}
			t.file = f
		}
		// A rotated file gets no more lines. So look for its successor before reading its rest.
		next, err := t.successor()
		if err != nil {
			return err
		}
		if err := t.rest(show); err != nil {
			return err
		}
		if next == "" || show.err != nil {
			return show.err
		}
		if err := t.file.Close(); err != nil {
			return err
		}
		t.file, t.part = nil, nil
		if t.file, err = endpoint.OpenRegular(next, os.O_RDONLY, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// successor returns the path of the file that was begun after the present one; "" if the present one is the newest.
func (t *tail) successor() (string, error) {
	own, err := t.file.Stat()
	if err != nil {
		return "", err
	}
	newer := t.path
	for i := 0; i <= older; i++ {
		info, err := os.Stat(t.name(i))
		if errors.Is(err, fs.ErrNotExist) && i == 0 {
			return "", nil // a rotation is under way
		}
		if err == nil && os.SameFile(own, info) {
			if i == 0 {
				return "", nil
			}
			return newer, nil
		}
		newer = t.name(i)
	}
	return t.path, nil // somebody has moved the present file away
}

// rest shows the rest of the present file.
func (t *tail) rest(show *screen) error {
	if pos, err := t.file.Seek(0, io.SeekCurrent); err != nil {
		return err
	} else if info, err := t.file.Stat(); err == nil && info.Size() < pos { // the file was truncated
		t.part = nil
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := t.file.Read(buf)
		t.part = append(t.part, buf[:n]...)
		for {
			end := bytes.IndexByte(t.part, '\n')
			if end < 0 && len(t.part) > lineMax {
				end = len(t.part) - 1
			}
			if end < 0 {
				break
			}
			show.line(t.part[:end+1])
			t.part = t.part[end+1:]
		}
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
