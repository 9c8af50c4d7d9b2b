package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached gives a process no console, so that closing ours does not end it.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// keepFiles has nothing to do: a process inherits only what it is given.
func keepFiles() {}
