// Package treewatch tells which paths of a tree may have changed since a moment, so that others need not be looked at.
//
// A Watch watches folders, and so their files, by inotify; on other systems there is none. It may name paths that have not changed. It
// misses two kinds of changes, which the system reports to nobody who watches a folder:
//
//   - a change of a file by another of its names, unless that name lies in a watched folder. Whoever knows which files have several
//     names looks at these as well; then only names are missed that were made later, and lie elsewhere or are gone by now;
//   - a change by a program that has mapped the file into its memory, until the program closes the file.
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
