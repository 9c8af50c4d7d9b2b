//go:build unix

package bench

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/endpoint"
	"cursord/rpc/join"
	"cursord/sessions"
)

// storeSessions is behind a flag, because a database of years takes a minute and 1 GB to make.
var storeSessions = flag.Int("bench.sessions", 1000, "stored `sessions`, of 100 items each, in BenchmarkStore")

// storeHistory puts sessions of 10 turns, each of 10 items, into a database, and returns the workspace's last seq.
func storeHistory(w *world.World, n int) (seq uint64) {
	w.T.Helper()
	dirs := endpoint.Dirs{State: filepath.Join(w.Dir, "state")}
	require.NoError(w.T, dirs.MakeState())
	s, _, err := sessions.Open(dirs.Database(), sessions.Options{})
	require.NoError(w.T, err)
	next := func() uint64 { seq++; return seq }
	now := sessions.Now()
	text := strings.Repeat("some words of an answer ", 8)
	room := make(chan struct{}, 256)
	submit := func(ops []sessions.Op) {
		room <- struct{}{}
		s.Submit(w.Root, ops, func(err error) {
			if err != nil {
				w.T.Error(err)
			}
			<-room
		})
	}
	for i := range n {
		sid := fmt.Sprintf("session%06d", i)
		at := sessions.Time{Time: now.Add(time.Duration(i-n) * time.Minute)}
		ops := []sessions.Op{sessions.Put{Object: &sessions.Session{
			ID: sid, Workspace: w.Root, Title: "do it", Mode: sessions.ModeAgent, Isolation: "none", State: sessions.SessionIdle,
			Turns: 10, CreatedAt: at, UpdatedAt: at, Seq: next(),
		}}}
		for j := range 10 {
			tid := fmt.Sprintf("%s-turn%d", sid, j)
			ops = append(ops, sessions.Put{Object: &sessions.Turn{
				ID: tid, SessionID: sid, Workspace: w.Root, Prompt: "do it", Mode: sessions.ModeAgent, Status: sessions.TurnCompleted,
				CreatedAt: at, EndedAt: &at, Seq: next(),
			}})
			for k := range 10 {
				ops = append(ops, sessions.Put{Object: &sessions.Item{
					ID: sessions.ItemID(tid, k), TurnID: tid, SessionID: sid, Workspace: w.Root, Index: k, Kind: sessions.ItemAssistant,
					Status: sessions.ItemCompleted, Text: text, StartedAt: at, EndedAt: &at, Seq: next(),
				}})
			}
		}
		submit(ops)
	}
	submit([]sessions.Op{sessions.SetTrust{Trusted: true}})
	for range cap(room) {
		room <- struct{}{}
	}
	require.NoError(w.T, s.Close())
	return seq
}

// BenchmarkStore measures the daemon on a database of years: the time from the process's start to an answer; a page of
// session/list, beside an empty request, which shows how busy the machine is; a catch-up of 1,000 changes; the time of
// "cursord gc", and its effect on the deltas and changes of a running turn.
func BenchmarkStore(b *testing.B) {
	w := world.New(b)
	seq := storeHistory(w, *storeSessions)
	var ready, list, nothing, caught delays
	var idle, after float64
	for b.Loop() {
		start := time.Now()
		w.Start()
		l := newListener(dials(w, w.Socket()))
		l.calls("workspace/list", world.Obj{})
		ready = append(ready, time.Since(start))
		idle = world.Resident(w.Cmd.Process.Pid, "VmRSS")
		for range 200 {
			start := time.Now()
			l.calls("session/list", world.Obj{"workspace": w.Root, "limit": 50})
			list = append(list, time.Since(start))
			start = time.Now()
			l.calls(join.AliveMethod, world.Obj{})
			nothing = append(nothing, time.Since(start))
		}
		for range 20 {
			start := time.Now()
			l.calls("workspace/subscribe", world.Obj{"workspace": w.Root, "after": seq - 1000})
			for range 1000 {
				l.next()
			}
			caught = append(caught, time.Since(start))
		}
		after = world.Resident(w.Cmd.Process.Pid, "VmRSS")
		l.leaves()
		w.Stop()
	}
	b.ReportMetric(float64(*storeSessions), "sessions")
	b.ReportMetric(ready.quantile(0.5)/1000, "ms-ready")
	b.ReportMetric(list.quantile(0.5), "µs-list50-p50")
	b.ReportMetric(list.quantile(0.99), "µs-list50-p99")
	b.ReportMetric(nothing.quantile(0.5), "µs-nothing-p50")
	b.ReportMetric(nothing.quantile(0.99), "µs-nothing-p99")
	b.ReportMetric(caught.quantile(0.5)/1000, "ms-catchup1000-p50")
	b.ReportMetric(caught.quantile(0.99)/1000, "ms-catchup1000-p99")
	b.ReportMetric(idle, "MB-ready")
	b.ReportMetric(after, "MB-after")
	measureGC(w, b)
}

