//go:build unix

package scenarios

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"cursord/sessions"
)

// An episode is one scenario: a folder in which an agent and a person change files and hunks are decided, with the model of
// the state that must follow.
type episode struct {
	sp      *space
	n       int
	dir     string
	scribe  *scribe
	rng     *rand.Rand // the choice of steps
	order   *rand.Rand // the order of steps, where the order must not matter
	twin    *episode   // the episode with the same steps in another order
	asked   []string   // the hunks to decide
	apart   bool       // the file has changed since
	acts    []string
	trace   []string
	start   shelf
	folders []string
	pure    bool // the person has changed nothing, and nothing was accepted

	disk    shelf                     // the files that must be on disk
	base    shelf                     // the files after a reject of everything
	typed   shelf                     // the baseline after the person's last change; nil if unknown
	diffs   map[string]*sessions.Diff // the pending diffs of the last look
	mine    map[string]bool           // lines that a person typed and has not removed
	gone    map[string]bool           // the lines of typed whose removal was accepted
	silent  map[string]*agentWork     // folders in which the agent has removed a path without a report
	vacated map[string]bool           // paths from which files were moved; no step makes a file there
	seen    map[string]bool           // paths that the person has changed during the turn: only the agent's report shows enough about them
	unseen  int                       // the person's changes since the last look
	over    map[string]bool           // paths that a person has made or removed since the last look
	held    shelf                     // the disk at the last look
	cut     map[string]*sessions.Diff // pending hunks of files that were made shorter: the next write may be the rest of a save
}

func newScenario(sp *space, n int) *episode {
	like := n
	if n%4 == 1 {
		like = n - 1
	}
	plan := sp.sw.plan
	pcg := func(salt uint64, n int) *rand.Rand {
		return rand.New(rand.NewPCG(plan.seed^salt, uint64(plan.world)<<40+uint64(sp.n)<<20+uint64(n)))
	}
	s := &episode{
		sp: sp, n: n, dir: fmt.Sprintf("s%03d", n), rng: pcg(1, like), order: pcg(2, n), pure: true,
		disk: shelf{}, diffs: map[string]*sessions.Diff{}, mine: map[string]bool{}, gone: map[string]bool{}, over: map[string]bool{}, seen: map[string]bool{}, silent: map[string]*agentWork{}, vacated: map[string]bool{}, cut: map[string]*sessions.Diff{},
	}
	s.scribe = &scribe{rng: s.rng, style: newStyle(s.rng)}
	for _, name := range []string{"a", "b", "sub/ü c"}[:1+s.rng.IntN(3)] {
		s.disk[s.dir+"/"+name] = held{s.scribe.text("base"), 0o644}
	}
	for path, h := range s.disk {
		sp.w.Put(path, h.text)
		s.tracef("put %s %s", path, brief(h.text))
	}
	s.start, s.base, s.held = s.disk.clone(), s.disk.clone(), s.disk.clone()
	_, s.folders = readShelf(sp.w.Root, s.dir)
	return s
}

func (s *episode) tracef(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf(format, args...))
}

// does records the next step.
func (s *episode) does(act, format string, args ...any) {
	s.acts = append(s.acts, act)
	s.tracef("  "+act+" "+format, args...)
}

func (s *episode) failf(format string, args ...any) {
	panic(failure(fmt.Sprintf(s.dir+": "+format, args...)))
}

// pick returns a random key of a map; the same one for the same random numbers.
func pick[V any](r *rand.Rand, m map[string]V) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys[r.IntN(len(keys))]
}

// An author says who has changed files since the last look.
type author string

const (
	byAgent  author = "the agent"
	byUser   author = "the person"
	byNobody author = "nobody"
)

// see takes in the listed diffs, and fails if they are impossible.
func (s *episode) see(by author, diffs map[string]*sessions.Diff) {
	base, why := s.check(by, diffs)
	if why != "" {
		s.failf("after a change by %s: %s\nlisted: %s", by, why, describeDiffs(diffs))
	}
	for path, was := range s.held {
		switch now := s.disk[path]; {
		case len(now.text) < len(was.text) && s.diffs[path] != nil:
			s.cut[path] = s.diffs[path]
		case now.text != was.text:
			delete(s.cut, path)
		}
	}
	s.base, s.diffs, s.typed, s.unseen, s.held = base, diffs, nil, 0, s.disk.clone()
	clear(s.over)
}

func describeDiffs(diffs map[string]*sessions.Diff) string {
	var b strings.Builder
	for path, d := range diffs {
		fmt.Fprintf(&b, "\n%s: %s from %q, modes %s %s, baseline %s, revision %d", path, d.Kind, d.OldPath, d.OldMode, d.NewMode, d.Baseline, d.Rev)
		for _, h := range d.Hunks {
			fmt.Fprintf(&b, "\n  %s %s -%d,%d +%d,%d old bare %v, new bare %v, linked %v, %s: %s", h.ID, h.Kind, h.OldStart, h.OldLines,
				h.NewStart, h.NewLines, h.OldNoEOL, h.NewNoEOL, h.Linked, viasOf(h), briefs(h.Lines))
		}
	}
	return b.String()
}

func viasOf(h sessions.Hunk) (vias []string) {
	for _, src := range h.Sources {
		vias = append(vias, string(src.Via))
	}
	return vias
}

