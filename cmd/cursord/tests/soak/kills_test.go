//go:build linux

package soak

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

var (
	killRounds = flag.Int("kills", 10, "how many times the daemon, and a fifth as often an agent, is killed at random")
	killSeed   = flag.Uint64("kills.seed", 1, "the seed of the first world of kills")
)

// worldRounds is the number of kills that one world lives through. The store grows, and all of it is checked after each
// kill.
const worldRounds = 50

// inWorlds plays rounds in as many worlds as they need.
func inWorlds(t *testing.T, rounds int, round func(p *site, rng *rand.Rand)) {
	begun := time.Now()
	for n := 0; n < rounds; n += worldRounds {
		seed := *killSeed + uint64(n/worldRounds)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := world.New(t)
			playsByTurn(w)
			p := newSite(w)
			w.Start()
			w.Opens().Client.Close()
			rng := rand.New(rand.NewPCG(seed, 0))
			for range min(worldRounds, rounds-n) {
				round(p, rng)
			}
		})
	}
	took := time.Since(begun)
	t.Logf("%d kills in %.0f s: %.2f a second", rounds, took.Seconds(), float64(rounds)/took.Seconds())
}

// TestKills kills the daemon at random points of turns and reviews. After the next start everything that clients saw is
// there, every turn has ended, no agent runs, and each file is whole.
func TestKills(t *testing.T) {
	t.Parallel()
	known := map[*site]*memory{}
	inWorlds(t, *killRounds, func(p *site, rng *rand.Rand) {
		m := known[p]
		if m == nil {
			m = newMemory()
			known[p] = m
		}
		e := p.Joins()
		require.NoError(p.T, m.subscribes(e))
		cmd := p.Cmd
		time.AfterFunc(time.Duration(rng.Float64()*float64(300*time.Millisecond)), func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		p.works(e, rng)
		p.Kill()
		<-e.Client.Done()
		m.learns(p.T, e.All())
		p.requireWhole()

		p.Start()
		e = p.Joins()
		all := p.everything(e)
		require.Empty(p.T, agents(p.World, ""), "agents that outlive the daemon")
		p.requireEnded(all, m)
		p.requireWhole()
		e.Client.Close()
	})
}

// works runs turns, decisions and a person's typing until the connection ends.
func (p *site) works(e *world.Editor, rng *rand.Rand) {
	p.T.Helper()
	turn := ""
	for {
		var err error
		switch rng.IntN(6) {
		case 0, 1:
			script, said := p.script(rng)
			turn, err = p.asks(e, "", script, said)
		case 2, 3:
			err = p.decides(e, rng)
		case 4:
			err = p.types(e, rng)
		case 5:
			if turn != "" {
				err = e.Call("turn/wait", world.Obj{"turnId": turn}, nil)
			}
		}
		if err != nil && !declined(err) {
			require.ErrorIs(p.T, err, rpc.ErrClosed)
			return
		}
	}
}

// TestKilledAgents kills agents at random points of their turns. Each turn ends once, and with it every process that it
// started.
func TestKilledAgents(t *testing.T) {
	t.Parallel()
	usual := 100 * time.Millisecond
	killed := 0
	inWorlds(t, max(*killRounds/5, 5), func(p *site, rng *rand.Rand) {
		e := p.Joins()
		m := newMemory()
		require.NoError(p.T, m.subscribes(e))
		script, said := p.script(rng)
		script = append(script[:len(script)-1], `{"fake":"exec","argv":["sh","-c","sleep 30 & wait"]}`)
		turn, err := p.asks(e, "", script, said)
		require.NoError(p.T, err)
		e.Until("the agent", func(n world.Notification) bool { return n.Turn != nil && n.Turn.ID == turn && n.Turn.StartedAt != nil })
		timer := time.After(time.Duration(rng.Float64() * float64(usual)))
		<-timer
		require.Eventually(p.T, func() bool { return killsAgent(p.World, turn) }, world.Patience, time.Millisecond)
		killed++
		require.Equal(p.T, "failed", string(e.Ends(turn).Status))
		require.Empty(p.T, agents(p.World, turn), "processes that outlive the turn")
		_ = p.decides(e, rng)
		m.learns(p.T, e.All())
		e.Client.Close()

		other := p.Joins()
		p.requireEnded(p.everything(other), m)
		p.requireWhole()
		other.Client.Close()
	})
	t.Logf("%d agents were killed", killed)
}
