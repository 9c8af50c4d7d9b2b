//go:build unix

package undertest

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// meters writes the numbers of goroutines and of heap bytes to a file at each SIGUSR1.
func meters(path string) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for range asked {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		err := os.WriteFile(path+"~", fmt.Appendf(nil, "%d %d", runtime.NumGoroutine()-1, m.HeapAlloc), 0o600)
		if err == nil {
			err = os.Rename(path+"~", path)
		}
		if err != nil {
			panic(err)
		}
	}
}
