package daemon

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/sessions"
)

var (
	feedRounds = flag.Int("feeds", 3, "how many random workspaces TestRandomSubscriptions has")
	feedSeed   = flag.Uint64("feeds.seed", 1, "the seed of the first")
)

// TestRandomSubscriptions: clients of all kinds follow a workspace with random events. The notifications of each fit
// together at every moment, and end in the state of the store.
func TestRandomSubscriptions(t *testing.T) {
	for i := range *feedRounds {
		t.Run(fmt.Sprintf("seed %d", *feedSeed+uint64(i)), func(t *testing.T) { randomFeed(t, *feedSeed+uint64(i)) })
	}
}

func randomFeed(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var gate commitGate
	w := openSpace(t, gate.commit)
	f := &feed{t: t, w: w, settled: make(chan struct{})}
	f.more.L = &f.mu
	var clients, speakers sync.WaitGroup
	var followers []*follower
	for range 2 + rng.IntN(8) {
		r := newFollower(f, rand.New(rand.NewPCG(rng.Uint64(), 0)))
		followers = append(followers, r)
		clients.Go(r.reads)
	}
	for range 1 + rng.IntN(2) {
		rng, turn := rand.New(rand.NewPCG(rng.Uint64(), 0)), w.aTurn(t)
		speakers.Go(func() { f.speaks(rng, turn) })
	}
	faulty := rand.New(rand.NewPCG(rng.Uint64(), 0))
	stop := make(chan struct{})
	var faults sync.WaitGroup
	faults.Go(func() { f.breaks(faulty, &gate, stop) })
	sessions := rand.New(rand.NewPCG(rng.Uint64(), 0))
	faults.Go(func() {
		for !f.waits(6) {
			f.session(sessions)
		}
	})
	speakers.Wait()
	close(stop)
	f.tick(true)
	faults.Wait()
	w.ended(t)
	close(f.settled)
	clients.Wait()
	for _, r := range followers {
		if !t.Failed() {
			r.compares()
		}
	}
}

// A feed is the random events in the workspace, counted.
type feed struct {
	t *testing.T
	w *workspace

	mu   sync.Mutex
	more sync.Cond

	settled chan struct{} // closed when all changes are stored and published

	at   int  // guarded by mu
	over bool // guarded by mu
}

func (f *feed) tick(over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at++
	f.over = f.over || over
	f.more.Broadcast()
}

// waits returns after that many more events, or at the end.
func (f *feed) waits(steps int) (over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for until := f.at + steps; f.at < until && !f.over; {
		f.more.Wait()
	}
	return f.over
}

// breaks makes commits fail or wait, now and then.
func (f *feed) breaks(rng *rand.Rand, gate *commitGate, stop chan struct{}) {
	broken := error(syscall.EIO)
	for {
		select {
		case <-stop:
			return
		default:
		}
		f.waits(rng.IntN(10))
		if rng.IntN(8) == 0 {
			gate.fail.Store(&broken)
			f.waits(1 + rng.IntN(10))
			gate.fail.Store(nil)
			continue
		}
		open := gate.close()
		f.waits(1 + rng.IntN(4))
		open()
	}
}

// speaks plays a turn. All text is consecutive numbers, so that a text shows gaps and repetitions.
func (f *feed) speaks(rng *rand.Rand, turn *liveTurn) {
	n, calls := 0, 0
	var open []string
	text := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(5) {
			n++
			fmt.Fprintf(&b, "%d,", n)
		}
		return b.String()
	}
	for range 150 {
		var events []agent.Event
		for range 1 + rng.IntN(3) {
			switch k := rng.IntN(40); {
			case k < 24:
				events = append(events, agent.Text{Text: text()})
			case k < 28:
				events = append(events, agent.Thinking{Text: text()})
			case k < 29:
				events = append(events, agent.ThinkingEnd{})
			case k < 31:
				events = append(events, agent.TextEnd{})
			case k < 34:
				events = append(events, agent.Withdraw{})
			case k < 35:
				events = append(events, agent.Notice{Text: "look"})
			case k < 38:
				calls++
				id := fmt.Sprint("c", calls)
				open = append(open, id)
				events = append(events, agent.ToolStart{Call: agent.Call{ID: id, Name: "read", Title: id}})
			case len(open) > 0:
				i := rng.IntN(len(open))
				call := agent.Call{ID: open[i], Name: "read", Title: open[i], Output: "done"}
				open = append(open[:i], open[i+1:]...)
				events = append(events, agent.ToolEnd{Call: call, State: agent.CallCompleted})
			}
		}
		f.w.says(turn, events...)
		if rng.IntN(4) == 0 {
			f.w.in(f.t, func() { f.diff(rng, turn) })
		}
		f.tick(false)
		for range rng.IntN(50) {
			runtime.Gosched()
		}
	}
	f.w.ends(turn)
}

// diff publishes one of three diffs with new content.
func (f *feed) diff(rng *rand.Rand, turn *liveTurn) {
	d := &sessions.Diff{
		Workspace: f.w.root, Path: fmt.Sprint("f", rng.IntN(3)), State: "pending", Added: rng.IntN(100), Turns: []string{turn.turn.ID},
		Hunks: []sessions.Hunk{{ID: fmt.Sprint(rng.IntN(1000)), Lines: []string{"+x"}}},
	}
	var c commit
	f.w.put(&c, d, nil)
	f.w.submit(&c)
}

// session creates a session, and may delete it.
func (f *feed) session(rng *rand.Rand) {
	title := fmt.Sprint(rng.IntN(100))
	s, err := f.w.d.CreateSession(f.w.root, api.SessionParams{Title: &title})
	if err == nil && rng.IntN(2) == 0 {
		err = f.w.d.DeleteSession(s.ID)
	}
	if e, ok := err.(*api.Error); ok && e.Kind == api.KindStorage {
		return
	}
	if err != nil {
		f.t.Errorf("a session: %v", err)
	}
}
