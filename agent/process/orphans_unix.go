//go:build unix

package process

import "golang.org/x/sys/unix"

// killTree kills a process, and its group if it leads one.
func killTree(pid int) {
	if pgid, err := unix.Getpgid(pid); err == nil && pgid == pid && pgid != unix.Getpgrp() {
		unix.Kill(-pid, unix.SIGKILL)
	}
	unix.Kill(pid, unix.SIGKILL)
}

// terminate asks a process to end.
func terminate(pid int) { unix.Kill(pid, unix.SIGTERM) }

func ownGroup() int { return unix.Getpgrp() }
