// Package snapshot knows the contents of a workspace's files when a turn began, and finds later changes.
//
// [List.Take] lists the files, with git in a repository and otherwise by reading folders, and keeps the contents that git does not
// have. [Snapshot.Scan] compares the disk with the snapshot. The caller reports each change that it has taken in by
// [Snapshot.Note], so that the next scan finds only newer ones.
//
// A snapshot leaves what it has read to the next one of the same tree ([List.Take]), which reads what has changed since. Both that and
// a scan look at the states of all folders, and list names only in those that have changed. They leave out the
// files that are unchanged as far as a watch of the folders (package treewatch) knows; without a watch, or if it has lost something, they
// look at all files. A look at all files also finds the changes that the system reports to no watch. The last scan of a turn has one, which begins
// at the agent's last word ([Snapshot.LookAhead]), and within an hour a turn begins with one.
//
// A Snapshot promises:
//
//   - A content that it returns for a path was there when the turn began, or at the path's last note. It says so if it does
//     not know the content. If a call begins before all files were looked at, it does not know those that have changed since, and
//     says what git's index has of them (late.go).
//   - It does not find files that git ignored when the turn began. It does find a file that only a rule of this turn ignores.
//   - It finds the files of git's folders that name programs, lead elsewhere or hide files, like any other file.
//   - Time, number and size are bounded. [LeftOut] says for people what a bound left out. If there was no time for a file,
//     the next scan returns to it.
//   - It writes nothing in the workspace, and no git that it runs starts a program that the repository names.
//
// The caller decides who made a change: it gives Scan a function that gets each change with its time. Several goroutines may
// use a Snapshot. It keeps contents in two files, until Close; the next snapshot may use one of them.
//
// A snapshot of a turn is written down with its notes (record.go). If the process is killed, the next one restores it from there
// (Recorded.Restore), and a scan then finds what has changed since the last notes.
package snapshot
