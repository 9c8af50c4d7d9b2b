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
	err = filepath.WalkDir(upper, func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || p == upper {
			return err
		}
		rel, _ := below(upper, p)
		c := Change{Path: rel, Kind: Written}
		switch {
		case d.IsDir():
			c.Kind = Folder
			opaque, err := IsOpaque(p)
			if err != nil {
				return err
			}
			if opaque {
				c.Kind = Replaced
			}
		case d.Type()&fs.ModeCharDevice != 0:
			info, err := d.Info()
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

// IsOpaque reports whether a folder of an upper folder shows nothing of the lower one's.
func IsOpaque(dir string) (bool, error) {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, opaqueAttr, value[:])
	switch {
	case errors.Is(err, unix.ENODATA):
		return false, nil
	case err != nil:
		return false, &fs.PathError{Op: "lgetxattr", Path: dir, Err: err}
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
func Whiteout(full string) error {
	if err := unix.Mknod(full, unix.S_IFCHR, 0); err != nil {
		return &fs.PathError{Op: "mknod", Path: full, Err: err}
	}
	return nil
}

// Merge makes that a folder of an upper folder, which is not mounted, shows the same as before, but is no longer Replaced: what the lower
// one, at its path, has more is Removed from now on.
func Merge(upper, lower string) error {
	var below []fs.DirEntry
	if info, err := os.Lstat(lower); err == nil && info.IsDir() {
		if below, err = os.ReadDir(lower); err != nil {
			return err
		}
	}
	for _, d := range below {
		at, from := filepath.Join(upper, d.Name()), filepath.Join(lower, d.Name())
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = Whiteout(at)
		case err == nil && info.IsDir() && d.IsDir():
			err = Merge(at, from)
		}
		if err != nil {
			return err
		}
	}
	if err := unix.Lremovexattr(upper, opaqueAttr); err != nil && !errors.Is(err, unix.ENODATA) {
		return &fs.PathError{Op: "lremovexattr", Path: upper, Err: err}
	}
	return nil
}

const opaqueAttr = "user.overlay.opaque"

// Changeable reports whether a file or folder of the lower folder, as os.Lstat describes it, can be changed in an overlay.
// What belongs to another user, or to another group than this process's own, cannot: they have no number in the namespace.
func Changeable(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && int(st.Gid) == os.Getgid()
}
