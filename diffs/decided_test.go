package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestADecisionAboutACopyThatIsTakenBack: decisions about copies remove and add lines of a file that has hunks of its own. Once they are taken
// back, one after the other, the hunks are as before, also if something of the file was decided or edited in the meantime.
func TestADecisionAboutACopyThatIsTakenBack(t *testing.T) {
	text := func(s string) Content { return Content{Exists: true, Data: []byte(s)} }
	const before, now = "1\n2\n3\n4\n5\n", "1\n2\n3\nP1\nP2\nP3\n5\nQ\n"
	made := func() *Review {
		r := New(text(before))
		r.Observe(text(now), &Source{SessionID: "s"})
		require.Len(t, r.Hunks(), 2)
		return r
	}
	t.Run("one after the other", func(t *testing.T) {
		r := made()
		was := r.shape().sum()
		r.observeFrom(text("1\n2\n3\nP3\n5\nQ\n"), nil)
		then := r.shape().sum()
		r.observeFrom(text("1\n2\n3\n5\n"), nil)
		r.observeFrom(text("1\n2\n3\nP3\n5\nQ\n"), nil)
		require.Equal(t, then, r.shape().sum())
		r.observeFrom(text(now), nil)
		require.Equal(t, was, r.shape().sum())
	})
	t.Run("with an accept in between", func(t *testing.T) {
		r := made()
		r.observeFrom(text("1\n2\n3\nP3\n5\nQ\n"), nil)
		_, err := r.Decide([]uint64{r.Hunks()[1].ID}, true, nil)
		require.NoError(t, err)
		r.observeFrom(text(now), nil)
		require.Len(t, r.Hunks(), 1)
		_, err = r.Decide([]uint64{r.Hunks()[0].ID}, false, nil)
		require.NoError(t, err)
		require.Equal(t, "1\n2\n3\n4\n5\nQ\n", string(r.Current().Data))
	})
	t.Run("with an edit in between", func(t *testing.T) {
		r := made()
		r.observeFrom(text("1\n2\n3\nP3\n5\nQ\n"), nil)
		r.Observe(text("1\n2\n3\nP3\n5\nQ\nR\n"), &Source{SessionID: "s", TurnID: "2"})
		r.observeFrom(text(now+"R\n"), nil)
		for len(r.Hunks()) > 0 {
			_, err := r.Decide([]uint64{r.Hunks()[0].ID}, false, nil)
			require.NoError(t, err)
		}
		require.Equal(t, before, string(r.Current().Data))
	})
	t.Run("but not a person's edit", func(t *testing.T) {
		r := made()
		r.observeFrom(text("1\n2\n3\nP3\n5\nQ\n"), nil)
		r.Observe(text("1\n2\n3\nmine\nP3\n5\nQ\n"), nil)
		require.False(t, r.Follows())
	})
}
