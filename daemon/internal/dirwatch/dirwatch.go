// Package dirwatch is the only owner of the system's means to watch folders. Whoever watches some opens a Handle, and gets the events of its own folders.
//
// Linux lets a user have 128 instances of inotify, in all programs together, however many folders are under review. So all handles of the
// process share two: [Saves] and [Changes]. The events of a folder reach each handle that watches it, by the kinds of events that this handle
// asked for; a folder is watched until the last of these handles lets go of it. Events are read at the pace of the instance, never at that of
// a handle: each has a bounded queue of its own. If that overflows, its handle alone is told that it has lost something; if the system's
// queue overflows, every handle is.
//
// Elsewhere each handle has means of its own, by fsnotify.
package dirwatch

// most bounds the events that wait for a handle. It is as many as Linux keeps for an instance, if nobody has told it otherwise.
const most = 16 << 10
