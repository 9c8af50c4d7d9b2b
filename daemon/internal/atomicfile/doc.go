// Package atomicfile reads and replaces files inside a folder, the way that decisions on a review need it.
//
// It owns no state: a Root is an open folder, and a Change says what one file is to become. What it promises:
//
//   - No path and no link leads out of the folder, and reading never waits for a pipe or a device.
//   - A Change is carried out only over the content that it expects; what somebody saves at the very moment stays, or is
//     put back (swap.go says what is left of that race).
//   - After a crash a file is the old or the new one, or can be made so by Root.Resume with the same Change.
//   - A file is replaced by a new one where that loses nothing, and written in place where it would lose links, an owner
//     or attributes; names that may lead elsewhere are not written through (links.go).
//   - Modes, links and folders are made, kept and removed as a Change says, and nothing else is.
package atomicfile
