//go:build unix

package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// decideVector decides all hunks one by one, in the scenario's own order.
func (s *episode) decideVector() {
	type decision struct {
		path, id string
		accept   bool
	}
	var all []decision
	s.asked = nil
	for _, path := range slices.Sorted(maps.Keys(s.diffs)) {
		d := s.diffs[path]
		word := map[string]bool{}
		for i := range d.Hunks {
			h := &d.Hunks[i]
			s.asked = append(s.asked, fmt.Sprintf("%q", changesOf(h)))
			accept := s.rng.IntN(2) == 0
			for _, linked := range h.Linked { // one decision
				if was, known := word[linked]; known {
					accept = was
				}
			}
			word[h.ID] = accept
			if s.rng.IntN(4) > 0 {
				all = append(all, decision{path, h.ID, accept})
			} else {
				word[h.ID] = accept
			}
		}
	}
	s.order.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, c := range all {
		for _, d := range s.diffs {
			if slices.Contains(world.HunkIDs(d), c.id) {
				s.does("decide in some order", "%s %s %v", c.path, c.id, c.accept)
				s.decide(d, world.Obj{"hunks": []string{c.id}}, []string{c.id}, c.accept)
				break
			}
		}
	}
}

// decideLines decides some lines of a hunk.
func (s *episode) decideLines(d *sessions.Diff, h *sessions.Hunk, accept bool) {
	changes := changesOf(h)
	if h.Kind != "text" || len(h.Linked) > 0 || len(changes) == 0 {
		return
	}
	from := s.rng.IntN(len(changes))
	to := from + 1 + s.rng.IntN(len(changes)-from)
	s.does("decide lines", "%s %s %d-%d %v", d.Path, h.ID, from, to, accept)
	before := s.diffs
	out, err := s.ask(accept, world.Obj{"hunks": []string{h.ID}, "lines": world.Obj{"from": from, "to": to}})
	var failed *rpc.Error
	if errors.As(err, &failed) && failed.Code == -32602 {
		return // only the line end before it
	}
	s.must(err)
	diffs := s.answered(out.Diffs)
	// The earlier pending lines remain, without those.
	want := pendingLines(before, true)
	whole := len(withoutBareEnd(h)) == len(changes) && !moves(changes)
	for _, line := range changes[from:to] {
		want[unmarked(line)]--
	}
	maps.DeleteFunc(want, func(_ string, n int) bool { return n <= 0 })
	if have := pendingLines(diffs, true); whole && !maps.Equal(want, have) {
		s.failf("of %q lines %d to %d decided, pending:\nwant %v\nhave %v", changes, from, to, want, have)
	}
	real, _ := readShelf(s.sp.w.Root, s.dir)
	disk, base := s.disk, s.base
	if accept {
		s.pure = false
		for _, line := range changes[from:to] {
			if line[0] == '-' {
				s.gone[bare(line[1:])] = true
			}
		}
		if base, err = baselineOf(real, s.base, diffs); err != nil {
			s.failf("%v", err)
		}
		s.countLines(whole, base[oldPath(d)].text, s.base[oldPath(d)].text, changes[from:to], +1)
	} else {
		disk = real
		s.countLines(whole, disk[d.Path].text, s.disk[d.Path].text, changes[from:to], -1)
	}
	s.disk, s.base = disk, base
	s.see(byNobody, diffs)
}

// moves reports whether a hunk both removes and adds the same line of the person's. The two are one decision.
func moves(changes []string) bool {
	return slices.ContainsFunc(changes, func(line string) bool {
		return line[0] == '-' && slices.ContainsFunc(changes, func(l string) bool { return l[0] == '+' && bare(l[1:]) == bare(line[1:]) })
	})
}

