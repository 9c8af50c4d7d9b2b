//go:build linux || darwin

package sessions

import "golang.org/x/sys/unix"

// freeOn returns how many bytes this user may still put on a folder's disk, if that is known.
func freeOn(dir string) (int64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
