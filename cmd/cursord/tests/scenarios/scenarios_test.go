//go:build unix

package scenarios

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

var (
	scenarioCount = flag.Int("scenarios", 60, "how many random scenarios TestScenarios plays")
	scenarioSeed  = flag.Uint64("scenarios.seed", 41, "what they are made of; 0: of the time")
	scenarioOnly  = flag.String("scenarios.only", "", "play one of them alone: WORLD/WORKSPACE/SCENARIO")
	scenarioShell = flag.Bool("scenarios.commands", false, "have agents change files by commands, too, of which only times tell whose the changes are")
	scenarioSkip  = flag.String("scenarios.skip", "", "rounds to leave out, as in 3,5")
)

const (
	scenariosPerSpace = 40
	spacesPerWorld    = 12
	spacesAtOnce      = 4
	crashesOf8        = 4 // the rounds in which the daemon is killed
)

// A failure is the value with which an episode panics.
type failure string

// A scenarioPlan says which episodes to play.
type scenarioPlan struct {
	seed         uint64
	world, space int // only these; space -1 means all
	only         int // episode; -1 means all
	count        int // episodes of the world
	skip         map[int]bool
}

// rounds lists the steps that all episodes of a world take together.
func (p scenarioPlan) rounds() (rounds []string) {
	r := rand.New(rand.NewPCG(p.seed, uint64(p.world)))
	maybe := func(of8 int, kind string) {
		if r.IntN(8) < of8 {
			rounds = append(rounds, kind)
		}
	}
	for range 2 + r.IntN(2) {
		rounds = append(rounds, "agent")
		maybe(6, "user")
		maybe(2, "restart")
		maybe(7, "decide")
		maybe(5, "undo")
		maybe(crashesOf8, "crash")
		maybe(2, "user")
		maybe(2, "turn")
	}
	return append(rounds, "restart", "end")
}

// A scenarioWorld is a daemon with workspaces full of episodes.
type scenarioWorld struct {
	plan   scenarioPlan
	w      *world.World
	rng    *rand.Rand
	spaces []*space
}

// A space is a workspace; every episode has a folder in it.
type space struct {
	sw      *scenarioWorld
	n       int
	w       *world.World
	e       *world.Editor
	rng     *rand.Rand
	all     []*episode
	steps   []*step // decisions that may be undone, the oldest first
	pushed  int     // how many decisions there ever were
	undone  int     // how many of them are undone, from the end
	turns   []string
	failed  string
	playing *episode // the episode whose turn it is
	midTurn bool     // people act while the agent waits
	listed  []*sessions.Diff
}

// A step is one accept or reject.
type step struct {
	who    []*episode
	accept bool
	before []shelf // the files' baselines
}

// TestScenarios plays random scenarios through the daemon: agents, people and decisions in many orders, with crashes
// between. "make scenarios" plays ten thousand.
func TestScenarios(t *testing.T) {
	t.Parallel()
	seed := *scenarioSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	if *scenarioOnly != "" {
		plan := scenarioPlan{seed: seed, skip: map[int]bool{}}
		_, err := fmt.Sscanf(*scenarioOnly, "%d/%d/%d", &plan.world, &plan.space, &plan.only)
		require.NoError(t, err)
		plan.count = (plan.space + 1) * scenariosPerSpace
		for _, s := range strings.FieldsFunc(*scenarioSkip, func(r rune) bool { return r == ',' }) {
			var n int
			fmt.Sscan(s, &n)
			plan.skip[n] = true
		}
		for _, sp := range plan.play(t) {
			t.Error(sp.report())
		}
		return
	}
	acts := map[string]int{}
	for number, left := 0, *scenarioCount; left > 0; number++ {
		plan := scenarioPlan{seed: seed, world: number, space: -1, only: -1, count: min(left, spacesPerWorld*scenariosPerSpace)}
		left -= plan.count
		failed := plan.playCounting(t, acts)
		for i, sp := range failed {
			if i == 0 {
				shrink(t, sp)
			}
			t.Error(sp.report())
		}
		if len(failed) > 0 {
			return
		}
	}
	t.Logf("%d scenarios of seed %d: %v", *scenarioCount, seed, acts)
}

func (p scenarioPlan) play(t *testing.T) []*space { return p.playCounting(t, map[string]int{}) }

// playCounting plays the plan and returns the workspaces that failed.
func (p scenarioPlan) playCounting(t *testing.T, acts map[string]int) (failed []*space) {
	sw := &scenarioWorld{plan: p, w: world.New(t), rng: rand.New(rand.NewPCG(p.seed, uint64(p.world)))}
	defer sw.w.Kill()
	sw.w.Plays(`{"fake":"script","path":"{{cwd}}.script"}`)
	for n := 0; n*scenariosPerSpace < p.count; n++ {
		if p.space < 0 || p.space == n {
			sw.spaces = append(sw.spaces, sw.newSpace(n, min(scenariosPerSpace, p.count-n*scenariosPerSpace)))
		}
	}
	sw.w.Start()
	sw.join()
	for i, kind := range p.rounds() {
		if !p.skip[i] {
			sw.round(i, kind)
		}
	}
	for _, sp := range sw.spaces {
		for _, s := range sp.all {
			for _, act := range s.acts {
				acts[act]++
			}
		}
		if sp.failed != "" {
			failed = append(failed, sp)
		}
	}
	return failed
}

