package diffs

import (
	"flag"
	"slices"
	"testing"

	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each run draws the same cases; -rapid.seed draws others.
func init() { _ = flag.Set("rapid.seed", "1") }

// check checks all rules of a review at any time; it decides only on copies.
func (m *machine) check() {
	t := m.t
	m.forgetSources()
	require.Equal(t, normal(m.disk), normal(m.r.Current()), "1: the review knows the disk")
	wellFormed(t, m.r)
	checkHunks(t, m.r)
	reloaded(t, m.r)
	m.checkAll()
	m.checkOrder()
	m.checkRestored()
}

// forgetSources lets the review forget unused sources of edits, and checks that every source in use is left.
func (m *machine) forgetSources() {
	before := m.r.Hunks()
	log := slices.Concat(m.done, m.undone)
	m.r.ForgetSources(func(yield func(*Decision) bool) {
		for i := range log {
			if !yield(&log[i]) {
				return
			}
		}
	})
	require.Equal(m.t, before, m.r.Hunks())
	for _, p := range m.r.list() {
		edits := m.r.fileOp(p.what).Edits
		if p.what == aRun {
			edits = nil
		}
		if p.what == aRun || p.what == theOp {
			edits = m.r.edits(p, edits)
		}
		require.Len(m.t, m.r.sources.of(edits), len(edits), "the sources of %v", edits)
	}
}

func (m *machine) checkAll() {
	t := m.t
	r, both := m.r.Copy(), false
	for _, h := range r.Hunks() {
		if r.Decidable(h.ID, true) == nil {
			d, err := decide(t, r, []uint64{h.ID}, true, nil)
			require.NoError(t, err)
			both = both || d.ChangesBoth()
		}
	}
	require.True(t, both || sameContent(m.r.Current(), r.Current()), "2: accept-all leaves the file")
	if !r.isPart() && (r.whole == nil || !r.whole.forked) {
		require.Equal(t, r.Current(), r.Baseline(), "2: accept-all settles")
		require.False(t, r.Pending(), "2: accept-all settles")
	}
	require.Equal(t, m.r.Path(), r.Path(), "2: accept-all leaves the file")

	r = m.r.Copy()
	left := 0
	for len(r.Hunks()) > left {
		h := r.Hunks()[left]
		if _, err := decide(t, r, []uint64{h.ID}, false, nil); err != nil {
			require.True(t, h.ID == r.unknown.ID || r.whole.touched)
			left++
		}
	}
	if left == 0 || r.whole == nil {
		require.Equal(t, r.Baseline(), r.Current(), "3: reject-all gives the baseline")
		require.Equal(t, m.r.Baseline(), r.Current(), "3: reject-all gives the baseline")
		require.Equal(t, m.r.wasPath, r.Path(), "3: reject-all gives the baseline")
	}
	if m.pure {
		require.Equal(t, normal(m.original), normal(r.Current()), "3: reject-all gives the original bytes")
		if m.original.Exists {
			require.Contains(t, []string{"", "a"}, r.Path(), "3: reject-all gives the original path")
		}
	}
}

// checkOrder makes the same accepts and rejects in two orders.
func (m *machine) checkOrder() {
	t := m.t
	hunks := m.r.Hunks()
	var sets [][]uint64
	seen := make(map[uint64]bool)
	for _, h := range hunks {
		if !seen[h.ID] {
			set := append([]uint64{h.ID}, h.Linked...)
			for _, id := range set {
				seen[id] = true
			}
			sets = append(sets, set)
		}
	}
	if len(sets) < 2 {
		return
	}
	accept := rapid.SliceOfN(rapid.Bool(), len(sets), len(sets)).Draw(t, "vector")
	order := rapid.Permutation(indices(len(sets))).Draw(t, "order")
	one, other := m.r.Copy(), m.r.Copy()
	for _, i := range indices(len(sets)) {
		m.decideOne(one, sets[i][:1], accept[i])
	}
	for _, i := range order {
		m.decideOne(other, sets[i][len(sets[i])-1:], accept[i])
	}
	require.Equal(t, one.Current(), other.Current(), "4: the order of decisions does not matter")
	require.Equal(t, one.Baseline(), other.Baseline(), "4: the order of decisions does not matter")
}

func indices(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// decideOne decides one set of linked hunks, and checks that the others stay as they are.
func (m *machine) decideOne(r *Review, ids []uint64, accept bool) {
	before, prints := r.Hunks(), r.Fingerprints()
	d, err := decide(m.t, r, ids, accept, nil)
	if err != nil {
		return
	}
	after := r.Hunks()
	var left []Hunk
	for _, h := range before {
		if !slices.Contains(d.Hunks, h.ID) {
			left = append(left, h)
		}
	}
	require.Len(m.t, after, len(left), "5: other hunks stay")
	for i, h := range left {
		require.Equal(m.t, h.ID, after[i].ID, "5: other hunks keep their ids")
		require.Equal(m.t, h.Linked, after[i].Linked, "5: other hunks keep their links")
		require.Equal(m.t, h.Sources, after[i].Sources)
		require.Equal(m.t, changes(h), changes(after[i]), "5: other hunks keep their lines")
		require.Equal(m.t, prints[h.ID], r.Fingerprint(h.ID), "5: other hunks keep their fingerprints")
	}
}

func changes(h Hunk) (lines []string) {
	for _, l := range h.Lines {
		if l[0] != ' ' {
			lines = append(lines, l)
		}
	}
	return lines
}

// checkRestored restores the baseline by hand, as the agent and as the user.
func (m *machine) checkRestored() {
	if m.r.unknown.ID != 0 {
		return
	}
	for _, by := range []*Source{nil, {TurnID: "t", Via: "shell"}} {
		r := m.r.Copy()
		if r.Observe(r.Baseline(), nil); by != nil {
			r = m.r.Copy()
			r.Observe(r.Baseline(), by)
		}
		for _, h := range r.Hunks() {
			require.Equal(m.t, r.renamed.ID, h.ID, "9: the baseline is back, nothing is left but where it is")
		}
		require.Equal(m.t, m.r.Baseline(), r.Current())
		require.Equal(m.t, m.r.Baseline(), r.Baseline())
	}
}

// step makes one random step.
func (m *machine) step() {
	t := m.t
	agentLine := func() string { return rapid.SampledFrom(alphabet).Draw(t, "line") }
	userLine := func() string {
		if rapid.Bool().Draw(t, "unique") {
			m.typed++
			return "user" + string(rune('a'+m.typed%26)) + string(rune('a'+m.typed/26))
		}
		return agentLine()
	}
	agent := func() *Source { s := m.source(); return &s }
	switch rapid.SampledFrom([]string{
		"agent", "agent", "agent", "agent", "move", "move", "rewrite", "user", "user", "user", "cut", "retype",
		"delete", "unchanged", "mode", "move file",
		"base", "base", "base rewrite", "base agreed", "base gone", "decide", "decide", "decide", "lines", "lines", "undo", "undo", "redo", "store",
	}).Draw(t, "step") {
	case "agent":
		m.observe(m.edited(agentLine), agent())
	case "move":
		m.observe(m.moved(), agent())
	case "rewrite":
		m.observe(m.content(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 14).Draw(t, "lines")), agent())
	case "user":
		m.observe(m.edited(userLine), nil)
	case "cut":
		if lines := m.lines(); len(lines) > 0 {
			i := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
			m.observe(m.content(slices.Delete(lines, i, i+1)), nil)
		}
	case "retype": // a person restores one line by hand
		lines := linetext.Split(m.r.weave.Text(weave.Baseline))
		m.observe(m.content(firstLines(lines)), nil)
	case "delete":
		by := agent()
		if rapid.IntRange(0, 3).Draw(t, "by") == 0 {
			by = nil
		}
		m.observe(Content{}, by)
	case "mode":
		if m.modes && m.disk.Exists && m.disk.Target == "" {
			now := m.disk
			now.Mode = rapid.SampledFrom([]uint32{0o644, 0o755, 0o600}).Draw(t, "mode")
			m.observe(now, rapid.SampledFrom([]*Source{nil, agent(), agent()}).Draw(t, "by"))
		}
	case "move file":
		if m.disk.Exists {
			m.move(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "path"), rapid.SampledFrom([]*Source{nil, agent(), agent()}).Draw(t, "by"))
		}
	case "base":
		m.observeBaseline(m.editedOf(m.r.Baseline(), userLine))
	case "base rewrite":
		m.observeBaseline(m.content(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 14).Draw(t, "lines")))
	case "base agreed":
		m.observeBaseline(m.r.Current())
		for _, h := range m.r.Hunks() {
			require.Contains(t, []uint64{m.r.renamed.ID, m.r.unknown.ID}, h.ID, "what the person has made by hand is not pending")
		}
	case "base gone":
		if rapid.IntRange(0, 2).Draw(t, "gone") == 0 {
			m.observeBaseline(Content{})
		}
	case "unchanged":
		m.observe(m.disk, rapid.SampledFrom([]*Source{nil, agent()}).Draw(t, "by"))
	case "decide":
		m.decideSome()
	case "lines":
		m.decideLines()
	case "undo":
		m.undo()
	case "redo":
		m.redo()
	case "store":
		m.r = reloaded(t, m.r)
	}
	m.check()
}

