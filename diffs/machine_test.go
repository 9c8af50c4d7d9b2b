package diffs

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		flag.Set("rapid.checks", quickChecks)
	}
	os.Exit(m.Run())
}

// A machine is a file, its review, and the agent and the person who work on it.
type machine struct {
	t        *rapid.T
	r        *Review
	disk     Content
	path     string // where the file is
	original Content
	eol      string
	pure     bool // no edit by the user and no accept so far
	typed    int  // number of unique lines that the user has typed
	edits    int
	done     []Decision
	undone   []Decision
	agreed   map[string]string // the baselines right after decisions, by After
	exotic   bool              // includes binary and large contents, and links
	modes    bool              // the modes are known
}

var alphabet = []string{"{", "}", "", "return", "x = 1", "call(a, b)", "\tlonger line here", "mixed\rup"}

func newMachine(t *rapid.T, exotic bool) *machine {
	m := &machine{t: t, exotic: exotic, pure: true, path: "a", agreed: map[string]string{}, modes: rapid.Bool().Draw(t, "modes")}
	m.eol = rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "eol")
	if rapid.IntRange(0, 7).Draw(t, "absent") > 0 {
		m.original = m.content(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 14).Draw(t, "base"))
	}
	m.original = m.withMode(m.original)
	m.disk = m.original
	limits := Limits{MaxBytes: 400, MaxLines: 40}
	if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
		m.r = limits.NewUnknown(m.disk, m.source())
	} else {
		m.r = limits.New(m.disk)
	}
	m.check()
	return m
}

func (m *machine) source() Source {
	m.edits++
	return Source{SessionID: "s1", TurnID: fmt.Sprint("t", m.edits/3), ItemID: fmt.Sprint("i", m.edits), Via: "edit"}
}

// content joins lines; now and then the last one has no line end.
func (m *machine) content(lines []string) Content {
	if m.exotic && rapid.IntRange(0, 9).Draw(m.t, "link") == 0 {
		return Content{Exists: true, Target: rapid.SampledFrom([]string{"x", "../y", "\xff"}).Draw(m.t, "target")}
	}
	if m.exotic && rapid.IntRange(0, 5).Draw(m.t, "exotic") == 0 {
		s := rapid.SampledFrom([]string{"\x00", "a\n\x00b\n", "\xff\xfe\n", strings.Repeat("line\n", 41), strings.Repeat("y", 401)}).Draw(m.t, "bytes")
		return Content{Exists: true, Data: []byte(s)}
	}
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(l)
		if i < len(lines)-1 || rapid.IntRange(0, 3).Draw(m.t, "final") > 0 {
			if rapid.IntRange(0, 40).Draw(m.t, "other") == 0 {
				b.WriteString("\n")
			} else {
				b.WriteString(m.eol)
			}
		}
	}
	return Content{Exists: true, Data: []byte(b.String())}
}

// withMode gives a file without a mode its mode on disk.
func (m *machine) withMode(c Content) Content {
	if !m.modes || !c.Exists || c.Target != "" || c.Mode != 0 {
		return c
	}
	if c.Mode = m.disk.Mode; c.Mode == 0 {
		c.Mode = rapid.SampledFrom([]uint32{0o644, 0o755, 0o600}).Draw(m.t, "mode")
	}
	return c
}

// lines returns the lines on disk without their ends.
func (m *machine) lines() []string { return m.linesOf(m.disk) }

func (m *machine) linesOf(c Content) []string {
	lines := linetext.Split(string(c.Data))
	for i := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSuffix(lines[i], "\n"), "\r")
	}
	if m.r.limits.kind(c.body()) != Modified {
		return nil
	}
	return lines
}

// edited replaces a few lines on disk by results of line.
func (m *machine) edited(line func() string) Content { return m.editedOf(m.disk, line) }

func (m *machine) editedOf(c Content, line func() string) Content {
	lines := m.linesOf(c)
	for range rapid.IntRange(1, 3).Draw(m.t, "splices") {
		from := rapid.IntRange(0, len(lines)).Draw(m.t, "from")
		to := min(len(lines), from+rapid.IntRange(0, 3).Draw(m.t, "drop"))
		var added []string
		for range rapid.IntRange(0, 3).Draw(m.t, "add") {
			added = append(added, line())
		}
		lines = slices.Replace(lines, from, to, added...)
	}
	return m.content(lines[:min(len(lines), 30)])
}

func (m *machine) moved() Content {
	lines := m.lines()
	if len(lines) == 0 {
		return m.content(nil)
	}
	from := rapid.IntRange(0, len(lines)-1).Draw(m.t, "from")
	to := min(len(lines), from+rapid.IntRange(1, 3).Draw(m.t, "count"))
	block := slices.Clone(lines[from:to])
	if rapid.Bool().Draw(m.t, "cut") {
		lines = slices.Delete(lines, from, to)
	}
	lines = slices.Insert(lines, rapid.IntRange(0, len(lines)).Draw(m.t, "to"), block...)
	return m.content(lines[:min(len(lines), 30)])
}

