// Package process starts programs as leaders of groups of their own, and makes sure that nothing of them is left: the group,
// what has left the group (Family), and what an earlier daemon that was killed has left (KillOrphans). It hides the
// differences between systems: process groups, and /proc or sysctl, on Unix; job objects on Windows.
//
// It owns the processes and the pipes to them, and knows nothing of their output.
package process