func (m *machine) move(to string, by *Source) {
	if to == m.path {
		return
	}
	before, old := m.r.Hunks(), m.r.OldPath()
	rev := m.r.Rev()
	require.Equal(m.t, m.r.Rename(m.path, to, by), m.r.Rev() != rev)
	m.path = to
	m.pure = m.pure && by != nil
	require.Equal(m.t, to, m.r.Path())
	require.NotEqual(m.t, to, m.r.OldPath())
	if old == to {
		old = "" // it is back
	}
	require.True(m.t, by != nil || old == m.r.OldPath(), "8: a person's move is not pending, and takes an agent's along")
	mine := func(h Hunk) bool { return h.Kind == FileHunk && len(h.Lines) == 0 }
	require.Equal(m.t, slices.DeleteFunc(before, mine), slices.DeleteFunc(m.r.Hunks(), mine), "the hunks move along")
}

func firstLines(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, weave.TrimEnd(l))
	}
	return out[:min(len(out), 30)]
}

func (m *machine) decided(d Decision, accept bool) {
	m.pure = m.pure && !accept
	m.done, m.undone, m.agreed[d.After] = append(m.done, d), nil, string(m.r.Baseline().Data)
	m.written()
}

// written writes the review's text to the disk.
func (m *machine) written() {
	m.disk = normal(m.r.Current())
	if p := m.r.Path(); p != "" {
		m.path = p
	}
}

