// Package dirwatch is the only owner of the system's means to watch folders. Whoever watches some opens a [Names], or, on Linux, a [Handle], and
// gets what happens in its own folders.
//
// Linux lets a user have 128 instances of inotify, in all programs together, however many folders are under review. So the process has three
// at most: all Names share one, by fsnotify, and all Handles share [Saves] and [Changes], whose events tell the ends of writes. What happens in a folder
// reaches each one that watches it; the folder is watched until the last of these lets go of it. Events are read at the pace of the
// instance, never at that of a reader: each has a bounded queue of its own. If that overflows, this one alone is told that it has lost something; if the
// system's queue overflows, all are.
package dirwatch

// most bounds the events, or names, that wait for one reader. It is as many as Linux keeps for an instance, if nobody has told it otherwise.
const most = 16 << 10
