//go:build unix

package client

import (
	"os"

	"golang.org/x/sys/unix"
)

// Rows returns how many rows the editor's window has; 0 if that is not known. Helix runs in the terminal of this process.
func (c *Client) Rows() int {
	if !c.IsHelix() {
		return 0
	}
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return 0
	}
	defer terminal.Close()
	size, err := unix.IoctlGetWinsize(int(terminal.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Row)
}