func (m *machine) decideSome() {
	hunks := m.r.Hunks()
	_, err := m.r.Decide([]uint64{m.r.weave.Next + 1}, true, nil)
	require.ErrorIs(m.t, err, ErrNotFound)
	if len(hunks) == 0 {
		return
	}
	var ids []uint64
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(hunks)-1), 1, len(hunks), rapid.ID).Draw(m.t, "hunks") {
		ids = append(ids, hunks[i].ID)
	}
	accept := rapid.Bool().Draw(m.t, "accept")
	if d, err := decide(m.t, m.r, ids, accept, nil); err == nil {
		m.decided(d, accept)
	}
}

func (m *machine) decideLines() {
	hunks := m.r.Hunks()
	if len(hunks) == 0 {
		return
	}
	h := rapid.SampledFrom(hunks).Draw(m.t, "hunk")
	n := len(changes(h))
	lines := Range{From: rapid.IntRange(-1, n).Draw(m.t, "from"), To: rapid.IntRange(-1, n+1).Draw(m.t, "to")}
	accept := rapid.Bool().Draw(m.t, "accept")
	d, err := decide(m.t, m.r, []uint64{h.ID}, accept, &lines)
	if lines.From < 0 || lines.To > n || lines.From >= lines.To {
		require.ErrorIs(m.t, err, ErrRange)
		return
	}
	if err == nil {
		m.decided(d, accept)
	}
}

func (m *machine) undo() {
	if len(m.done) == 0 {
		return
	}
	d := m.done[len(m.done)-1]
	m.done = m.done[:len(m.done)-1]
	before := m.r.Current()
	state := string(m.r.Marshal())
	mine, then := guarded(m.r), m.r.Copy()
	if err := m.r.Undo(d); err != nil {
		require.ErrorIs(m.t, err, ErrOvertaken)
		require.Equal(m.t, state, string(m.r.Marshal()))
		return
	}
	if d.Accept {
		require.Equal(m.t, before, m.r.Current(), "undoing an accept leaves the file")
		require.Contains(m.t, []string{"", m.path}, m.r.Path(), "undoing an accept leaves the file")
		kept := !slices.ContainsFunc(then.weave.Atoms, func(a weave.Atom) bool { return a.Ins != 0 && !m.pendingIDs()[a.ID] }) // none is one that d had removed
		if kept && m.agreed[d.After] == string(then.Baseline().Data) {                                                         // only agents have written since
			back := m.r.Copy()
			_, err := back.Redo(d)
			require.NoError(m.t, err)
			require.Equal(m.t, then.Baseline(), back.Baseline(), "an undo and a redo leave what is pending")
		}
	}
	text := string(m.r.Current().Data) + string(m.r.Baseline().Data) // the undo of a reject deletes the restored lines again
	for _, l := range mine {
		require.Contains(m.t, text, l, "an undo loses a user's line")
	}
	m.undone = append(m.undone, d)
	m.written()
}

func (m *machine) redo() {
	if len(m.undone) == 0 {
		return
	}
	d := m.undone[len(m.undone)-1]
	m.undone = m.undone[:len(m.undone)-1]
	again, err := m.r.Redo(d)
	if err != nil {
		return
	}
	m.pure = m.pure && !d.Accept
	m.done = append(m.done, stored(m.t, again))
	m.written()
}

func play(exotic bool) func(*rapid.T) {
	return func(t *rapid.T) {
		m := newMachine(t, exotic)
		for range rapid.IntRange(1, 14).Draw(t, "steps") {
			m.step()
		}
	}
}

func TestProperties(t *testing.T)       { t.Parallel(); rapid.Check(t, play(false)) }
func TestPropertiesExotic(t *testing.T) { t.Parallel(); rapid.Check(t, play(true)) }

func FuzzWeave(f *testing.F) { f.Fuzz(rapid.MakeFuzz(play(true))) }
