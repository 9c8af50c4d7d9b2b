package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/sessions"
)

// This file has what happens to all scenarios of a workspace together.

func (sp *space) must(err error) {
	if err != nil {
		panic(failure(err.Error()))
	}
}

// list lists all that is pending.
func (sp *space) list() []*sessions.Diff {
	var list struct{ Diffs []*sessions.Diff }
	sp.must(sp.e.Call("diff/list", Obj{"workspace": sp.w.Root}, &list))
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

// look has every scenario see what is listed.
func (sp *space) look(by author) {
	all := sp.list()
	sp.everyone(func(s *episode) { s.see(by, s.of(all)) })
}

// lookAgain sees that the same is listed as before, after nothing has happened.
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

// agentRound is a turn of the agent, in one of several manners.
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
		p.call("shellToolCall", `{"command":"x"}`, `{"command":"x","exitCode":0,"stdout":""}`, Execs("sh '"+file+"'"))
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
		command() // what it left is seen before something else is made of it
		pause = true
	case 5:
		tools()
		pause, person = true, true
	}
	if pause {
		p.lines = append(p.lines, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I wait."}]},"timestamp_ms":1}`, `{"fake":"wait","path":"`+sp.w.Root+`.go"}`, `{"fake":"script","path":"`+later+`"}`)
	}
	sp.plays(sp.w.Root+".script", append(p.lines, Done))
	var started struct{ Turn *sessions.Turn }
	sp.must(sp.e.Call("turn/start", Obj{"workspace": sp.w.Root, "prompt": "do it"}, &started))
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
	sp.must(sp.e.Call("turn/wait", Obj{"turnId": id}, &ended))
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

// hears waits for the agent to say something.
func (sp *space) hears(turn, text string) {
	end := time.After(Patience)
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

// becomes waits until what is listed is as it must be.
func (sp *space) becomes(by author) {
	for end := time.Now().Add(Patience); ; time.Sleep(5 * time.Millisecond) {
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
func (sp *space) decideAll(params Obj) {
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

// step takes the latest decision back, or makes it again.
func (sp *space) step(undo bool) (out api.Decided, err error) {
	method := "diff/redo"
	if undo {
		method = "diff/undo"
	}
	if err = sp.e.Call(method, Obj{"workspace": sp.w.Root}, &out); err == nil {
		if undo {
			sp.undone++
		} else {
			sp.undone--
		}
	}
	return out, err
}

// undoRound takes back some of the latest decisions, and makes some of them again.
func (sp *space) undoRound() {
	const kept = 400 // of so many the daemon certainly knows
	walk := func(undo bool, n int) {
		for ; n > 0; n-- {
			i := len(sp.steps) - sp.undone
			if undo {
				i--
			}
			if i < 0 || i >= len(sp.steps) || len(sp.steps)-i > kept {
				return
			}
			st := sp.steps[i]
			for _, s := range st.who {
				s.does(map[bool]string{true: "undo", false: "redo"}[undo], "accept %v", st.accept)
			}
			sp.playing = st.who[0]
			_, err := sp.step(undo)
			if err != nil && errorKind(err) != api.KindConflict {
				panic(failure(err.Error()))
			}
			all := sp.list()
			for i, s := range st.who {
				sp.playing = s
				if err != nil {
					s.tracef("    refused: %v", err)
					s.see(byNobody, s.of(all))
					continue
				}
				s.stepped(undo, st.accept, st.before[i], s.of(all))
			}
			sp.playing = nil
			if err != nil {
				return
			}
		}
	}
	walk(true, sp.rng.IntN(1+len(sp.steps)/2))
	walk(false, sp.rng.IntN(1+sp.undone))
	sp.look(byNobody)
}

// stepped takes in an undo, or a redo: of an accept it leaves the disk, of a reject the baseline.
func (s *episode) stepped(undo, accept bool, before shelf, diffs map[string]*sessions.Diff) {
	s.pure, s.apart = false, true
	real, _ := readShelf(s.sp.w.Root, s.dir)
	if accept {
		known := s.base // where hunks do not tell
		if undo {
			known = before.clone()
			for _, d := range s.diffs {
				if len(hunksOf(d, partOpaque)) == 0 {
					continue
				}
				if h, is := s.base[oldPath(d)]; is {
					known[oldPath(d)] = h
				} else {
					delete(known, oldPath(d))
				}
			}
		}
		base, err := baselineOf(real, known, diffs)
		if err != nil {
			s.failf("%v", err)
		}
		s.base = base
	} else {
		s.disk = real
	}
	s.see(byNobody, diffs)
}

// patchApplies sees that git can take back all that is pending.
func (sp *space) patchApplies() {
	var out struct{ Patch string }
	sp.must(sp.e.Call("diff/unified", Obj{"workspace": sp.w.Root}, &out))
	if out.Patch == "" {
		return
	}
	copied := filepath.Join(sp.w.Dir, fmt.Sprint("copy", sp.n))
	sp.must(os.RemoveAll(copied))
	for _, s := range sp.all {
		for path, h := range s.disk {
			full := filepath.Join(copied, path)
			sp.must(os.MkdirAll(filepath.Dir(full), 0o755))
			sp.must(os.WriteFile(full, []byte(h.text), h.mode))
		}
	}
	sp.must(os.MkdirAll(copied, 0o755))
	cmd := exec.Command("git", "apply", "-R", "--whitespace=nowarn", "-")
	cmd.Dir, cmd.Stdin = copied, strings.NewReader(out.Patch)
	if said, err := cmd.CombinedOutput(); err != nil {
		panic(failure(fmt.Sprintf("git apply -R: %v: %s\n%s", err, said, out.Patch)))
	}
	for _, s := range sp.all {
		sp.playing = s
		have, _ := readShelf(copied, s.dir)
		if why := s.base.differs(have); why != "" {
			s.failf("git apply -R: %s", why)
		}
	}
	sp.playing = nil
}

// crashes kills the daemon while it decides: what was asked has happened, or it has not.
func (sw *scenarioWorld) crashes() {
	type asked struct {
		s    *episode
		step *step
		disk shelf
		base shelf
	}
	waiting := make([]*asked, len(sw.spaces))
	var ended []chan struct{}
	for i, sp := range sw.spaces {
		if sp.failed != "" {
			continue
		}
		for _, s := range sp.all {
			if len(s.diffs) == 0 {
				continue
			}
			d := s.diffs[pick(s.rng, s.diffs)]
			chosen := closure(d, []string{d.Hunks[0].ID})
			accept := s.rng.IntN(4) == 0
			disk, base, err := decided(s.disk, s.base, d, chosen, accept)
			if err != nil {
				sp.failed, sp.playing = err.Error(), s
				break
			}
			s.does("decide and crash", "%s %s %v", d.Path, d.Hunks[0].ID, accept)
			s.apart = true
			waiting[i] = &asked{s, &step{who: []*episode{s}, accept: accept}, disk, base}
			ch := make(chan struct{})
			ended = append(ended, ch)
			go func() {
				defer close(ch)
				_ = sp.e.Call(map[bool]string{true: "diff/accept", false: "diff/reject"}[accept],
					Obj{"workspace": sp.w.Root, "hunks": []string{d.Hunks[0].ID}}, nil)
			}()
			if accept {
				s.noteGone(d, chosen)
			}
			break
		}
	}
	time.Sleep(time.Duration(sw.rng.IntN(4000)) * time.Microsecond) // anywhere in the decisions, or behind them
	sw.restarts(true, func(*space) {})
	for _, ch := range ended {
		<-ch
	}
	sw.each(func(sp *space) {
		all := sp.list()
		for i, other := range sw.spaces {
			if other != sp || waiting[i] == nil {
				continue
			}
			w := waiting[i]
			sp.playing = w.s
			if toJSON(w.s.of(all)) != toJSON(w.s.diffs) {
				w.s.disk, w.s.base, w.s.pure = w.disk, w.base, false
				sp.push(w.step)
			}
		}
		sp.look(byNobody)
	})
}
