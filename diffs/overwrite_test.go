package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func spaced(words string) Content {
	if words == "" {
		return Content{Exists: true}
	}
	return Content{Exists: true, Data: []byte(strings.ReplaceAll(words, " ", "\n") + "\n")}
}

// TestOverwriting: a person saves over the lines of an edit. The loss of the edit's lines can be taken back, beside the
// saved lines.
func TestOverwriting(t *testing.T) {
	for _, c := range []struct {
		name, before, edited, saved string
		unseen, rejects             bool
		undone                      string
	}{
		{"lines that the text never had", "a b c", "a b X c", "mine b c", true, true, "mine b X c"},
		{"a line that both have changed", "a b c", "a X c", "a Y c", true, true, "a X Y c"},
		{"a deletion", "a b c", "a c", "mine b c", true, true, "mine c"},
		{"the deletion of a line that the person has changed", "a b c", "a c", "a b2 c", true, true, "a b2 c"},
		{"lines that were seen and taken out", "a b c", "a b X c", "mine b c", false, true, "mine b X c"},
		{"a line that was seen and typed over", "a b c", "a X c", "a Y c", false, false, ""},
		{"lines that are still there", "a b c", "a X b c", "a X b mine", true, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(spaced(c.before))
			r.Observe(spaced(c.edited), &Source{TurnID: "t"})
			var ids []uint64
			for _, p := range r.Places() {
				ids = append(ids, p.ID)
			}
			unseen, seen := ids, []uint64(nil)
			if !c.unseen {
				unseen, seen = nil, ids
			}
			d, rejects := r.Overwrite(spaced(c.saved), unseen, seen)
			require.Equal(t, c.rejects, rejects)
			require.Equal(t, spaced(c.saved), r.Current())
			if rejects {
				require.False(t, r.Pending())
				require.NoError(t, r.Undo(d))
				require.Equal(t, c.undone != c.saved, r.Pending(), "a line that the person has changed is no longer the agent's to delete")
				got := strings.Fields(string(r.Current().Data))
				require.ElementsMatch(t, strings.Fields(c.undone), got)
			}
		})
	}
}

// TestOverwritingASide: the reject is about the person's line and the edit's, so its undo and redo change one into the other.
func TestOverwritingASide(t *testing.T) {
	r := New(spaced("a b c"))
	r.Observe(spaced("a X c"), &Source{TurnID: "t"})
	d, rejects := r.Overwrite(spaced("a Y c"), []uint64{r.Places()[0].ID}, nil, Side{r.Over(1, 2), []string{"Y\n"}})
	require.True(t, rejects)
	require.Equal(t, spaced("a Y c"), r.Current())
	require.NoError(t, r.Undo(d))
	require.Equal(t, spaced("a X c"), r.Current())
	require.Equal(t, spaced("a Y c"), r.Baseline())
}

func TestOverwritingAFileThatWasCreated(t *testing.T) {
	r := New(Content{})
	r.Observe(spaced("X Z"), &Source{TurnID: "t"})
	d, rejects := r.Overwrite(spaced("mine"), []uint64{r.Places()[0].ID}, nil)
	require.True(t, rejects)
	require.Equal(t, spaced("mine"), r.Current())
	require.NoError(t, r.Undo(d))
	require.ElementsMatch(t, []string{"mine", "X", "Z"}, strings.Fields(string(r.Current().Data)))
}

func TestOverwritingAFileThatWasDeleted(t *testing.T) {
	for _, c := range []struct {
		saved, undone string
		pending       bool
	}{{"a b c", "", true}, {"a B c", "B", true}, {"mine", "mine", false}} {
		r := New(spaced("a b c"))
		r.Observe(Content{}, &Source{TurnID: "t"})
		d, rejects := r.Overwrite(spaced(c.saved), nil, nil)
		require.True(t, rejects)
		require.Equal(t, spaced(c.saved), r.Current())
		require.False(t, r.Pending(), "the save says that the file stays")
		require.NoError(t, r.Undo(d))
		require.Equal(t, c.pending, r.Pending(), "what the person has replaced is not the agent's deletion")
		require.Equal(t, c.undone, strings.Join(strings.Fields(string(r.Current().Data)), " "), "the person's lines stay")
	}
}

func TestPlaces(t *testing.T) {
	r := New(spaced("a b c d e"))
	r.Observe(spaced("a X Z c e"), &Source{TurnID: "t"})
	places := r.Places()
	require.Len(t, places, 2)
	require.Equal(t, []int{1, 3, 4, 4}, []int{places[0].From, places[0].To, places[1].From, places[1].To})
}

// TestUndoOfWhatAPersonHasMade: a person changes the file by hand, or by git, to what an undo would make. No line comes twice, and no
// hunk is left of which a reject would make one.
func TestUndoOfWhatAPersonHasMade(t *testing.T) {
	for _, accept := range []bool{false, true} {
		r := New(spaced("a b c"))
		r.Observe(spaced("a B c"), &Source{TurnID: "t"})
		d, err := r.Decide([]uint64{r.Places()[0].ID}, accept, nil)
		require.NoError(t, err)
		byHand := spaced("a B c") // what was rejected, as git apply makes it
		if accept {
			byHand = spaced("a b c") // what was there before, as git reset makes it
		}
		r.Observe(byHand, nil)
		require.NoError(t, r.Undo(d))
		require.Equal(t, byHand, r.Current())
		require.Equal(t, byHand, r.Baseline())
		require.False(t, r.Pending())
	}
}
