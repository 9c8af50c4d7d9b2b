//go:build unix

package copytree

// keepsModes says that permission bits are what was set.
const keepsModes = true
