//go:build unix

package scenarios

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// step undoes the latest decision, or redoes one.
func (sp *space) step(undo bool) (out api.Decided, err error) {
	method := "diff/redo"
	if undo {
		method = "diff/undo"
	}
	if err = sp.e.Call(method, world.Obj{"workspace": sp.w.Root}, &out); err == nil {
		if undo {
			sp.undone++
		} else {
			sp.undone--
		}
	}
	return out, err
}

// undoRound undoes some of the latest decisions, and redoes some of them.
func (sp *space) undoRound() {
	const kept = 400 // the daemon keeps at least so many
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

// stepped updates the model after an undo or a redo: one of an accept leaves the disk, one of a reject leaves the baseline.
func (s *episode) stepped(undo, accept bool, before shelf, diffs map[string]*sessions.Diff) {
	s.pure, s.apart = false, true
	real, _ := readShelf(s.sp.w.Root, s.dir)
	if accept {
		known := s.base // where hunks do not show it
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

// patchApplies requires that git can apply the reverse of all pending hunks.
func (sp *space) patchApplies() {
	var out struct{ Patch string }
	sp.must(sp.e.Call("diff/unified", world.Obj{"workspace": sp.w.Root}, &out))
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

// crashes kills the daemon during decisions: each decision has happened whole, or not at all.
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
					world.Obj{"workspace": sp.w.Root, "hunks": []string{d.Hunks[0].ID}}, nil)
			}()
			if accept {
				s.noteGone(d, chosen)
			}
			break
		}
	}
	time.Sleep(time.Duration(sw.rng.IntN(4000)) * time.Microsecond) // not a wait: the kill comes at a random moment, during the decisions or after them
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
