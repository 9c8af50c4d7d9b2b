//go:build unix

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// A probe is a client of another workspace, in which an agent speaks every 2 ms while the daemon is under load.
type probe struct {
	requests delays // requests, each of which passes through its workspace's loop
	deltas   delays // deltas of the agent's text
}

// probes has the world's agent play a load, and measures its effect on another workspace until the load's turn ends.
func probes(w *world.World, b *testing.B, load ...string) (p probe, took time.Duration) {
	beside := &world.World{T: w.T, Dir: w.Dir, Root: filepath.Join(w.Dir, "beside"), Cmd: w.Cmd}
	require.NoError(b, os.MkdirAll(beside.Root, 0o755))
	w.Plays(stamped(1_000_000, 2*time.Millisecond)...)
	hearing := listens(beside)
	hearing.calls("turn/start", world.Obj{"workspace": beside.Root, "prompt": "speak", "turnId": "beside"})
	asking := newListener(dials(w, w.Socket()))
	for { // the agent has read its script
		if _, ok := deltaOf(hearing.next()); ok {
			break
		}
	}
	w.Plays(load...)

	loaded, over := listens(w), make(chan struct{})
	start := time.Now()
	loaded.calls("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "turnId": "load"})
	go func() {
		defer close(over)
		waits := newListener(dials(w, w.Socket()))
		waits.calls("turn/wait", world.Obj{"turnId": "load"})
		took = time.Since(start)
		waits.conn.Close()
	}()
	go func() {
		for {
			if line, err := loaded.lines.ReadSlice('\n'); err != nil && len(line) == 0 {
				return
			}
		}
	}()
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for {
			line := hearing.next()
			if text, ok := deltaOf(line); ok {
				p.deltas.arrived(text, time.Now())
			} else if strings.Contains(string(line), `"status":"cancelled"`) {
				return
			}
		}
	}()
	for asked := false; !asked; {
		select {
		case <-over:
			asked = true
		default:
			start := time.Now()
			asking.calls("session/list", world.Obj{"workspace": beside.Root})
			asking.calls("diff/list", world.Obj{"workspace": beside.Root})
			p.requests = append(p.requests, time.Since(start))
			time.Sleep(time.Millisecond)
		}
	}
	asking.calls("turn/cancel", world.Obj{"turnId": "beside"})
	<-heard
	for _, l := range []*listener{hearing, asking, loaded} {
		l.leaves()
	}
	return p, took
}

// BenchmarkBeside measures the effect of a load in one workspace on another, and the daemon's memory during it.
func BenchmarkBeside(b *testing.B) {
	usesBuilt(b)
	const calls, size = 50_000, 300 << 20
	raw := func(text string) string { return fmt.Sprintf(`{"fake":"raw","text":%q}`, text) }
	open := func(tool string) []string {
		return []string{world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d}`, calls),
			`{"type":"tool_call","subtype":"started","call_id":"c{{i}}","tool_call":{"` + tool +
				`":{"args":{"path":"src/f{{i}}.go","command":"make {{i}}"}}}}`, world.Done}
	}
	long := func(begin, end string) []string {
		return []string{world.InitLine, raw(begin), fmt.Sprintf(`{"fake":"repeat","n":%d}`, size>>16), raw(strings.Repeat("0123456789abcdef", 4<<10)),
			raw(end + "\n"), world.Done}
	}
	for _, load := range []struct {
		name  string
		lines []string
	}{
		{"nothing", []string{world.InitLine, `{"fake":"sleep","ms":3000}`, world.Done}},
		{"open-reads", open("readToolCall")},
		{"open-edits", open("editToolCall")},
		{"open-commands", open("shellToolCall")},
		{"long-line", long("", "")},
		{"long-string", long(`{"type":"assistant","text":"`, `"}`)},
	} {
		b.Run(load.name, func(b *testing.B) {
			for b.Loop() {
				w := world.New(b)
				w.Start()
				p, took := probes(w, b, load.lines...)
				for name, d := range map[string]delays{"request": p.requests, "delta": p.deltas} {
					for _, q := range []float64{0.5, 0.99, 1} {
						b.ReportMetric(d.quantile(q)/1000, fmt.Sprintf("ms-%s-p%g", name, 100*q))
					}
				}
				b.ReportMetric(took.Seconds(), "s-load")
				b.ReportMetric(world.Resident(w.Cmd.Process.Pid, "VmHWM"), "MB-peak")
			}
		})
	}
}
