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

// This file has decisions, and the states that must follow.

// decideActs makes the person decide a few times.
func (s *episode) decideActs() {
	if s.twin != nil || s.n%4 == 0 {
		s.decideVector()
		return
	}
	for n := s.rng.IntN(5); n > 0 && len(s.diffs) > 0; n-- {
		d := s.diffs[pick(s.rng, s.diffs)]
		h := &d.Hunks[s.rng.IntN(len(d.Hunks))]
		accept := s.rng.IntN(2) == 0
		switch s.rng.IntN(12) {
		case 0:
			s.does("decide the path", "%s %v", d.Path, accept)
			s.decide(d, world.Obj{"path": d.Path}, world.HunkIDs(d), accept)
		case 1:
			ids := slices.DeleteFunc(world.HunkIDs(d), func(string) bool { return s.rng.IntN(2) == 0 })
			if len(ids) > 0 {
				s.does("decide hunks", "%s %v %v", d.Path, ids, accept)
				s.decide(d, world.Obj{"hunks": ids, "rev": d.Rev}, ids, accept)
			}
		case 2, 3:
			s.decideLines(d, h, accept)
		case 4:
			s.does("refused", "%s revision %d", h.ID, d.Rev+1)
			s.refused(accept, world.Obj{"hunks": []string{h.ID}, "rev": d.Rev + 1}, api.KindConflict)
		case 5:
			s.does("comment", "%s", h.ID)
			s.must(s.sp.e.Call("diff/comment", world.Obj{"workspace": s.sp.w.Root, "hunk": h.ID, "text": "why?"}, nil))
		case 6:
			s.decideUnseen(d, h, accept)
		case 7, 8:
			s.thereAndBack(d, h, accept)
		default:
			s.does("decide", "%s %s %v", d.Path, h.ID, accept)
			s.decide(d, world.Obj{"hunks": []string{h.ID}}, []string{h.ID}, accept)
		}
	}
}

// ask sends a decision and takes the pending hunks of those files from the answer.
func (s *episode) ask(accept bool, params world.Obj) (api.Decided, error) {
	method := "diff/reject"
	if accept {
		method = "diff/accept"
	}
	params["workspace"] = s.sp.w.Root
	var out api.Decided
	err := s.sp.e.Call(method, params, &out)
	if err == nil && out.Applied > 0 {
		s.sp.push(&step{who: []*episode{s}, accept: accept})
	}
	return out, err
}

func (sp *space) push(st *step) {
	for _, s := range st.who {
		st.before = append(st.before, s.base)
	}
	sp.steps = append(sp.steps[:len(sp.steps)-sp.undone], st)
	sp.undone = 0
	sp.pushed++
}

// answered replaces what was known of files by an answer.
func (s *episode) answered(all []*sessions.Diff) map[string]*sessions.Diff {
	diffs := maps.Clone(s.diffs)
	for _, d := range all {
		delete(diffs, d.Path)
		if d.State == "pending" {
			diffs[d.Path] = d
		}
	}
	return diffs
}

// closure adds the hunks that are linked to these.
func closure(d *sessions.Diff, ids []string) map[string]bool {
	chosen := map[string]bool{}
	for _, id := range ids {
		chosen[id] = true
		for i := range d.Hunks {
			if d.Hunks[i].ID == id {
				for _, linked := range d.Hunks[i].Linked {
					chosen[linked] = true
				}
			}
		}
	}
	return chosen
}

