package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknown(t *testing.T) {
	r := NewUnknown(content("a\nb\n"), *agents["tool"])
	require.True(t, r.Pending())
	require.False(t, r.BaselineKnown())
	hunks := r.Hunks()
	require.Len(t, hunks, 1)
	require.Equal(t, FileHunk, hunks[0].Kind)
	require.Equal(t, []Source{*agents["tool"]}, hunks[0].Sources)
	_, err := r.Decide([]uint64{hunks[0].ID}, false, nil)
	require.ErrorIs(t, err, ErrBaselineUnknown)

	// Later changes by the agent can be rejected.
	require.True(t, r.Observe(content("a\nx\n"), agents["agent"]))
	hunks = r.Hunks()
	require.Len(t, hunks, 2)
	_, err = r.Decide([]uint64{hunks[0].ID, hunks[1].ID}, false, nil)
	require.ErrorIs(t, err, ErrBaselineUnknown)
	require.Equal(t, content("a\nx\n"), r.Current())
	_, err = r.Decide([]uint64{hunks[1].ID}, false, nil)
	require.NoError(t, err)
	require.Equal(t, content("a\nb\n"), r.Current())

	d, err := r.Decide([]uint64{hunks[0].ID}, true, nil)
	require.NoError(t, err)
	require.True(t, r.BaselineKnown())
	require.False(t, r.Pending())
	require.NoError(t, r.Undo(d))
	require.False(t, r.BaselineKnown())
}

func TestKind(t *testing.T) {
	small := Limits{MaxBytes: 100, MaxLines: 3}
	for _, c := range []struct {
		name     string
		old, now Content
		want     Kind
	}{
		{"modified", content("a\n"), content("b\n"), Modified},
		{"emptied", content("a\n"), content(""), Modified},
		{"created", Content{}, content("b\n"), Created},
		{"created empty", Content{}, content(""), Created},
		{"deleted", content("a\n"), Content{}, Deleted},
		{"binary", content("a\n"), content("\x00"), Binary},
		{"was binary", content("\x00"), content("a\n"), Binary},
		{"created binary", Content{}, content("\x00"), Binary},
		{"deleted binary", content("\x00"), Content{}, Binary},
		{"not UTF-8", content("a\n"), content("\xc3("), Binary},
		{"too long", content("a\n"), content(strings.Repeat("a", 101)), Large},
		{"too many lines", content("a\n"), content("a\nb\nc\nd\n"), Large},
		{"too large and binary", content("a\nb\nc\nd\n"), content("\x00"), Binary},
		{"at the limits", content("a\n"), content("a\nb\n" + strings.Repeat("c", 95) + "\n"), Modified},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := small.New(c.old)
			require.True(t, r.Observe(c.now, agents["agent"]))
			require.Equal(t, c.want, r.Kind())
			if c.want == Binary || c.want == Large {
				hunks := r.Hunks()
				require.Len(t, hunks, 1)
				require.Equal(t, FileHunk, hunks[0].Kind)
				require.Empty(t, hunks[0].Lines)
			}
		})
	}
}

func TestUserWritesOverBinary(t *testing.T) {
	r := New(content("a\x00"))
	r.Observe(content("b\x00"), agents["agent"])
	r.Observe(content("mine\x00"), nil)
	id := r.Hunks()[0].ID
	require.ErrorIs(t, r.Decidable(id, false), ErrUserChanged)
	_, err := r.Decide([]uint64{id}, false, nil)
	require.ErrorIs(t, err, ErrUserChanged)
	_, err = r.Decide([]uint64{id}, true, nil)
	require.NoError(t, err)
	require.Equal(t, content("mine\x00"), r.Baseline())
}

// TestMovedLine: the agent moves a line of the user. The two hunks are one decision.
func TestMovedLine(t *testing.T) {
	const middle = "b1\nb2\nb3\n"
	base := "a\n" + middle
	for _, c := range []struct {
		line   string
		linked bool
	}{{"what I wrote", true}, {"}}}", false}} {
		for _, accept := range []bool{true, false} {
			r := New(content(base))
			r.Observe(content("a\n"+c.line+"\n"+middle), nil)
			r.Observe(content("a\n"+middle+c.line+"\n"), agents["agent"])
			hunks := r.Hunks()
			require.Len(t, hunks, 2)
			if !c.linked {
				require.Empty(t, hunks[0].Linked)
				continue
			}
			require.Equal(t, []uint64{hunks[1].ID}, hunks[0].Linked)
			require.Equal(t, []uint64{hunks[0].ID}, hunks[1].Linked)
			d, err := r.Decide([]uint64{hunks[1].ID}, accept, nil)
			require.NoError(t, err)
			require.Equal(t, []uint64{hunks[0].ID, hunks[1].ID}, d.Hunks)
			require.False(t, r.Pending())
			require.Equal(t, 1, strings.Count(string(r.Current().Data), c.line))
			// The line is still the user's: the hunks of a second move are linked too.
			r.Observe(content(c.line+"\na\n"+middle), agents["tool"])
			hunks = r.Hunks()
			require.Len(t, hunks, 2)
			require.NotEmpty(t, hunks[0].Linked)
		}
	}
}