// shrink removes episodes and steps that a failure does not need.
func shrink(t *testing.T, sp *space) {
	plan := sp.sw.plan
	plan.space, plan.skip = sp.n, map[int]bool{}
	if sp.playing == nil {
		return
	}
	plan.only = sp.playing.n
	t.Log("to play it again: ", sp.again())
	fails := func() bool {
		failed := plan.play(t)
		if len(failed) > 0 {
			*sp = *failed[0]
		}
		return len(failed) > 0
	}
	if !fails() {
		t.Log("alone, it does not fail")
		return
	}
	for i := range plan.rounds() {
		plan.skip[i] = true
		if !fails() {
			delete(plan.skip, i)
		}
	}
}

func (sp *space) again() string {
	who := -1
	if sp.playing != nil {
		who = sp.playing.n
	}
	var skip []string
	for i := range sp.sw.plan.rounds() {
		if sp.sw.plan.skip[i] {
			skip = append(skip, fmt.Sprint(i))
		}
	}
	return fmt.Sprintf("go test ./cmd/cursord/tests/scenarios -run '^TestScenarios$' -scenarios.seed %d -scenarios.only %d/%d/%d -scenarios.skip %q",
		sp.sw.plan.seed, sp.sw.plan.world, sp.n, who, strings.Join(skip, ","))
}

func (sp *space) report() string {
	trace := ""
	if sp.playing != nil {
		trace = strings.Join(sp.playing.trace, "\n")
	}
	return repeats.ReplaceAllString(fmt.Sprintf("%s\n%s\n%s\n", sp.failed, trace, sp.again()), "long ä… ")
}

func (sw *scenarioWorld) newSpace(n, count int) *space {
	w := *sw.w
	w.Root = filepath.Join(w.Dir, fmt.Sprint("ws", n))
	require.NoError(w.T, os.Mkdir(w.Root, 0o755))
	sp := &space{sw: sw, n: n, w: &w, rng: rand.New(rand.NewPCG(sw.plan.seed, uint64(sw.plan.world)<<32+uint64(n)))}
	for i := 0; i < count; i++ {
		if sw.plan.only < 0 || sw.plan.only == i || sw.plan.only^1 == i && sw.plan.only%4 < 2 {
			sp.all = append(sp.all, newScenario(sp, i))
		}
	}
	for i, s := range sp.all {
		if s.n%4 == 1 && i > 0 && sp.all[i-1].n == s.n-1 {
			s.twin = sp.all[i-1]
		}
	}
	if n%2 == 0 {
		w.Commits()
	}
	return sp
}

// join connects to a daemon that has just been started.
func (sw *scenarioWorld) join() {
	for _, sp := range sw.spaces {
		w := sp.w
		w.Cmd, w.Ended = sw.w.Cmd, sw.w.Ended
		sp.e = w.Joins()
		sp.e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
		sp.e.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "diffs": "summary"}, nil)
	}
}

// restarts ends the daemon, cleanly or by a kill, calls meanwhile, and starts it again.
func (sw *scenarioWorld) restarts(kill bool, meanwhile func(*space)) {
	if kill {
		sw.w.Kill()
	} else {
		sw.w.Stop()
	}
	sw.each(meanwhile)
	sw.w.Start()
	sw.join()
}

// each runs a function for all workspaces, some at a time.
func (sw *scenarioWorld) each(do func(*space)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, spacesAtOnce)
	for _, sp := range sw.spaces {
		if sp.failed != "" {
			continue
		}
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() {
				if r := recover(); r != nil {
					why, ok := r.(failure)
					if !ok {
						panic(r)
					}
					sp.failed = string(why)
				}
				<-slots
				wg.Done()
			}()
			do(sp)
		}()
	}
	wg.Wait()
}

// everyone runs a function for all episodes of a workspace, one after the other.
func (sp *space) everyone(do func(*episode)) {
	for _, s := range sp.all {
		sp.playing = s
		do(s)
	}
	sp.playing = nil
}

func (sw *scenarioWorld) round(i int, kind string) {
	sw.each(func(sp *space) {
		for _, s := range sp.all {
			s.tracef("round %d: %s", i, kind)
		}
	})
	switch kind {
	case "agent":
		sw.each((*space).agentRound)
	case "user":
		sw.each(func(sp *space) {
			sp.everyone(func(s *episode) { s.userActs() })
			sp.look(byUser)
		})
	case "decide":
		sw.each(func(sp *space) {
			sp.everyone(func(s *episode) { s.decideActs() })
			sp.look(byNobody)
			sp.everyone(func(s *episode) { s.likeTwin() })
		})
	case "turn":
		sw.each(func(sp *space) {
			if len(sp.turns) > 0 {
				sp.decideAll(world.Obj{"turnId": sp.turns[sp.rng.IntN(len(sp.turns))]})
			}
		})
	case "undo":
		sw.each((*space).undoRound)
	case "restart":
		sw.each(func(sp *space) { sp.look(byNobody) })
		sw.restarts(false, func(*space) {})
		sw.each(func(sp *space) { sp.lookAgain() })
		sw.restarts(true, func(sp *space) { sp.everyone(func(s *episode) { s.userActs() }) })
		sw.each(func(sp *space) { sp.look(byUser) })
	case "crash":
		sw.crashes()
	case "end":
		sw.each(func(sp *space) {
			sp.patchApplies()
			sp.decideAll(world.Obj{"all": true})
			// An edit without a report that the daemon saw after its end may be a person's: no bulk reject removes it.
			stays := func(d *sessions.Diff) bool {
				return len(hunksOf(d, partOpaque)) > 0 || len(maybeYours(d)) == len(d.Hunks)
			}
			if left := sp.list(); slices.ContainsFunc(left, func(d *sessions.Diff) bool { return !stays(d) }) {
				all := map[string]*sessions.Diff{}
				for _, d := range left {
					all[d.Path] = d
				}
				panic(failure(fmt.Sprintf("%d files are left: %s", len(left), describeDiffs(all))))
			}
		})
	}
}
