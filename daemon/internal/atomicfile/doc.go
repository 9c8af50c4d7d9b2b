// Package atomicfile reads and replaces files inside a folder, as decisions of a review need it.
//
// It has no state of its own: a Root is an open folder, and a Change says what one file is to become. It promises:
//
//   - No path and no link leads out of the folder, and a read never waits for a pipe or a device.
//   - A Change is carried out only over the content that it expects. What somebody saves at that very moment stays, or is
//     put back (swap.go says what is left of that race).
//   - After a crash a file is the old or the new one, or Root.Resume with the same Change makes it so.
//   - A file is replaced by a new one if that loses nothing. It is written in place if it would otherwise lose links, an
//     owner or attributes; names that may lead elsewhere are not written through (links.go).
//   - Modes, links and folders are made, kept and removed as a Change says; nothing else is touched.
//
// A new file and the old one exchange names, and the old one is checked before it is removed. An agent can make a hard link
// that leads out of the workspace. So a file with several names is written in place only if it is the same inode, with no more
// names, as when the turn of its review began; otherwise the new file takes that one name. In copies, and where no turn has
// looked before, as in ignored files, the new file always does.
package atomicfile
