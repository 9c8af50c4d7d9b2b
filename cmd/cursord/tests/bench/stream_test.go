//go:build unix

package bench

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cursord/cmd/cursord/tests/world"
)

// stamped is a script whose deltas contain the time at which they were printed, at a fixed interval.
func stamped(n int, pause time.Duration) []string {
	delta := world.Piece("{{now_ns}} ")
	if pause == 0 {
		return []string{world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d}`, n), delta, world.Done}
	}
	return []string{
		world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d,"lines":2}`, n),
		fmt.Sprintf(`{"fake":"sleep","ms":%g}`, float64(pause)/1e6), delta, world.Done,
	}
}

const stampSize = len("1234567890123456789 ")

// word is the text of a delta in a flood.
const word = " and some words"

// flood is a script of n deltas without pauses.
func flood(n int) []string {
	return []string{
		world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d}`, n),
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + word +
			`"}]},"session_id":"4b1c7c4e-1d0f-4a57-9b6e-0d8e0c1f2a3b","timestamp_ms":1790000000000}`, world.Done,
	}
}

// arrived adds the delays of all stamps in a text.
func (d *delays) arrived(text []byte, at time.Time) {
	for stamp := range strings.FieldsSeq(string(text)) {
		if ns, err := strconv.ParseInt(stamp, 10, 64); err == nil {
			*d = append(*d, at.Sub(time.Unix(0, ns)))
		}
	}
}

// A route is a way of an agent's deltas to a client.
type route struct {
	name string
	open func(*world.World) *listener
}

// routes begins with the route to which the others are compared.
func routes() []route {
	return []route{{"relay", relayed}, {"socket", listens}, {"stdio", listensByStdio}, {"acp", listensByACP}}
}

// begins starts a turn, unless the route starts it itself, and returns the process that passes the deltas on.
func begins(w *world.World, r route, l *listener) (pid int) {
	if l.session != "" {
		l.asks("session/prompt", world.Obj{"sessionId": l.session, "prompt": []world.Obj{{"type": "text", "text": "do it"}}})
		return w.Cmd.Process.Pid
	}
	if l.pid != 0 && r.name != "stdio" {
		return l.pid
	}
	l.calls("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it"})
	return w.Cmd.Process.Pid
}

// BenchmarkDelay measures how long a delta is on its way at 100 a second and at full speed, on each route in turns;
// "added" is what there is over the relay. What is added by stdio has one process more in it: relay-twice says what such
// a one adds that does nothing. At full speed it is mostly time in buffers. On a machine that shares its processors, p99
// is how long they were away: compare it with that of the pipe, in which there is nobody between.
func BenchmarkDelay(b *testing.B) {
	b.Run("paced", func(b *testing.B) { measureDelay(b, 200, 4, 10*time.Millisecond) })
	b.Run("full", func(b *testing.B) { measureDelay(b, 50_000, 1, 0) })
}

func measureDelay(b *testing.B, n, rounds int, pause time.Duration) {
	for b.Loop() {
		w := world.New(b)
		w.Plays(stamped(n, pause)...)
		w.Start()
		all := append(routes(), route{"relay-twice", relayedTwice}, route{"pipe", piped})
		took, used := make([]delays, len(all)), make([]time.Duration, len(all))
		for range rounds {
			for i, r := range all {
				l := r.open(w)
				pid := begins(w, r, l)
				before := cpuTime(pid)
				var each delays
				l.hears(n*stampSize, each.arrived)
				used[i] += cpuTime(pid) - before
				took[i] = append(took[i], each[n/10:]...) // the turn has begun by then
				l.leaves()
			}
		}
		for i, r := range all {
			if r.name != "pipe" {
				b.ReportMetric(float64(used[i].Microseconds())*1000/float64(rounds*n), "µs-cpu/1000-"+r.name)
			}
			for _, p := range []int{50, 90, 99} {
				q := float64(p) / 100
				if i == 0 || r.name == "pipe" {
					b.ReportMetric(took[i].quantile(q), fmt.Sprintf("µs-%s-p%d", r.name, p))
				} else {
					b.ReportMetric(took[i].quantile(q)-took[0].quantile(q), fmt.Sprintf("µs-added-%s-p%d", r.name, p))
				}
			}
		}
	}
}

// BenchmarkFlood measures deltas at full speed on each route.
func BenchmarkFlood(b *testing.B) {
	const n = 500_000
	for _, r := range routes() {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				w := world.New(b)
				w.Plays(flood(n)...)
				w.Start()
				l := r.open(w)
				pid := begins(w, r, l)
				before := cpuTime(pid)
				first, last := l.hears(n*len(word), nil)
				b.ReportMetric(n/last.Sub(first).Seconds(), "deltas/s")
				b.ReportMetric(float64((cpuTime(pid)-before).Microseconds())/(n/1000), "µs-cpu/1000")
				b.ReportMetric(world.Resident(pid, "VmHWM"), "MB-peak")
				l.leaves()
			}
		})
	}
}

