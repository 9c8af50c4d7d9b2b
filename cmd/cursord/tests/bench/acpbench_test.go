//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// listensByACP connects a listener through "cursord acp", as an editor does, and opens a session.
func listensByACP(w *world.World) *listener {
	w.Trusts()
	cmd := exec.Command("cursord", "acp")
	cmd.Env, cmd.Dir, cmd.Stderr = w.Env(), w.Root, os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(w.T, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.T, err)
	require.NoError(w.T, cmd.Start())
	l := newListener(world.Piped{ReadCloser: out, WriteCloser: in})
	l.pid, l.ended = cmd.Process.Pid, func() { require.NoError(w.T, cmd.Wait()) }
	l.calls("initialize", world.Obj{"protocolVersion": 1})
	l.asks("session/new", world.Obj{"cwd": w.Root, "mcpServers": []any{}})
	for l.session == "" {
		if _, id, ok := bytes.Cut(l.next(), []byte(`"result":{"sessionId":"`)); ok {
			id, _, _ = bytes.Cut(id, []byte(`"`))
			l.session = string(id)
		}
	}
	return l
}

// BenchmarkACPInitialize measures the time from the start of "cursord acp" to its answer to initialize, and to that to session/new, with a
// running daemon and with one that has to be started.
func BenchmarkACPInitialize(b *testing.B) {
	usesBuilt(b)
	for _, running := range []bool{true, false} {
		b.Run(fmt.Sprintf("running=%v", running), func(b *testing.B) {
			w := world.New(b)
			w.Start()
			var first, opened delays
			memory := 0.0
			for b.Loop() {
				b.StopTimer()
				if !running {
					w.Cursord("stop", "--force")
				}
				b.StartTimer()
				cmd, in, l, start := opensAs(w, b, "acp")
				l.calls("initialize", world.Obj{"protocolVersion": 1})
				first = append(first, time.Since(start))
				l.calls("session/new", world.Obj{"cwd": w.Root, "mcpServers": []any{}})
				opened = append(opened, time.Since(start))
				b.StopTimer()
				memory = max(memory, world.Resident(cmd.Process.Pid, "VmHWM"))
				in.Close()
				_ = cmd.Wait()
				b.StartTimer()
			}
			w.Cursord("stop", "--force")
			b.ReportMetric(first.quantile(0.5), "µs-initialize-p50")
			b.ReportMetric(first.quantile(0.99), "µs-initialize-p99")
			b.ReportMetric(opened.quantile(0.5), "µs-session-p50")
			b.ReportMetric(memory, "MB-peak")
		})
	}
}