// measureGC compacts the database while a turn sends a hundred deltas a second and its session is renamed over and over.
func measureGC(w *world.World, b *testing.B) {
	w.Plays(stamped(60_000, 10*time.Millisecond)...)
	w.Start()
	l, namer, collector := listens(w), newListener(dials(w, w.Socket())), newListener(dials(w, w.Socket()))
	l.calls("session/list", world.Obj{"workspace": w.Root, "limit": 1})
	const session = "session000000"
	l.calls("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "sessionId": session, "turnId": "beside"})
	renames := func(until <-chan struct{}) <-chan delays {
		took := make(chan delays, 1)
		go func() {
			var d delays
			for i := 0; ; i++ {
				select {
				case <-until:
					took <- d
					return
				default:
				}
				start := time.Now()
				namer.calls("session/update", world.Obj{"sessionId": session, "title": fmt.Sprint("name ", i)})
				d = append(d, time.Since(start))
			}
		}()
		return took
	}
	l.hears(50*stampSize, nil) // the turn has begun by then
	measure := func(name string, during func()) {
		ended := make(chan struct{})
		stored := renames(ended)
		go func() {
			defer close(ended)
			during()
		}()
		var deltas delays
		for running := true; running; {
			if text, ok := deltaOf(l.next()); ok {
				deltas.arrived(text, time.Now())
			}
			select {
			case <-ended:
				running = false
			default:
			}
		}
		for what, d := range map[string]delays{"delta": deltas, "stored": <-stored} {
			b.ReportMetric(d.quantile(0.5), fmt.Sprintf("µs-%s-%s-p50", what, name))
			b.ReportMetric(d.quantile(0.99), fmt.Sprintf("µs-%s-%s-p99", what, name))
		}
	}
	measure("alone", func() { time.Sleep(3 * time.Second) })
	measure("beside-gc", func() {
		start := time.Now()
		collector.calls("daemon/gc", world.Obj{})
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms-gc")
	})
	namer.calls("turn/cancel", world.Obj{"turnId": "beside"})
	for _, each := range []*listener{l, namer, collector} {
		each.leaves()
	}
}

// BenchmarkMemory measures the daemon's resident memory at rest and with 20 turns at once.
func BenchmarkMemory(b *testing.B) {
	const turns = 20
	usesBuilt(b)
	for b.Loop() {
		w := world.New(b)
		w.Plays(world.InitLine, `{"fake":"repeat","n":200}`, world.Piece(word), `{"fake":"hang"}`)
		w.Start()
		l := listens(w)
		b.ReportMetric(world.Resident(w.Cmd.Process.Pid, "VmRSS"), "MB-idle")
		for i := range turns {
			l.asks("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "mode": "ask", "turnId": fmt.Sprint("t", i)})
		}
		l.hears(turns*200*len(word), nil)
		b.ReportMetric(world.Resident(w.Cmd.Process.Pid, "VmRSS"), "MB-20-turns")
		l.calls("daemon/stop", world.Obj{"force": true})
		l.leaves()
	}
}
