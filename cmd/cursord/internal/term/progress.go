package term

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// Waits shows on a terminal what is being done, once it takes longer than a second. The returned function ends the display.
func Waits(w io.Writer, what string) (done func()) { return Progress(w, what, "", 0) }

// Progress shows on a terminal how far a file has grown, once the work takes longer than a second. total is the expected
// size in bytes. The returned function ends the display.
func Progress(w io.Writer, what, file string, total int64) (done func()) {
	if !IsTerminal(w) {
		return func() {}
	}
	quit := make(chan struct{})
	var shown sync.WaitGroup
	began := time.Now()
	shown.Go(func() {
		wait := time.NewTimer(progressAfter)
		defer wait.Stop()
		for line := ""; ; {
			select {
			case <-quit:
				if line != "" {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-wait.C:
			}
			line = fmt.Sprintf("%s … %d s", what, int(time.Since(began)/time.Second))
			if info, err := os.Stat(file); err == nil && total > 0 {
				line = fmt.Sprintf("%s: %d %% of %s", what, min(99, 100*info.Size()/total), Size(total))
			}
			fmt.Fprintf(w, "\r\x1b[K%s", line)
			wait.Reset(progressEvery)
		}
	})
	return func() {
		close(quit)
		shown.Wait()
	}
}
