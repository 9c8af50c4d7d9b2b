package dial

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// Detached returns attributes that give a process no console, so that closing ours does not end it.
func Detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// closeFilesOnExec does nothing: on Windows a process inherits only what it is given.
func closeFilesOnExec() {}
