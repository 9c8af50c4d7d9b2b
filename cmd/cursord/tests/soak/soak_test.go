//go:build linux

package soak

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

	"cursord/cmd/cursord/tests/world"
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
	soakKills   = 5 // the daemon's, in the first half
)

// A soak is a daemon in long use.
type soak struct {
	*world.World
	sites  []*site
	over   chan struct{}
	downs  atomic.Int64 // how often the daemon was killed or started
	visits sync.RWMutex // every visit holds a read lock; the write lock waits for all visits to end
	agentsKilled,
	visited,
	turns,
	decisions atomic.Int64
}

// TestSoak has clients come and go at random with all kinds of work, and kills the daemon and agents. It checks the clients'
// notifications all along, and the daemon's growth at the end.
func TestSoak(t *testing.T) {
	t.Parallel()
	if *soakMinutes == 0 {
		t.Skip("without -soak.minutes")
	}
	w := world.New(t)
	playsByTurn(w)
	s := &soak{World: w, over: make(chan struct{})}
	t.Cleanup(func() {
		if t.Failed() {
			b, _ := os.ReadFile(filepath.Join(w.Dir, "state", "cursord.log"))
			t.Logf("the daemon's log ends:\n%s", b[max(0, len(b)-1<<16):])
		}
		_, _, _ = w.Cursord("stop", "--force")
	})
	s.up()
	for i := range soakSites {
		at := *w
		at.Root = filepath.Join(w.Dir, fmt.Sprint("ws", i))
		s.sites = append(s.sites, newSite(&at))
		at.Opens().Client.Close()
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

// compares requires that each client knows the whole store, and that the store is consistent.
func (s *soak) compares(p *site, memories []map[*site]*memory) {
	s.T.Helper()
	p.requireWhole()
	e := p.Joins()
	all := p.everything(e)
	now := newMemory()
	now.learns(s.T, all)
	for _, of := range memories {
		m, e := of[p], p.Joins()
		was := m.after
		require.NoError(s.T, m.subscribes(e))
		if was < now.after {
			e.Until("the latest", func(n world.Notification) bool { return n.Seq >= now.after })
		}
		m.learns(s.T, e.All())
		for key, seq := range now.seqs {
			require.Equal(s.T, seq, m.seqs[key], "what a client knows of %s", key)
		}
		p.requireEnded(all, m)
		e.Client.Close()
	}
	e.Client.Close()
}

// until waits, and prints its progress now and then.
func (s *soak) until(when time.Time) {
	s.T.Helper()
	progress := time.NewTicker(5 * time.Second)
	defer progress.Stop()
	for {
		select {
		case <-time.After(time.Until(when)):
			return
		case <-progress.C:
			s.T.Logf("%d visits, %d turns, %d decisions, %d agents killed, the daemon %d times", s.visited.Load(), s.turns.Load(),
				s.decisions.Load(), s.agentsKilled.Load(), s.downs.Load()/2)
		}
		require.False(s.T, s.T.Failed())
	}
}

// up starts a daemon if none runs.
func (s *soak) up() {
	s.T.Helper()
	_, stderr, status := s.Cursord("status")
	require.Zero(s.T, status, stderr)
}

func (s *soak) status() api.Status {
	s.T.Helper()
	e := s.Joins()
	defer e.Client.Close()
	return e.Status()
}

func (s *soak) killsDaemon() {
	s.T.Helper()
	pid := s.status().PID
	s.downs.Add(1)
	require.NoError(s.T, syscall.Kill(pid, syscall.SIGKILL))
	require.Eventually(s.T, func() bool { return syscall.Kill(pid, 0) != nil }, world.Patience, time.Millisecond)
	s.up()
	s.downs.Add(1)
}

// A visit is a client's connection, from its beginning to its end.
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

// client makes one visit after the other.
func (s *soak) client(i int, memories map[*site]*memory) {
	rng := rand.New(rand.NewPCG(*soakSeed, uint64(i)))
	for !s.T.Failed() {
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
	v := &visit{TB: s.T}
	defer v.ends()
	at := *p.World
	at.T = v
	before := s.downs.Load()
	e := at.EditorOn(s.connects(i, v, &at))
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
	e.Client.Close()
	<-e.Client.Done()
	m.learns(v, e.WithoutLostText())
	p.requireWhole()
}

// connects connects the client in its own way: every fourth reads slowly, and every fourth goes through "cursord stdio".
func (s *soak) connects(i int, v *visit, at *world.World) io.ReadWriteCloser {
	if i%4 == 0 {
		cmd, conn := at.Stdio("cursord")
		v.Cleanup(func() {
			conn.Close()
			_ = cmd.Wait()
		})
		return conn
	}
	var conn net.Conn
	require.Eventually(v, func() bool {
		var err error
		conn, err = net.Dial("unix", at.Socket())
		return err == nil
	}, world.Patience, time.Millisecond)
	if i%4 == 1 {
		return slowConn{conn}
	}
	return conn
}

// A slowConn reads little at a time, and seldom.
type slowConn struct{ net.Conn }

func (c slowConn) Read(p []byte) (int, error) {
	<-time.After(5 * time.Millisecond)
	return c.Conn.Read(p[:min(len(p), 4<<10)])
}

// acts makes one random request.
func (s *soak) acts(p *site, e *world.Editor, rng *rand.Rand) error {
	what := rng.IntN(12)
	if err := s.act(what, p, e, rng); err != nil {
		return fmt.Errorf("act %d: %w", what, err)
	}
	return nil
}

func (s *soak) act(what int, p *site, e *world.Editor, rng *rand.Rand) error {
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
		if err := e.Call("session/read", world.Obj{"sessionId": p.session(rng)}, &page); err != nil || len(page.Items) == 0 {
			return err
		}
		return e.Call("item/read", world.Obj{"itemId": page.Items[rng.IntN(len(page.Items))].ID}, nil)
	case 9:
		if rng.IntN(4) == 0 {
			return e.Call("session/delete", world.Obj{"sessionId": p.session(rng)}, nil)
		}
		return e.Call("diff/unified", world.Obj{"workspace": p.Root}, nil)
	case 10:
		return e.Call("workspace/subscribe", world.Obj{"workspace": s.sites[rng.IntN(len(s.sites))].Root + "/d"}, nil)
	}
	return e.Call("session/list", world.Obj{"workspace": p.Root, "limit": 50}, nil)
}

// session returns a session that this soak began, or "none" if there is none.
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

// turn starts a turn, and waits for its end, leaves it, or ends it in some way.
func (s *soak) turn(p *site, e *world.Editor, rng *rand.Rand) error {
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
		if err := e.Call("turn/cancel", world.Obj{"turnId": turn}, nil); err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
	case 1:
		go func() {
			for !ended.Load() { // the daemon may be started and killed again
				if killsAgent(p.World, turn) {
					s.agentsKilled.Add(1)
				}
				<-time.After(5 * time.Millisecond)
			}
		}()
	case 2:
		if killsAgent(p.World, turn) {
			s.agentsKilled.Add(1)
		}
	case 3:
		return nil
	}
	var out struct{ Turn *sessions.Turn }
	err = e.Call("turn/wait", world.Obj{"turnId": turn}, &out)
	ended.Store(true)
	if err != nil {
		return fmt.Errorf("wait for %s, way %d: %w", turn, how, err)
	}
	require.True(e.T, out.Turn.Status.Final())
	if rng.IntN(4) == 0 {
		require.Empty(e.T, agents(p.World, turn), "processes that outlive the turn")
	}
	return nil
}