// check returns the baseline that the diffs imply, or an error that says why they are wrong.
func (s *episode) check(by author, diffs map[string]*sessions.Diff) (base shelf, why string) {
	real, _ := readShelf(s.sp.w.Root, s.dir)
	if why := s.disk.differs(real); why != "" {
		return nil, "the disk: " + why
	}
	base, err := baselineOf(real, s.base, diffs)
	if err != nil {
		return nil, err.Error()
	}
	if by == byUser {
		if more := morePending(diffs, s.diffs, s.cut); more != "" {
			return nil, "a person's change is pending: " + more
		}
		if s.typed != nil {
			if why := s.typed.differs(base); why != "" {
				return nil, "the baseline does not follow: " + why
			}
		}
	} else if why := s.base.differs(base); why != "" {
		return nil, "the baseline: " + why
	}
	return base, s.checkLines(diffs)
}

// checkLines requires all lines that the person typed.
func (s *episode) checkLines(diffs map[string]*sessions.Diff) (why string) {
	there := map[string]bool{}
	for _, h := range s.disk {
		for line := range strings.Lines(h.text) {
			there[bare(line)] = true
		}
	}
	for _, d := range diffs {
		if len(hunksOf(d, partOpaque)) > 0 {
			for line := range strings.Lines(s.base[oldPath(d)].text) {
				there[bare(line)] = true
			}
		}
		for i := range d.Hunks {
			for _, line := range d.Hunks[i].Lines {
				if line[0] == '-' {
					there[bare(line[1:])] = true
				}
			}
		}
	}
	for line := range s.mine {
		if !there[line] && !s.gone[line] {
			return fmt.Sprintf("the person's line %q is lost", line)
		}
	}
	return ""
}

// morePending returns a change that is pending now and was not before.
func morePending(after map[string]*sessions.Diff, before ...map[string]*sessions.Diff) string {
	had := map[string]int{}
	for _, diffs := range before {
		for line, n := range pendingLines(diffs, false) {
			had[line] += n
		}
	}
	for line, n := range pendingLines(after, true) {
		if n > had[line] {
			return line
		}
	}
	return ""
}

// pendingLines counts the changed lines, without differences in line ends and byte order marks. With real, lines that differ
// only in their end are left out.
func pendingLines(diffs map[string]*sessions.Diff, real bool) map[string]int {
	count := map[string]int{}
	for _, d := range diffs {
		for i := range d.Hunks {
			h := &d.Hunks[i]
			if h.Kind != "text" {
				count[string(partOf(d, h))+" "+oldPath(d)]++
			}
			lines := changesOf(h)
			if real {
				lines = withoutBareEnd(h)
			}
			for _, line := range lines {
				count[unmarked(line)]++
			}
		}
	}
	return count
}

// unmarked returns a changed line without its end and its byte order mark, so that a line of the agent's is the same with or
// without them.
func unmarked(line string) string { return strings.Replace(bare(line), "\ufeff", "", 1) }

// withoutBareEnd returns a hunk's changes without a line that changed only its end, because it became the last line or
// stopped being it.
func withoutBareEnd(h *sessions.Hunk) []string {
	lines := changesOf(h)
	plus := slices.IndexFunc(lines, func(l string) bool { return l[0] == '+' })
	_, trail := contextOf(h)
	if h.Kind != "text" || trail > 0 || plus < 1 || bare(lines[0])[1:] != bare(lines[plus])[1:] {
		return lines
	}
	if plus == 1 && h.OldNoEOL || plus == len(lines)-1 && h.NewNoEOL {
		return append(slices.Clone(lines[1:plus]), lines[plus+1:]...)
	}
	return lines
}

// counts counts the person's lines on disk.
func (s *episode) counts() map[string]int {
	n := map[string]int{}
	for _, h := range s.disk {
		for line := range strings.Lines(h.text) {
			if l := bare(line); strings.HasPrefix(strings.TrimPrefix(l, "\ufeff"), "user ") {
				n[l]++
			}
		}
	}
	return n
}

// byHand makes a person's change, and records which lines are the person's.
func (s *episode) byHand(do func()) {
	before := s.counts()
	do()
	s.pure = false
	after := s.counts()
	for line, n := range after {
		if n > before[line] {
			s.mine[line] = true
		}
	}
	for line, n := range before {
		if after[line] < n {
			delete(s.mine, line)
		}
	}
	// Removing a file, or making one in place of a deleted one, ends its pending hunks.
	for path := range s.over {
		for _, d := range s.diffs {
			if d.Path != path && oldPath(d) != path {
				continue
			}
			for line := range strings.Lines(s.base[oldPath(d)].text) {
				if after[bare(line)] == 0 {
					delete(s.mine, bare(line))
				}
			}
		}
	}
}

// likeTwin compares the episode with the one that had the same steps in another order.
func (s *episode) likeTwin() {
	if s.twin != nil && !slices.Equal(s.asked, s.twin.asked) {
		s.apart = true // of two changes in a row, one episode saw both at once
	}
	if s.twin == nil || s.apart || s.twin.apart {
		return
	}
	as := func(from *episode, files shelf) shelf {
		moved := shelf{}
		for path, h := range files {
			moved[s.dir+strings.TrimPrefix(path, from.dir)] = h
		}
		return moved
	}
	if why := as(s.twin, s.twin.disk).differs(s.disk); why != "" {
		s.failf("the order of decisions matters to the disk: %s\nthe other:\n%s", why, strings.Join(s.twin.trace, "\n"))
	}
	if why := as(s.twin, s.twin.base).differs(s.base); why != "" {
		s.failf("the order of decisions matters to the baseline: %s\nthe other:\n%s", why, strings.Join(s.twin.trace, "\n"))
	}
}