func (m *machine) observe(now Content, by *Source) {
	t := m.t
	now = m.withMode(now)
	// Repairs and normalisations by earlier decisions do not count for this edit.
	m.r.Observe(m.disk, by)
	pendingBefore := m.pendingIDs()
	before := m.r.Current()
	rev := m.r.Rev()
	changed := m.r.Observe(now, by)
	require.Equal(t, now, normal(m.r.Current()), "1: the present text is what the disk holds")
	require.Equal(t, changed, m.r.Rev() != rev)
	if !sameContent(before, now) {
		require.True(t, changed)
	}
	if by == nil {
		m.pure = m.pure && sameContent(now, m.disk)
		for id := range m.pendingIDs() {
			require.True(t, pendingBefore[id], "8: a user's edit makes nothing pending: %d", id)
		}
	}
	for _, h := range m.r.Hunks() {
		if h.Kind == TextHunk {
			require.NotEqual(t, sideLines(h, "-"), sideLines(h, "+"), "12: a hunk re-types what it deletes %q\n%q", h, m.r.weave.Atoms)
		}
	}
	m.disk = now
}

// observeBaseline changes the baseline as a person does.
func (m *machine) observeBaseline(now Content) {
	t := m.t
	if m.modes && now.Exists && now.Target == "" && now.Mode == 0 {
		if now.Mode = m.r.Baseline().Mode; now.Mode == 0 {
			now.Mode = 0o644
		}
	}
	m.r.Observe(m.disk, nil)
	rev, before := m.r.Rev(), m.r.Copy()
	unfit := now.Exists && m.r.limits.kind(now.body()) != Modified // cannot be reviewed by lines
	from := before
	if i := m.r.former(); i >= 0 {
		from = m.r.formers[i].Review
	}
	may := pendingOf(from)
	changed := m.r.ObserveBaseline(now)
	require.Equal(t, changed, m.r.Rev() != rev)
	require.Equal(t, normal(now), normal(m.r.Baseline()), "1: the review knows the baseline")
	for i := range m.r.weave.Atoms {
		may[m.r.weave.Atoms[i].ID] = may[m.r.weave.Atoms[i].ID] || m.r.weave.Atoms[i].Both // where both have changed the same lines
	}
	for id := range m.pendingIDs() {
		require.True(t, may[id] || id == m.r.op.ID && (!now.Exists || unfit), "8: a user's edit makes nothing pending: %d", id)
	}
	if m.r.whole == nil && before.whole == nil {
		has := make(map[string]bool)
		for _, l := range linetext.Split(string(m.r.Current().Data)) {
			has[weave.TrimEnd(l)] = true
		}
		dead := make(map[string]bool)
		for i := range from.weave.Atoms {
			if a := &from.weave.Atoms[i]; a.Del != 0 {
				dead[weave.TrimEnd(a.Text)] = true
			}
		}
		for i := range before.weave.Atoms {
			a := &before.weave.Atoms[i]
			if a.Del != 0 {
				dead[weave.TrimEnd(a.Text)] = true
			}
			if a.Ins != 0 && m.r.is {
				require.True(t, has[weave.TrimEnd(a.Text)], "the agent's line %q is lost", a.Text)
			}
		}
		for i := range m.r.weave.Atoms {
			if a := &m.r.weave.Atoms[i]; a.Both && a.Del != 0 {
				dead[weave.TrimEnd(a.Text)] = true
			}
		}
		if m.r.is {
			for _, l := range linetext.Split(string(now.Data)) {
				require.True(t, has[weave.TrimEnd(l)] || dead[weave.TrimEnd(l)], "7: the user's line %q is not in the copy", l)
			}
		}
	}
	m.pure = false
	m.written()
}

func (m *machine) pendingIDs() map[uint64]bool { return pendingOf(m.r) }

func pendingOf(r *Review) map[uint64]bool {
	ids := make(map[uint64]bool)
	for i := range r.weave.Atoms {
		if r.weave.Atoms[i].Pending() {
			ids[r.weave.Atoms[i].ID] = true
		}
	}
	for _, op := range []fileOp{r.op, r.chmod, r.renamed} {
		if op.ID != 0 {
			ids[op.ID] = true
		}
	}
	return ids
}

func normal(c Content) Content {
	if c.Exists && c.Target == "" && len(c.Data) == 0 {
		c.Data = []byte{}
	}
	return c
}

func sameContent(a, b Content) bool {
	return a.Exists == b.Exists && a.body() == b.body() && a.Mode == b.Mode
}

