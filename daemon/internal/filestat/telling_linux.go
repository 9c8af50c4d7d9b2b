package filestat

import "golang.org/x/sys/unix"

// Tells says what the states of folders tell in the file system that has a path. A file system of the network, or one that shows
// another one's folders, may show old states of folders, or states that never change.
func Tells(path string) Telling {
	const zfs = 0x2fc12fc1
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return TellsNothing
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return TellsFolders
	case unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, zfs:
		return TellsNames
	}
	return TellsNothing
}
