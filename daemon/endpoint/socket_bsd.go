//go:build darwin || freebsd

package endpoint

import "golang.org/x/sys/unix"

// peerUID returns the user of the process at the other end of a unix socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
