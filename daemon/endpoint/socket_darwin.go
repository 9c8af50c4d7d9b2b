package endpoint

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// checkDaemon returns an error unless a process is this user's and runs cursord. Only libproc, which needs cgo, could say
// which files it has open.
func checkDaemon(pid int, _ *os.File) error {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return err
	}
	if uid := int(info.Eproc.Ucred.Uid); uid != os.Geteuid() {
		return &foreignError{fmt.Sprintf("process %d", pid), uid, os.Geteuid()}
	}
	if !isOurProgram(unix.ByteSliceToString(info.Proc.P_comm[:])) {
		return errNoDaemon
	}
	return nil
}
