package overlay

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Changes lists what an upper folder holds, by path. Folders come before what is in them.
func Changes(ctx context.Context, upper string) (list []Change, err error) {
	root, err := os.OpenRoot(upper)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = Walk(ctx, root, ".", func(rel string, d fs.DirEntry) error {
		c := Change{Path: rel, Kind: Written}
		switch {
		case d.IsDir():
			c.Kind = Folder
			opaque := false
			err := inFolder(root, rel, func(fd int) (err error) {
				opaque, err = isOpaque(rel, func(value []byte) (int, error) { return unix.Fgetxattr(fd, opaqueAttr, value) })
				return err
			})
			if err != nil {
				return err
			}
			if opaque {
				c.Kind = Replaced
			}
		case d.Type()&fs.ModeCharDevice != 0:
			info, err := root.Lstat(rel)
			if err != nil {
				return err
			}
			if IsWhiteout(info) {
				c.Kind = Removed
			}
		}
		list = append(list, c)
		return nil
	})
	return list, err
}

// inFolder calls do with a descriptor of a folder of root, which it finds without leaving root.
func inFolder(root *os.Root, dir string, do func(fd int) error) error {
	f, err := root.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(int(f.Fd()))
}

// IsOpaque reports whether a folder of an upper folder shows nothing of the lower one's.
func IsOpaque(dir string) (bool, error) {
	return isOpaque(dir, func(value []byte) (int, error) { return unix.Lgetxattr(dir, opaqueAttr, value) })
}

func isOpaque(dir string, get func([]byte) (int, error)) (bool, error) {
	var value [1]byte
	n, err := get(value[:])
	switch {
	case errors.Is(err, unix.ENODATA):
		return false, nil
	case err != nil:
		return false, &fs.PathError{Op: "getxattr", Path: dir, Err: err}
	}
	return n == 1 && value[0] == 'y', nil
}

// IsWhiteout reports whether a file of an upper folder, as os.Lstat describes it, says that what the lower folder has at its
// path does not show.
func IsWhiteout(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && st.Rdev == 0
}

// Whiteout makes that a path of an upper folder, which is not mounted, shows nothing of the lower one. There must be nothing at it.
func Whiteout(upper *os.Root, name string) error {
	return inFolder(upper, filepath.Dir(name), func(fd int) error {
		if err := unix.Mknodat(fd, filepath.Base(name), unix.S_IFCHR, 0); err != nil {
			return &fs.PathError{Op: "mknodat", Path: name, Err: err}
		}
		return nil
	})
}

// Merge makes that a folder of an upper folder, which is not mounted, shows the same as before, but is no longer Replaced: what the lower
// one, at its full path, has more is Removed from now on.
func Merge(upper *os.Root, dir, lower string) error {
	var below []fs.DirEntry
	if info, err := os.Lstat(lower); err == nil && info.IsDir() {
		if below, err = os.ReadDir(lower); err != nil {
			return err
		}
	}
	for _, d := range below {
		at := filepath.Join(dir, d.Name())
		info, err := upper.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = Whiteout(upper, at)
		case err == nil && info.IsDir() && d.IsDir():
			err = Merge(upper, at, filepath.Join(lower, d.Name()))
		}
		if err != nil {
			return err
		}
	}
	return inFolder(upper, dir, func(fd int) error {
		if err := unix.Fremovexattr(fd, opaqueAttr); err != nil && !errors.Is(err, unix.ENODATA) {
			return &fs.PathError{Op: "fremovexattr", Path: dir, Err: err}
		}
		return nil
	})
}

const opaqueAttr = "user.overlay.opaque"

// Changeable reports whether a file or folder of the lower folder, as os.Lstat describes it, can be changed in an overlay.
// What belongs to another user, or to another group than this process's own, cannot: they have no number in the namespace.
func Changeable(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && int(st.Gid) == os.Getgid()
}
