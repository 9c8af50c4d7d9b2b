//go:build unix

package apart

import (
	"os"
	"syscall"
)

// EndWithTest ends this process when nobody holds the other end of the pipe that Life names any more.
func EndWithTest() {
	if pipe := os.Getenv(Life); pipe != "" {
		go endWith(pipe)
	}
}

func endWith(pipe string) {
	f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		_, _ = f.Read(make([]byte, 1))
	}
	os.Exit(1)
}
