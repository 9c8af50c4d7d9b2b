//go:build unix && !linux

package process

import "syscall"

// sysProcAttr makes a child the leader of a group. Nothing here ends it when the daemon is killed: KillOrphans does at the next start.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit returns false: these systems cannot tell of a child's end without taking its number.
func awaitExit(int) bool { return false }

// ended returns false: the dead cannot be signalled here, so nothing of a group that can be has ended.
func ended(int) bool { return false }