// decide decides hunks of a file and checks that exactly the lines they show change.
func (s *episode) decide(d *sessions.Diff, params world.Obj, ids []string, accept bool) {
	yours := map[string]bool{}
	if _, named := params["hunks"]; !named && !accept {
		yours = maybeYours(d)
	}
	chosen := closure(d, slices.DeleteFunc(ids, func(id string) bool { return yours[id] }))
	disk, base, err := decided(s.disk, s.base, d, chosen, accept)
	s.must(err)
	out, err := s.ask(accept, params)
	if kind := errorKind(err); kind == api.KindConflict && s.mayRefuse(d, disk) {
		s.tracef("    refused: %v", err)
		return
	} else if err != nil {
		s.failf("%v", err)
	}
	if out.Skipped, err = withoutYours(out.Skipped, yours); err != nil {
		s.failf("%v", err)
	}
	if len(out.Skipped) > 0 {
		if !s.mayRefuse(d, disk) {
			s.failf("skipped: %v", out.Skipped)
		}
		s.tracef("    skipped: %v", out.Skipped)
		for _, sk := range out.Skipped {
			delete(chosen, sk.Hunk)
		}
		disk, base, err = decided(s.disk, s.base, d, chosen, accept)
		s.must(err)
	}
	if out.Applied != len(chosen) {
		s.failf("%d hunks applied, not %d: %v", out.Applied, len(chosen), chosen)
	}
	diffs := s.answered(out.Diffs)
	if d.OldPath != "" {
		diffs = s.sp.listOf(s) // the file may have moved
	}
	s.becomes(disk, base, diffs, map[string]map[string]bool{d.Path: chosen}, accept)
}

// becomes updates the model after a decision.
func (s *episode) becomes(disk, base shelf, diffs map[string]*sessions.Diff, chosen map[string]map[string]bool, accept bool) {
	for path, ids := range chosen {
		s.othersStay(s.diffs[path], diffs, ids)
		if accept {
			s.pure = false
			s.noteGone(s.diffs[path], ids)
		}
	}
	s.disk, s.base = disk, base
	s.see(byNobody, diffs)
}

// noteGone records lines whose removal was accepted.
func (s *episode) noteGone(d *sessions.Diff, ids map[string]bool) {
	for i := range d.Hunks {
		if !ids[d.Hunks[i].ID] {
			continue
		}
		if partOf(d, &d.Hunks[i]) == partOpaque {
			for line := range strings.Lines(s.base[oldPath(d)].text) {
				s.gone[bare(line)] = true
			}
		}
		for _, line := range changesOf(&d.Hunks[i]) {
			if line[0] == '-' {
				s.gone[bare(line[1:])] = true
			}
		}
	}
}

// othersStay checks that the other hunks are as they were.
func (s *episode) othersStay(d *sessions.Diff, after map[string]*sessions.Diff, chosen map[string]bool) {
	var want, have []string
	say := func(h *sessions.Hunk) string { return fmt.Sprintf("%s %q", h.ID, withoutBareEnd(h)) }
	prefix := ""
	for i := range d.Hunks {
		h := &d.Hunks[i]
		prefix, _, _ = strings.Cut(h.ID, ".")
		if !chosen[h.ID] {
			want = append(want, say(h))
		}
	}
	for _, d := range after {
		for i := range d.Hunks {
			if p, _, _ := strings.Cut(d.Hunks[i].ID, "."); p == prefix {
				have = append(have, say(&d.Hunks[i]))
			}
		}
	}
	if !slices.Equal(want, have) {
		s.failf("the other hunks do not stay:\nwant %s\nhave %s", strings.Join(want, "\n     "), strings.Join(have, "\n     "))
	}
}

// mayRefuse reports whether the daemon may refuse a decision: one about a binary file that the person has changed since.
func (s *episode) mayRefuse(d *sessions.Diff, disk shelf) bool {
	return len(hunksOf(d, partOpaque)) > 0
}

func errorKind(err error) api.ErrorKind {
	var failed *rpc.Error
	if errors.As(err, &failed) {
		return failed.Data.Kind
	}
	return ""
}

func (s *episode) refused(accept bool, params world.Obj, kind api.ErrorKind) {
	_, err := s.ask(accept, params)
	if errorKind(err) != kind {
		s.failf("not refused as a %s: %v", kind, err)
	}
}

// sayDiffs describes pending diffs without their revisions.
func sayDiffs(diffs map[string]*sessions.Diff) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(diffs)) {
		d := *diffs[path]
		d.Rev, d.Seq = 0, 0
		fmt.Fprintf(&b, "%s\n", describeDiffs(map[string]*sessions.Diff{path: &d}))
	}
	return b.String()
}