// countLines checks that a text is another one with some changes made or taken back, in any place.
func (s *episode) countLines(sure bool, now, was string, changes []string, sign int) {
	n := map[string]int{}
	for line := range strings.Lines(was) {
		n[bare(line)]++
	}
	for _, line := range changes {
		if line[0] == '+' {
			n[bare(line[1:])] += sign
		} else {
			n[bare(line[1:])] -= sign
		}
	}
	for line := range strings.Lines(now) {
		n[bare(line)]--
	}
	for line, k := range n {
		if k != 0 && sure {
			s.failf("%d too few of line %q\nfrom %s\nwith %q\ncame %s", k, line, brief(was), changes, brief(now))
		}
	}
}

// decideUnseen changes a file on disk right before a decision about a hunk of it.
func (s *episode) decideUnseen(d *sessions.Diff, h *sessions.Hunk, accept bool) {
	old, is := s.disk[d.Path]
	if !is || h.Kind != "text" {
		return
	}
	chosen := closure(d, []string{h.ID})
	var changes []string
	for i := range d.Hunks {
		if chosen[d.Hunks[i].ID] {
			changes = append(changes, changesOf(&d.Hunks[i])...)
		}
	}
	split := false // the person's line lies between lines of the hunk
	s.byHand(func() {
		lines := world.SplitAfter(old.text)
		at := s.rng.IntN(len(lines) + 1)
		if at == len(lines) && !strings.HasSuffix(old.text, "\n") {
			at = 0
		}
		of := func(line string) bool {
			return slices.ContainsFunc(changes, func(l string) bool { return l[0] == '+' && bare(l[1:]) == bare(line) })
		}
		split = 0 < at && at < len(lines) && of(lines[at-1]) && of(lines[at])
		text := strings.Join(slices.Insert(lines, at, s.scribe.unique("user")+s.scribe.end()), "")
		s.does("person writes and decides", "%s %s %v %s", d.Path, h.ID, accept, brief(text))
		s.save(d.Path, text, old.mode)
	})
	mine := s.disk[d.Path]
	out, err := s.ask(accept, world.Obj{"hunks": []string{h.ID}})
	switch {
	case errorKind(err) == api.KindConflict:
		s.see(byUser, s.sp.listOf(s))
		return
	case err != nil:
		s.failf("%v", err)
	}
	if accept {
		s.noteGone(d, chosen)
	} else {
		real, _ := readShelf(s.sp.w.Root, s.dir)
		// If the watch has seen a line that splits the hunk before the decision came, the id is that of the first part alone.
		s.countLines(!split, real[d.Path].text, mine.text, changes, -1)
		s.disk[d.Path] = held{real[d.Path].text, mine.mode}
	}
	s.see(byUser, s.answered(out.Diffs))
}

// thereAndBack undoes a decision and redoes it at once.
func (s *episode) thereAndBack(d *sessions.Diff, h *sessions.Hunk, accept bool) {
	s.does("decide and undo", "%s %s %v", d.Path, h.ID, accept)
	disk, base, before, pushed := s.disk, s.base, s.diffs, s.sp.pushed
	s.decide(d, world.Obj{"hunks": []string{h.ID}}, []string{h.ID}, accept)
	if s.sp.pushed == pushed {
		return // refused
	}
	after := [3]any{s.disk, s.base, s.diffs}
	turn := func(undo bool, disk, base shelf, diffs map[string]*sessions.Diff) {
		out, err := s.sp.step(undo)
		s.must(err)
		s.disk, s.base = disk, base
		have := s.answered(out.Diffs)
		if d.OldPath != "" {
			have = s.sp.listOf(s)
		}
		if want, have := sayDiffs(diffs), sayDiffs(have); want != have {
			s.failf("undo %v is not exact:\nwant %s\nhave %s", undo, want, have)
		}
		s.see(byNobody, have)
	}
	turn(true, disk, base, before)
	if s.rng.IntN(2) == 0 {
		turn(false, after[0].(shelf), after[1].(shelf), after[2].(map[string]*sessions.Diff))
	}
}