// sameReview compares two reviews, without the sources of their edits and their revisions.
func sameReview(t require.TestingT, want, got *Review, why string) {
	same := want.was == got.was && want.is == got.is && slices.Equal(want.weave.Atoms, got.weave.Atoms) &&
		want.op.ID == got.op.ID && want.unknown.ID == got.unknown.ID && want.chmod.ID == got.chmod.ID &&
		want.renamed.ID == got.renamed.ID && want.wasMode == got.wasMode && want.isMode == got.isMode &&
		want.wasPath == got.wasPath && want.isPath == got.isPath && want.weave.Next == got.weave.Next && want.weave.EOL == got.weave.EOL &&
		(want.whole == nil) == (got.whole == nil) && (want.whole == nil || *want.whole == *got.whole)
	if !same {
		require.Equal(t, want, got, why)
		require.Fail(t, why)
	}
}

// reloaded returns the review after a trip through storage.
func reloaded(t require.TestingT, r *Review) *Review {
	c, err := Unmarshal(r.Marshal(), r.Baseline().Data, r.Current().Data)
	require.NoError(t, err)
	sameReview(t, r, c, "11: the review comes back")
	require.Equal(t, string(r.Marshal()), string(c.Marshal()), "11: the state comes back")
	require.Equal(t, r.Hunks(), c.Hunks())
	return c
}

func stored(t require.TestingT, d Decision) Decision {
	b, err := json.Marshal(d)
	require.NoError(t, err)
	var back Decision
	require.NoError(t, json.Unmarshal(b, &back))
	return back
}

// decide decides on r, checks all rules of decisions, and returns the decision after a trip through storage.
func decide(t require.TestingT, r *Review, ids []uint64, accept bool, lines *Range) (Decision, error) {
	before := r.Copy()
	mine := guarded(r)
	d, err := r.Decide(ids, accept, lines)
	if err != nil {
		sameReview(t, before, r, "16: a refused decision changes nothing")
		require.Equal(t, before.rev, r.rev)
		return d, err
	}
	if accept {
		require.True(t, d.ChangesBoth() || sameContent(before.Current(), r.Current()), "6: an accept leaves the file")
		require.Equal(t, before.Path(), r.Path(), "6: an accept leaves the file")
	} else {
		require.Equal(t, before.Baseline(), r.Baseline(), "6: a reject leaves the baseline")
		require.Equal(t, before.wasPath, r.wasPath, "6: a reject leaves the baseline")
	}
	alive := make(map[string]bool)
	for _, l := range linetext.Split(string(r.Current().Data)) {
		alive[weave.TrimEnd(l)] = true
	}
	for _, l := range mine {
		require.True(t, alive[l], "7, 14: the user's line %q is lost", l)
	}
	kept := string(r.Baseline().Data)
	for i := range before.weave.Atoms {
		if a := &before.weave.Atoms[i]; a.Both && r.whole == nil {
			require.Contains(t, kept, weave.TrimEnd(a.Text), "a person's line where both have changed is lost")
		}
	}
	wellFormed(t, r)
	d = stored(t, d)
	back := r.Copy()
	require.NoError(t, back.Undo(d))
	sameReview(t, before, back, "13: undo is exact")
	again, err := back.Redo(d)
	require.NoError(t, err)
	require.Equal(t, d.Hunks, again.Hunks)
	sameReview(t, r, back, "redo does the same")
	return d, nil
}

// guarded returns the lines of the user that no decision may lose: the settled ones, and those that the agent has moved.
func guarded(r *Review) (lines []string) {
	copied := make(map[string]bool)
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Ins != 0 {
			copied[weave.TrimEnd(a.Text)] = true
		}
	}
	for i := range r.weave.Atoms {
		a := &r.weave.Atoms[i]
		if l := weave.TrimEnd(a.Text); strings.HasPrefix(l, "user") && (!a.Pending() || a.Del != 0 && a.User && copied[l]) {
			lines = append(lines, l)
		}
	}
	return lines
}

func wellFormed(t require.TestingT, r *Review) {
	seen := make(map[uint64]bool)
	for i := range r.weave.Atoms {
		a := &r.weave.Atoms[i]
		if a.Ins != 0 && a.Del != 0 || seen[a.ID] || a.ID > r.weave.Next || a.User && a.Ins != 0 {
			require.Fail(t, "10: an impossible line", "%d: %v", i, *a)
		}
		seen[a.ID] = true
	}
	if r.whole == nil && r.op.ID == 0 {
		require.Equal(t, r.was, r.is)
	}
	require.Equal(t, r.chmod.ID != 0, r.file(weave.Baseline) && r.file(weave.Current) && r.wasMode != r.isMode)
	require.Equal(t, r.renamed.ID != 0, r.is && r.OldPath() != "")
	require.Equal(t, r.Pending(), len(r.Hunks()) > 0)
}
