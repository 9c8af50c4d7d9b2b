//go:build unix

package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// This file has the steps that all episodes of a workspace take together.

func (sp *space) must(err error) {
	if err != nil {
		panic(failure(err.Error()))
	}
}

// list lists all pending diffs.
func (sp *space) list() []*sessions.Diff {
	var list struct{ Diffs []*sessions.Diff }
	sp.must(sp.e.Call("diff/list", world.Obj{"workspace": sp.w.Root}, &list))
	sp.listed = list.Diffs
	return list.Diffs
}

func (s *episode) of(all []*sessions.Diff) map[string]*sessions.Diff {
	mine := map[string]*sessions.Diff{}
	for _, d := range all {
		if strings.HasPrefix(d.Path, s.dir+"/") && d.State == "pending" {
			mine[d.Path] = d
		}
	}
	return mine
}

func (sp *space) listOf(s *episode) map[string]*sessions.Diff { return s.of(sp.list()) }

// look shows every episode the pending diffs.
func (sp *space) look(by author) {
	all := sp.list()
	sp.everyone(func(s *episode) { s.see(by, s.of(all)) })
}

// lookAgain requires that the diffs are the same as before.
func (sp *space) lookAgain() {
	before := sp.listed
	after := sp.list()
	if a, b := toJSON(before), toJSON(after); a != b {
		panic(failure(fmt.Sprintf("listed before\n%s\nand after a restart\n%s", a, b)))
	}
	sp.look(byNobody)
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(failure(err.Error()))
	}
	return string(b)
}

