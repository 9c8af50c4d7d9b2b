package endpoint

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// checkDaemon reports why a process is not one of this user's that runs cursord. What files it has open only libproc
// tells, which needs cgo.
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
