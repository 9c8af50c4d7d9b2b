package copytree

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
)

// A State is what a path of a tree holds or held: a regular file, a symbolic link, an empty folder, or nothing.
type State struct {
	Mode   fs.FileMode       // type and permission bits
	Size   int64             // of a file, in bytes
	Hash   [sha256.Size]byte // of a file's content
	Target string            // of a link, in terms of the real tree
	Exists bool
}

// same reports whether two states are equal. Only permissions of files that the system keeps count.
func (s State) same(o State) bool {
	s.Mode, o.Mode = s.kept(), o.kept()
	return s == o
}

// kept returns the part of the mode that counts.
func (s State) kept() fs.FileMode {
	if !s.Mode.IsRegular() || !keepsModes {
		return s.Mode.Type()
	}
	return s.Mode & (fs.ModeType | fs.ModePerm)
}

// A Kind says how a path differs.
type Kind string

// The kinds of changes. A change with a link on one side is a Symlink, unless the link was created or deleted.
const (
	Created  Kind = "created"
	Modified Kind = "modified"
	Deleted  Kind = "deleted"
	Mode     Kind = "mode"
	Symlink  Kind = "symlink"
)

// A Change is one path that differs.
type Change struct {
	Path string // relative to the workspace, with /; any bytes that a file name may have
	Kind Kind
	// Pending is set in TakeOver's result if the copy has a change of its own at this path, so that TakeOver wrote nothing:
	// the caller must merge, and call Note.
	Pending bool
	Before  State // what was taken over last
	After   State // what the changed side holds now
}

func change(path string, before, after State) Change {
	c := Change{Path: path, Before: before, After: after, Kind: Modified}
	link := before.Mode&fs.ModeSymlink != 0 || after.Mode&fs.ModeSymlink != 0
	switch {
	case !before.Exists:
		c.Kind = Created
	case !after.Exists:
		c.Kind = Deleted
	case link:
		c.Kind = Symlink
	case before.Hash == after.Hash && before.Mode.Type() == after.Mode.Type():
		c.Kind = Mode
	}
	return c
}

var errOdd = errors.New("it is no file, folder or link")

// look reads the state of a path, and its stat; a racy stat cannot be relied on later. With a stat, it opens only files.
func look(full string) (State, filestat.Stat, error) {
	for try := 0; ; try++ {
		before := filestat.Of(full)
		s, err := lookOnce(full, before)
		after := filestat.Of(full)
		if before == after || try == 3 {
			return s, after, err
		}
	}
}

func lookOnce(full string, st filestat.Stat) (State, error) {
	s := State{Exists: true, Mode: st.Mode}
	if st.Mode.IsRegular() {
		s.Size = st.Size
	}
	switch {
	case !st.Exists():
		return State{}, nil
	case st.Mode.IsDir():
		return s, nil
	case st.Mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(full)
		if errors.Is(err, fs.ErrNotExist) {
			return State{}, nil
		}
		s.Target = target
		return s, err
	case !st.Mode.IsRegular():
		return s, errOdd
	}
	f, err := openFile(full)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return s, err
	}
	defer f.Close()
	return s, s.read(f, io.Discard)
}

// openFile opens a regular file for reading.
func openFile(full string) (*os.File, error) {
	f, err := os.OpenFile(full, os.O_RDONLY|quiet, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", full, errOdd)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// read copies a content to w and notes its size and hash. Size is a hint before.
func (s *State) read(r io.Reader, w io.Writer) error {
	h := sha256.New()
	buf := make([]byte, min(max(s.Size, 0)+512, 128<<10))
	s.Size = 0
	for {
		n, err := r.Read(buf)
		h.Write(buf[:n])
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		s.Size += int64(n)
		if err == io.EOF {
			h.Sum(s.Hash[:0])
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// moved returns a link's target with the tree from replaced by to, if the target is an absolute path in from.
func moved(target, from, to string) string {
	if rest, ok := strings.CutPrefix(target, from); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return to + rest
	}
	return target
}

// leaves reports whether a link at a path of the tree leads out of the tree.
func leaves(root, path, target string) bool {
	if filepath.IsAbs(target) {
		return moved(target, root, "") == target
	}
	return !filepath.IsLocal(filepath.Join(filepath.Dir(filepath.FromSlash(path)), target))
}

func now() int64 { return clock.Now() }
