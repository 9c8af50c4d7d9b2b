package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysProcAttr makes a child the leader of a group that the kernel kills, the leader at least, when the daemon dies.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when a child has ended, and leaves it to be waited for: until then its number is not given to
// another process. It returns false where that is not to be had.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// ended reports whether nothing of a group runs any more. Where process 1 reaps nobody, the dead stay in the group.
func ended(leader int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		// PID (NAME) STATE PPID PGRP; a name may have anything in it.
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) > 2 && string(f[2]) == strconv.Itoa(leader) && !bytes.ContainsAny(f[0], "ZX") {
			return false
		}
	}
	return true
}
