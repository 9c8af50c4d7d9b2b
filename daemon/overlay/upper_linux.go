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
			opaque, err := isOpaque(p)
			if err != nil {
				return err
			}
			if opaque {
				c.Kind = Replaced
			}
		case d.Type()&fs.ModeCharDevice != 0:
			var st unix.Stat_t
			if err := unix.Lstat(p, &st); err != nil {
				return &fs.PathError{Op: "lstat", Path: p, Err: err}
			}
			if st.Rdev == 0 {
				c.Kind = Removed
			}
		}
		list = append(list, c)
		return nil
	})
	return list, err
}

func isOpaque(dir string) (bool, error) {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, "user.overlay.opaque", value[:])
	switch {
	case errors.Is(err, unix.ENODATA):
		return false, nil
	case err != nil:
		return false, &fs.PathError{Op: "lgetxattr", Path: dir, Err: err}
	}
	return n == 1 && value[0] == 'y', nil
}

// Changeable reports whether a file or folder of the lower folder, as os.Lstat describes it, can be changed in an overlay.
// What belongs to another user, or to another group than this process's own, cannot: they have no number in the namespace.
func Changeable(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && int(st.Gid) == os.Getgid()
}
