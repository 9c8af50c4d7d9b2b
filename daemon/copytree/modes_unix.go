//go:build unix

package copytree

// keepsModes says whether a file keeps the permission bits that it is given.
const keepsModes = true