// BenchmarkFanout measures deltas at full speed to several clients at once.
func BenchmarkFanout(b *testing.B) {
	const n = 300_000
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			for b.Loop() {
				w := world.New(b)
				w.Plays(flood(n)...)
				w.Start()
				pid := w.Cmd.Process.Pid
				used := cpuTime(pid)
				took := allHear(w, clients, n*len(word))
				b.ReportMetric(n/took.Seconds(), "deltas/s")
				b.ReportMetric(float64((cpuTime(pid)-used).Microseconds())/(n/1000), "µs-cpu/1000")
				b.ReportMetric(world.Resident(pid, "VmHWM"), "MB-peak")
			}
		})
	}
}

// allHear runs one turn before several clients and returns the time from the first delta to the last.
func allHear(w *world.World, clients, size int) time.Duration {
	all := make([]*listener, clients)
	for i := range all {
		all[i] = listens(w)
		defer all[i].leaves()
	}
	all[0].asks("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it"})
	var hearing sync.WaitGroup
	firsts, lasts := make([]time.Time, clients), make([]time.Time, clients)
	for i, l := range all {
		hearing.Go(func() { firsts[i], lasts[i] = l.hears(size, nil) })
	}
	hearing.Wait()
	return slices.MaxFunc(lasts, time.Time.Compare).Sub(slices.MinFunc(firsts, time.Time.Compare))
}

// BenchmarkPacedFanout measures the processor time of 64 clients at 1,000 deltas a second and more.
func BenchmarkPacedFanout(b *testing.B) {
	const n = 4800
	for b.Loop() {
		w := world.New(b)
		delta := world.Piece("{{now_ns}} ")
		// A sleep of 2 ms takes about 3.
		w.Plays(world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d,"lines":5}`, n/4), `{"fake":"sleep","ms":2}`, delta, delta, delta, delta, world.Done)
		w.Start()
		pid := w.Cmd.Process.Pid
		used := cpuTime(pid)
		took := allHear(w, 64, n*stampSize)
		b.ReportMetric(n/took.Seconds(), "deltas/s")
		b.ReportMetric((cpuTime(pid)-used).Seconds()/took.Seconds(), "cores")
		b.ReportMetric((cpuTime(pid)-used).Seconds()/n*1000, "cores-at-1000/s")
	}
}

// BenchmarkRequestInFlood measures a request's round trip during a flood: on a connection of its own, and on the flooded
// one.
func BenchmarkRequestInFlood(b *testing.B) {
	for b.Loop() {
		w := world.New(b)
		w.Plays(flood(50_000_000)...)
		w.Start()
		flooded := listens(w)
		flooded.calls("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "turnId": "flood"})
		answered := make(chan time.Time, 1)
		go func() {
			for {
				line, err := flooded.lines.ReadSlice('\n')
				if err != nil && err != bufio.ErrBufferFull {
					return
				}
				if isAnswer(line) {
					answered <- time.Now()
				}
			}
		}()
		other := newListener(dials(w, w.Socket()))
		var beside, within delays
		for range 500 {
			start := time.Now()
			other.calls("session/list", world.Obj{"workspace": w.Root, "limit": 50})
			beside = append(beside, time.Since(start))
			start = time.Now()
			flooded.asks("session/list", world.Obj{"workspace": w.Root, "limit": 50})
			within = append(within, (<-answered).Sub(start))
		}
		for name, d := range map[string]delays{"beside": beside, "within": within} {
			b.ReportMetric(d.quantile(0.5), "µs-"+name+"-p50")
			b.ReportMetric(d.quantile(0.99), "µs-"+name+"-p99")
		}
		other.calls("turn/cancel", world.Obj{"turnId": "flood"})
		flooded.leaves()
	}
}

// BenchmarkFirstDelta measures the time from turn/start to the first delta, beside the agent's own time in a relay.
func BenchmarkFirstDelta(b *testing.B) {
	w := world.New(b)
	w.Plays(stamped(1, 0)...)
	w.Start()
	var took [2]delays
	for b.Loop() {
		for i, r := range routes()[:2] {
			l := r.open(w)
			start := time.Now()
			begins(w, r, l)
			_, at := l.hears(stampSize, nil)
			took[i] = append(took[i], at.Sub(start))
			l.leaves()
		}
	}
	b.ReportMetric(took[0].quantile(0.5), "µs-agent")
	b.ReportMetric(took[1].quantile(0.5)-took[0].quantile(0.5), "µs-beyond-agent")
}
