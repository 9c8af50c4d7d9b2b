package copytree

import (
	"io/fs"
	"os"
)

// lstat returns the stat of a path itself; zero if it cannot be found. The time of its content stands for that of any
// change.
func lstat(path string) stat {
	info, err := os.Lstat(path)
	if err != nil {
		return stat{}
	}
	t := info.ModTime().UnixNano()
	return stat{size: info.Size(), mtime: t, ctime: t, mode: info.Mode() & (fs.ModePerm | fs.ModeType)}
}
