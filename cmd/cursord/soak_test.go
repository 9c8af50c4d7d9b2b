//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

var (
	soakMinutes = flag.Float64("soak.minutes", 0, "how long TestSoak takes; 0: it does not run")
	soakSeed    = flag.Uint64("soak.seed", 1, "the seed of what TestSoak does")
)

const (
	soakClients = 8
	soakSites   = 4
	soakKills   = 5 // of the daemon, in the first half
)

// A soak is a daemon in long use.
type soak struct {
	*world
	sites  []*site
	over   chan struct{}
	downs  atomic.Int64 // how often the daemon went down or was up again
	visits sync.RWMutex // each is read-locked: who locks it has them all end, and waits
	agentsKilled,
	visited,
	turns,
	decisions atomic.Int64
}

// TestSoak has clients come and go, at random, with all that they do at work, and the daemon and agents be killed. What
// clients are told is checked all along, and in the end what the daemon has grown by.
func TestSoak(t *testing.T) {
	t.Parallel()
	if *soakMinutes == 0 {
		t.Skip("without -soak.minutes")
	}
	w := newWorld(t)
	w.playsByTurn()
	s := &soak{world: w, over: make(chan struct{})}
	t.Cleanup(func() {
		if t.Failed() {
			b, _ := os.ReadFile(filepath.Join(w.dir, "state", "cursord.log"))
			t.Logf("the daemon's log ends:\n%s", b[max(0, len(b)-1<<16):])
		}
		_, _, _ = w.cursord("stop", "--force")
	})
	s.up()
	for i := range soakSites {
		at := *w
		at.ws = filepath.Join(w.dir, fmt.Sprint("ws", i))
		s.sites = append(s.sites, at.site())
		at.opens().c.Close()
	}
	var clients sync.WaitGroup
	stop := sync.OnceFunc(func() {
		close(s.over)
		clients.Wait()
	})
	defer stop()
	memories := make([]map[*site]*memory, soakClients)
	for i := range memories {
		memories[i] = map[*site]*memory{}
		for _, p := range s.sites {
			memories[i][p] = newMemory()
		}
		clients.Go(func() { s.client(i, memories[i]) })
	}

	begun, tenth := time.Now(), time.Duration(*soakMinutes*float64(time.Minute)/10)
	s.until(begun.Add(tenth))
	table := []sample{s.measures("first tenth")}
	for i := range soakKills {
		s.until(begun.Add(tenth + 4*tenth*time.Duration(i+1)/soakKills))
		s.killsDaemon()
	}
	s.until(begun.Add(6 * tenth))
	table = append(table, s.measures("after the kills"))
	s.until(begun.Add(10 * tenth))
	stop()
	table = append(table, s.measures("end"))
	require.False(t, t.Failed())
	for _, p := range s.sites {
		s.compares(p, memories)
	}
	requireBounded(t, table)
}

// compares sees that each client knows all that is stored, and that it is as it should be.
func (s *soak) compares(p *site, memories []map[*site]*memory) {
	s.t.Helper()
	p.requireWhole()
	e := p.joins()
	all := p.everything(e)
	now := newMemory()
	now.learns(s.t, all)
	for _, of := range memories {
		m, e := of[p], p.joins()
		was := m.after
		require.NoError(s.t, m.subscribes(e))
		if was < now.after {
			e.until("the latest", func(n told) bool { return n.Seq >= now.after })
		}
		m.learns(s.t, e.all())
		for key, seq := range now.seqs {
			require.Equal(s.t, seq, m.seqs[key], "what a client knows of %s", key)
		}
		p.requireEnded(all, m)
		e.c.Close()
	}
	e.c.Close()
}

// until waits, and says now and then how it goes.
func (s *soak) until(when time.Time) {
	s.t.Helper()
	progress := time.NewTicker(5 * time.Second)
	defer progress.Stop()
	for {
		select {
		case <-time.After(time.Until(when)):
			return
		case <-progress.C:
			s.t.Logf("%d visits, %d turns, %d decisions, %d agents killed, the daemon %d times", s.visited.Load(), s.turns.Load(),
				s.decisions.Load(), s.agentsKilled.Load(), s.downs.Load()/2)
		}
		require.False(s.t, s.t.Failed())
	}
}

// up has a daemon run.
func (s *soak) up() {
	s.t.Helper()
	_, stderr, status := s.cursord("status")
	require.Zero(s.t, status, stderr)
}

func (s *soak) status() api.Status {
	s.t.Helper()
	e := s.joins()
	defer e.c.Close()
	return e.status()
}

func (s *soak) killsDaemon() {
	s.t.Helper()
	pid := s.status().PID
	s.downs.Add(1)
	require.NoError(s.t, syscall.Kill(pid, syscall.SIGKILL))
	require.Eventually(s.t, func() bool { return syscall.Kill(pid, 0) != nil }, patience, time.Millisecond)
	s.up()
	s.downs.Add(1)
}

// A visit is a client's, from joining to leaving.
type visit struct {
	testing.TB
	atEnd []func()
}

func (v *visit) Cleanup(f func()) { v.atEnd = append(v.atEnd, f) }

func (v *visit) ends() {
	for i := range v.atEnd {
		v.atEnd[len(v.atEnd)-1-i]()
	}
}

