// Package snapshot knows what a workspace's files held when a turn began, and finds what has changed since.
//
// [Take] lists the files, by git where there is a repository and else by reading folders, and keeps the contents that git
// does not have. [Snapshot.Scan] compares the disk with that. What it finds is reported once it has been taken in by
// [Snapshot.Note], so that the next scan finds only what is new.
//
// What a Snapshot promises:
//
//   - What it says a path held was there when the turn began, or when the path was last noted. If it does not know, it says so.
//   - What git ignored when the turn began is not found. A file that only a rule of this turn ignores is.
//   - The files of git's folders that name programs, lead elsewhere or hide files are found like any other.
//   - Time, number and size are bounded. What a bound leaves out is in [LeftOut], in words for people, and the next scan
//     comes back to what there was no time for.
//   - It writes nothing in the workspace, and no git that it asks runs what the repository names.
//
// Whose a change is, the caller decides: it gives Scan a function that is asked for each change, with its time. A Snapshot
// may be used by several goroutines; it keeps contents in one file without a name, until Close.
package snapshot