// TestPartOfHunkKeepsLine: the agent changes only the end of the user's line. Half of that change cannot be decided alone.
func TestPartOfHunkKeepsLine(t *testing.T) {
	for from := range 2 {
		for _, accept := range []bool{true, false} {
			r := New(content("a\n"))
			r.Observe(content("a\nwhat I wrote"), nil)
			r.Observe(content("a\nwhat I wrote\nmore of this\n"), agents["agent"])
			h := r.Hunks()[0]
			require.Equal(t, []string{" a", "-what I wrote", "+what I wrote", "+more of this"}, h.Lines)
			_, err := r.Decide([]uint64{h.ID}, accept, &Range{From: from, To: from + 1})
			require.NoError(t, err)
			require.Contains(t, string(r.Current().Data), "what I wrote")
			require.Contains(t, string(r.Baseline().Data), "what I wrote")
			require.Equal(t, []string{"+more of this"}, changes(r.Hunks()[0])[len(changes(r.Hunks()[0]))-1:])
		}
	}
}

func TestSources(t *testing.T) {
	r := New(content("a\nb\nc\n"))
	r.Observe(content("a\nx\nc\n"), agents["agent"])
	r.Observe(content("a\nx\ny\nc\n"), agents["tool"])
	r.Observe(content("a\nx\ny\nz\nc\n"), agents["tool"])
	require.Equal(t, []Source{*agents["agent"], *agents["tool"]}, r.Hunks()[0].Sources)
}

// TestFingerprintOfALinkedHunk: a person writes into one of two linked hunks. A decision on the other one means something
// else now, so its fingerprint changes.
func TestFingerprintOfALinkedHunk(t *testing.T) {
	r := New(content("a\nb"))
	r.Observe(content("a\nb\nwhat I wrote"), nil)
	r.Observe(content("what I wrote\na\nb\nx\ny\nz\nwhat I wrote\n"), agents["agent"])
	hunks := r.Hunks()
	require.Len(t, hunks, 2)
	require.Equal(t, []uint64{hunks[1].ID}, hunks[0].Linked)
	print := r.Fingerprint(hunks[0].ID)
	require.Equal(t, print, r.Fingerprints()[hunks[0].ID])

	r.Observe(content("what I wrote\nmine\na\nb\nx\ny\nz\nwhat I wrote\n"), nil)
	require.Equal(t, print, r.Fingerprint(hunks[0].ID), "a line beside both")
	r.Observe(content("what I wrote\nmine\na\nb\nx\ny\nmine, too\nz\nwhat I wrote\n"), nil)
	require.Equal(t, hunks[0].ID, r.Hunks()[0].ID)
	require.Equal(t, hunks[0].Lines[0], r.Hunks()[0].Lines[0], "the hunk itself is the same")
	require.NotEqual(t, print, r.Fingerprint(hunks[0].ID))
	require.Equal(t, r.Fingerprints()[hunks[0].ID], r.Fingerprint(hunks[0].ID))
}

func TestFingerprint(t *testing.T) {
	r := New(content("a\nb\nc\nd\n"))
	r.Observe(content("x\nb\nc\ny\n"), agents["agent"])
	hunks := r.Hunks()
	first, second := r.Fingerprint(hunks[0].ID), r.Fingerprint(hunks[1].ID)
	r.Observe(content("x\nb\nmine\nc\nz\n"), agents["agent"])
	require.Equal(t, first, r.Fingerprint(hunks[0].ID), "an edit elsewhere")
	require.NotEqual(t, second, r.Fingerprint(r.Hunks()[2].ID))
	require.Equal(t, "", r.Fingerprint(1000))
	require.Equal(t, first, r.Fingerprints()[hunks[0].ID])
}

func TestUnmarshalRefuses(t *testing.T) {
	r := New(content("a\nb\n"))
	r.Observe(content("a\nx\n"), agents["agent"])
	state := string(r.Marshal())
	for _, c := range []struct{ name, state, base, now string }{
		{"no JSON", "nope", "a\nb\n", "a\nx\n"},
		{"another version", strings.Replace(state, `"v":1`, `"v":2`, 1), "a\nb\n", "a\nx\n"},
		{"fewer lines", state, "a\n", "a\nx\n"},
		{"more lines", state, "a\nb\n", "a\nx\ny\n"},
		{"another settled line", state, "q\nb\n", "a\nx\n"},
		{"an edit that is not there", strings.Replace(state, `[0,1,0,`, `[0,9,0,`, 1), "a\nb\n", "a\nx\n"},
		{"an edit without a source", strings.Replace(state, `"sources":`, `"edits":[1,2],"sources":`, 1), "a\nb\n", "a\nx\n"},
		{"an edit without a number", strings.Replace(state, `"sources":`, `"edits":[0],"sources":`, 1), "a\nb\n", "a\nx\n"},
		{"too many", strings.Replace(state, `,1]]`, `,99999999999]]`, 1), "a\nb\n", "a\nx\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Unmarshal([]byte(c.state), []byte(c.base), []byte(c.now))
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
}