// client visits again and again.
func (s *soak) client(i int, memories map[*site]*memory) {
	rng := rand.New(rand.NewPCG(*soakSeed, uint64(i)))
	for !s.t.Failed() {
		select {
		case <-s.over:
			return
		default:
		}
		p := s.sites[rng.IntN(len(s.sites))]
		s.visit(i, p, memories[p], rng)
	}
}

func (s *soak) visit(i int, p *site, m *memory, rng *rand.Rand) {
	s.visits.RLock()
	defer s.visits.RUnlock()
	s.visited.Add(1)
	v := &visit{TB: s.t}
	defer v.ends()
	at := *p.world
	at.t = v
	before := s.downs.Load()
	e := at.editorOn(s.connects(i, v, &at))
	err := m.subscribes(e)
	for range 3 + rng.IntN(6) {
		if err != nil {
			break
		}
		if err = s.acts(p, e, rng); declined(err) {
			err = nil
		}
	}
	if err != nil {
		now := s.downs.Load()
		require.True(v, before%2 == 1 || before != now, "the daemon was not killed, and a request failed: %v", err)
		var failed *rpc.Error
		require.True(v, errors.Is(err, rpc.ErrClosed) || errors.As(err, &failed) && failed.Code == rpc.CodeUnavailable, "%v", err)
	}
	e.c.Close()
	<-e.c.Done()
	m.learns(v, e.withoutLostText())
	p.requireWhole()
}

// connects takes the way of the client: every fourth reads slowly, and every fourth goes through "cursord stdio".
func (s *soak) connects(i int, v *visit, at *world) io.ReadWriteCloser {
	if i%4 == 0 {
		cmd, conn := at.stdio("cursord")
		v.Cleanup(func() {
			conn.Close()
			_ = cmd.Wait()
		})
		return conn
	}
	var conn net.Conn
	require.Eventually(v, func() bool {
		var err error
		conn, err = net.Dial("unix", at.socket())
		return err == nil
	}, patience, time.Millisecond)
	if i%4 == 1 {
		return slowConn{conn}
	}
	return conn
}

// A slowConn reads little, and not often.
type slowConn struct{ net.Conn }

func (c slowConn) Read(p []byte) (int, error) {
	<-time.After(5 * time.Millisecond)
	return c.Conn.Read(p[:min(len(p), 4<<10)])
}

// acts does one thing.
func (s *soak) acts(p *site, e *editor, rng *rand.Rand) error {
	what := rng.IntN(12)
	if err := s.act(what, p, e, rng); err != nil {
		return fmt.Errorf("act %d: %w", what, err)
	}
	return nil
}

func (s *soak) act(what int, p *site, e *editor, rng *rand.Rand) error {
	switch what {
	case 0, 1, 2, 3:
		return s.turn(p, e, rng)
	case 4, 5, 6:
		s.decisions.Add(1)
		return p.decides(e, rng)
	case 7:
		return p.types(e, rng)
	case 8:
		var page struct{ Items []*sessions.Item }
		if err := e.call("session/read", obj{"sessionId": p.session(rng)}, &page); err != nil || len(page.Items) == 0 {
			return err
		}
		return e.call("item/read", obj{"itemId": page.Items[rng.IntN(len(page.Items))].ID}, nil)
	case 9:
		if rng.IntN(4) == 0 {
			return e.call("session/delete", obj{"sessionId": p.session(rng)}, nil)
		}
		return e.call("diff/unified", obj{"workspace": p.ws}, nil)
	case 10:
		return e.call("workspace/subscribe", obj{"workspace": s.sites[rng.IntN(len(s.sites))].ws + "/d"}, nil)
	}
	return e.call("session/list", obj{"workspace": p.ws, "limit": 50}, nil)
}

// session is one that was begun here, "none" where there is none.
func (p *site) session(rng *rand.Rand) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	skip := rng.IntN(10)
	last := "none"
	for _, c := range p.started {
		if c.sessionID != "" {
			last = c.sessionID
			if skip--; skip < 0 {
				break
			}
		}
	}
	return last
}

// turn starts one, and waits for it, or does not, or ends it in some way.
func (s *soak) turn(p *site, e *editor, rng *rand.Rand) error {
	session := ""
	if rng.IntN(2) == 0 {
		session = p.session(rng)
	}
	if session == "none" {
		session = ""
	}
	how := rng.IntN(8)
	script, said := p.script(rng)
	if how < 2 {
		script = append(script[:len(script)-1], `{"fake":"hang"}`)
	}
	turn, err := p.asks(e, session, script, said)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	s.turns.Add(1)
	var ended atomic.Bool
	switch how {
	case 0:
		if err := e.call("turn/cancel", obj{"turnId": turn}, nil); err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
	case 1:
		go func() {
			for !ended.Load() { // it may be started again, and is killed again
				if p.killsAgent(turn) {
					s.agentsKilled.Add(1)
				}
				<-time.After(5 * time.Millisecond)
			}
		}()
	case 2:
		if p.killsAgent(turn) {
			s.agentsKilled.Add(1)
		}
	case 3:
		return nil
	}
	var out struct{ Turn *sessions.Turn }
	err = e.call("turn/wait", obj{"turnId": turn}, &out)
	ended.Store(true)
	if err != nil {
		return fmt.Errorf("wait for %s, way %d: %w", turn, how, err)
	}
	require.True(e.t, out.Turn.Status.Final())
	if rng.IntN(4) == 0 {
		require.Empty(e.t, p.agents(turn), "processes that outlive the turn")
	}
	return nil
}
