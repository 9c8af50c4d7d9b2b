//go:build unix

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// BenchmarkLSPInitialize measures the time from the start of "cursord lsp" to its answer to initialize, in an empty folder
// and in one of 10,000 files, with a running daemon and with one that has to be started.
func BenchmarkLSPInitialize(b *testing.B) {
	usesBuilt(b)
	for _, files := range []int{0, 10_000} {
		for _, running := range []bool{true, false} {
			b.Run(fmt.Sprintf("files=%d/running=%v", files, running), func(b *testing.B) {
				w := world.New(b)
				for i := range files {
					w.Put(fmt.Sprintf("dir%d/file%d.go", i/100, i), "package x\n")
				}
				if running {
					w.Start()
				}
				var first delays
				memory := 0.0
				for b.Loop() {
					cmd, in, l, start := opensAs(w, b, "lsp")
					l.calls("initialize", world.Obj{"rootUri": "file://" + w.Root, "capabilities": world.LSPCapabilities()})
					first = append(first, time.Since(start))
					b.StopTimer()
					l.calls("shutdown", nil)
					memory = max(memory, world.Resident(cmd.Process.Pid, "VmHWM"))
					in.Close()
					_ = cmd.Wait()
					if !running {
						_, stderr, status := w.Cursord("stop", "--force")
						require.Zero(b, status, stderr)
					}
					b.StartTimer()
				}
				b.ReportMetric(first.quantile(0.5), "µs-initialize-p50")
				b.ReportMetric(first.quantile(0.99), "µs-initialize-p99")
				b.ReportMetric(memory, "MB-peak")
			})
		}
	}
}
