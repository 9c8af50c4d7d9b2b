package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The benchmarks below run whole processes: the fake agent, the daemon, and this test as the editor. Each compares
// with the fake agent read through a bare pipe in the same run.

// stamped is a script whose deltas say when they were printed.
func stamped(n int, pause time.Duration) []string {
	delta := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"{{now_ns}} "}]},"session_id":"s","timestamp_ms":{{now_ms}}}`
	script := []string{`{"type":"system","subtype":"init","session_id":"{{session}}","cwd":"{{cwd}}","model":"Auto"}`}
	if pause > 0 {
		script = append(script, fmt.Sprintf(`{"fake":"repeat","n":%d,"lines":2}`, n), delta,
			fmt.Sprintf(`{"fake":"sleep","ms":%d}`, pause.Milliseconds()))
	} else {
		script = append(script, fmt.Sprintf(`{"fake":"repeat","n":%d}`, n), delta)
	}
	return append(script, done)
}

// delays are times between the print of a delta and its arrival.
type delays []time.Duration

// arrived adds the delays of all stamps in text.
func (d *delays) arrived(text string, now time.Time) {
	for _, stamp := range strings.Fields(text) {
		if ns, err := strconv.ParseInt(stamp, 10, 64); err == nil {
			*d = append(*d, now.Sub(time.Unix(0, ns)))
		}
	}
}

func (d delays) quantile(q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return float64(d[min(int(q*float64(len(d))), len(d)-1)].Microseconds())
}

// pipe reads the script's deltas straight from the fake agent.
func (w *world) pipe() (d delays, took time.Duration) {
	cmd := exec.Command(filepath.Join(w.dir, "agent"), "-p", "--output-format", "stream-json", "--workspace", w.ws)
	cmd.Env, cmd.Dir, cmd.Stdin = w.env(), w.ws, strings.NewReader("x")
	out, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	start := time.Now()
	require.NoError(w.t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		now := time.Now()
		if _, rest, ok := bytes.Cut(lines.Bytes(), []byte(`"text":"`)); ok {
			stamp, _, _ := bytes.Cut(rest, []byte(`"`))
			d.arrived(string(stamp), now)
		}
	}
	require.NoError(w.t, cmd.Wait())
	return d, time.Since(start)
}

// through reads them through the daemon; first is the time from the request to the first of them.
func (w *world) through(e *editor, n int) (d delays, first, took time.Duration) {
	start := time.Now()
	turn := e.asks(nil)
	seen := 0
	for len(d) < n {
		e.mu.Lock()
		all, more := e.told, e.more
		e.mu.Unlock()
		for ; seen < len(all); seen++ {
			if all[seen].TurnID == turn.ID && all[seen].Method == "item/delta" {
				if first == 0 {
					first = all[seen].at.Sub(start)
				}
				d.arrived(all[seen].Text, all[seen].at)
			}
		}
		if len(d) < n {
			<-more
		}
	}
	took = time.Since(start)
	e.ends(turn.ID)
	return d, first, took
}

// resident returns the daemon's resident memory in MB; 0 where the system does not tell.
func (w *world) resident(field string) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}

// BenchmarkDelay measures what the daemon adds to each delta at 100 a second.
func BenchmarkDelay(b *testing.B) {
	for b.Loop() {
		w := newWorld(b)
		const n = 300
		w.plays(stamped(n, 10*time.Millisecond)...)
		w.start()
		e := w.opens()
		bare, _ := w.pipe()
		with, first, _ := w.through(e, n)
		b.ReportMetric(with.quantile(0.5)-bare.quantile(0.5), "µs-added-p50")
		b.ReportMetric(with.quantile(0.99)-bare.quantile(0.99), "µs-added-p99")
		b.ReportMetric(bare.quantile(0.5), "µs-pipe-p50")
		b.ReportMetric(bare.quantile(0.99), "µs-pipe-p99")
		b.ReportMetric(float64(first.Microseconds())/1000, "ms-to-first")
		b.ReportMetric(w.resident("VmRSS"), "MB-in-turn")
	}
}

// BenchmarkFlood measures deltas at full speed, beside a bare pipe.
func BenchmarkFlood(b *testing.B) {
	for b.Loop() {
		w := newWorld(b)
		const n = 300_000
		w.plays(stamped(n, 0)...)
		w.start()
		e := w.opens()
		b.ReportMetric(w.resident("VmRSS"), "MB-idle")
		_, bare := w.pipe()
		_, _, took := w.through(e, n)
		b.ReportMetric(n/took.Seconds(), "deltas/s")
		b.ReportMetric(took.Seconds()/bare.Seconds(), "x-pipe")
		b.ReportMetric(w.resident("VmHWM"), "MB-peak")
	}
}

// BenchmarkFirstDelta measures the time from turn/start to the first delta, beside the agent's own.
func BenchmarkFirstDelta(b *testing.B) {
	w := newWorld(b)
	w.plays(stamped(1, 0)...)
	w.start()
	e := w.opens()
	var bare, with delays
	for b.Loop() {
		_, took := w.pipe()
		_, first, _ := w.through(e, 1)
		bare, with = append(bare, took), append(with, first)
	}
	b.ReportMetric(with.quantile(0.5)-bare.quantile(0.5), "µs-beyond-agent")
	b.ReportMetric(bare.quantile(0.5), "µs-agent")
}

// BenchmarkInitialize measures the time from the start of "cursord stdio" to its first answer.
func BenchmarkInitialize(b *testing.B) {
	w := newWorld(b)
	w.start()
	request, err := json.Marshal(obj{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": obj{}})
	require.NoError(b, err)
	var d delays
	for b.Loop() {
		cmd := exec.Command("cursord", "stdio")
		cmd.Env = w.env()
		in, err := cmd.StdinPipe()
		require.NoError(b, err)
		out, err := cmd.StdoutPipe()
		require.NoError(b, err)
		start := time.Now()
		require.NoError(b, cmd.Start())
		fmt.Fprintf(in, "%s\n", request)
		_, err = bufio.NewReader(out).ReadBytes('\n')
		require.NoError(b, err)
		d = append(d, time.Since(start))
		in.Close()
		require.NoError(b, cmd.Wait())
	}
	b.ReportMetric(d.quantile(0.5), "µs-p50")
}
