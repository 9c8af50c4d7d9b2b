//go:build unix && !linux

package process

import "syscall"

// sysProcAttr makes a child the leader of a group. If the daemon is killed, the group runs on until KillOrphans at the next
// start.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit returns false: these systems cannot report a child's end without freeing its number.
func awaitExit(int) bool { return false }

// ended returns false: a dead process cannot get a signal on these systems, so a group that can has not ended.
func ended(int) bool { return false }