// agentRound plays a turn of the agent in one of several manners.
func (sp *space) agentRound() {
	p := &agentWork{}
	for _, s := range sp.all {
		clear(s.seen)
	}
	tools := func() {
		sp.everyone(func(s *episode) {
			if s.rng.IntN(8) < 6 {
				s.agentActs(p, false)
			}
		})
	}
	command := func() {
		sp.everyone(func(s *episode) {
			if s.rng.IntN(8) < 5 {
				s.agentActs(p, true)
			}
		})
		file := filepath.Join(sp.w.Dir, fmt.Sprintf("command%d.%d", sp.n, len(sp.turns)))
		sp.must(os.WriteFile(file, []byte("set -e\numask 022\n"+p.shell.String()), 0o644))
		p.shell.Reset()
		p.call("shellToolCall", `{"command":"x"}`, `{"command":"x","exitCode":0,"stdout":""}`, world.Execs("sh '"+file+"'"))
	}
	later, pause, person := sp.w.Root+".later", false, false
	manner := sp.rng.IntN(6)
	if !*scenarioShell && manner < 5 {
		manner = 0
	}
	switch manner {
	case 0, 1:
		tools()
	case 2:
		command()
	case 3:
		tools()
		command()
	case 4:
		command() // the daemon looks at its changes before the next ones
		pause = true
	case 5:
		tools()
		pause, person = true, true
	}
	if pause {
		p.lines = append(p.lines, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I wait."}]},"timestamp_ms":1}`, `{"fake":"wait","path":"`+sp.w.Root+`.go"}`, `{"fake":"script","path":"`+later+`"}`)
	}
	sp.plays(sp.w.Root+".script", append(p.lines, world.Done))
	var started struct{ Turn *sessions.Turn }
	sp.must(sp.e.Call("turn/start", world.Obj{"workspace": sp.w.Root, "prompt": "do it"}, &started))
	id := started.Turn.ID
	sp.turns = append(sp.turns, id)
	if pause {
		sp.hears(id, "I wait.")
		sp.becomes(byAgent)
		if person {
			sp.midTurn = true
			sp.everyone(func(s *episode) { s.userActs() })
			sp.midTurn = false
			sp.look(byUser)
		}
		p.lines = nil
		tools()
		sp.plays(later, p.lines)
		sp.plays(sp.w.Root+".go", nil)
	}
	var ended struct{ Turn *sessions.Turn }
	sp.must(sp.e.Call("turn/wait", world.Obj{"turnId": id}, &ended))
	if ended.Turn.Status != "completed" {
		panic(failure(fmt.Sprintf("the turn ended %s: %+v", ended.Turn.Status, ended.Turn.Error)))
	}
	if pause {
		sp.must(os.Remove(sp.w.Root + ".go"))
	}
	sp.look(byAgent)
	if sp.rng.IntN(3) == 0 {
		sp.patchApplies()
	}
}

func (sp *space) plays(file string, lines []string) {
	sp.must(os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

// hears waits for a text of the agent.
func (sp *space) hears(turn, text string) {
	end := time.After(world.Patience)
	for seen := 0; ; {
		sp.e.Mu.Lock()
		told, more := sp.e.Told, sp.e.More
		sp.e.Mu.Unlock()
		for ; seen < len(told); seen++ {
			if told[seen].TurnID == turn && told[seen].Text == text {
				return
			}
		}
		select {
		case <-more:
		case <-end:
			panic(failure("the agent does not say " + text))
		}
	}
}

// becomes waits until the pending diffs are as expected.
func (sp *space) becomes(by author) {
	for end := time.Now().Add(world.Patience); ; time.Sleep(5 * time.Millisecond) {
		all := sp.list()
		fits := true
		for _, s := range sp.all {
			_, why := s.check(by, s.of(all))
			fits = fits && why == ""
		}
		if fits || time.Now().After(end) {
			sp.everyone(func(s *episode) { s.see(by, s.of(all)) })
			return
		}
	}
}

// decideAll decides all hunks that a selector names, in all scenarios.
func (sp *space) decideAll(params world.Obj) {
	turn, _ := params["turnId"].(string)
	accept := sp.rng.IntN(2) == 0
	type outcome struct {
		disk, base shelf
		chosen     map[string]map[string]bool
	}
	want := map[*episode]outcome{}
	predict := func(skipped []api.Skipped) (n int) {
		for _, s := range sp.all {
			o := outcome{s.disk, s.base, map[string]map[string]bool{}}
			for path, d := range s.diffs {
				var ids []string
				for i := range d.Hunks {
					h := &d.Hunks[i]
					if (turn == "" || fromTurn(*h, turn)) &&
						!slices.ContainsFunc(skipped, func(sk api.Skipped) bool { return sk.Hunk == h.ID }) {
						ids = append(ids, h.ID)
					}
				}
				if o.chosen[path] = closure(d, ids); len(o.chosen[path]) == 0 {
					delete(o.chosen, path)
					continue
				}
				n += len(o.chosen[path])
				var err error
				o.disk, o.base, err = decided(o.disk, o.base, d, o.chosen[path], accept)
				s.must(err)
			}
			want[s] = o
		}
		return n
	}
	sp.everyone(func(s *episode) { s.does("decide "+pick(sp.rng, params), "%v %v", params, accept) })
	method := "diff/reject"
	if accept {
		method = "diff/accept"
	}
	params["workspace"] = sp.w.Root
	var out api.Decided
	sp.must(sp.e.Call(method, params, &out))
	yours := map[string]bool{}
	for _, s := range sp.all {
		for _, d := range s.diffs {
			left := maybeYours(d)
			for _, h := range d.Hunks {
				if left[h.ID] && !accept && (turn == "" || fromTurn(h, turn)) {
					yours[h.ID] = true
				}
			}
		}
	}
	others, err := withoutYours(out.Skipped, yours)
	sp.must(err)
	for _, sk := range others {
		for _, s := range sp.all {
			if d := s.diffs[sk.Path]; d != nil && !s.mayRefuse(d, nil) {
				s.failf("skipped: %+v", sk)
			}
		}
	}
	if n := predict(out.Skipped); n != out.Applied {
		panic(failure(fmt.Sprintf("%d hunks applied, not %d", out.Applied, n)))
	}
	if out.Applied > 0 {
		sp.push(&step{who: sp.all, accept: accept})
	}
	all := sp.list()
	sp.everyone(func(s *episode) {
		o := want[s]
		s.becomes(o.disk, o.base, s.of(all), o.chosen, accept)
	})
}
