// Package treewatch tells which paths of a tree may have changed since a moment, so that others need not be looked at.
//
// A Watch watches folders, and so their files, by inotify; on other systems there is none. It may name paths that have not changed. It
// leaves out no change, but these, which the system reports to nobody who watches a folder:
//
//   - changes of a file by another of its names. Those are reported that lie in a watched folder, so whoever knows which files had
//     several names before has to look at these alone; what is left are names that are made later, and are elsewhere or gone by now;
//   - changes by a program that has mapped a file into its memory, until it closes the file.
//
// So somebody has to look at everything now and then. Whenever the watch may have lost anything else, it says so and is of no more use:
// when events came faster than they were read, when a watched folder was moved or got other permissions, when something was mounted or
// unmounted below the root, when too many paths have changed.
package treewatch

// Bounds of all watches of the process together, and of one.
const (
	most    = 64 << 10 // watched folders; the system takes about 1 KiB for each, we take 200 bytes
	share   = 4        // a fourth of the folders that the system lets a user watch
	changes = 20_000   // changed paths that are known; with more, all may have changed
)

// A Mark is a moment of a Watch.
type Mark uint64
