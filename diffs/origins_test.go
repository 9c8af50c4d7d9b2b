package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOrigins says where lines come from.
func TestOrigins(t *testing.T) {
	one, two := by("s", "1"), by("s", "2")
	r := New(file("a\nb\nc\n"))
	r.Observe(file("a\nthe first line\nsecond line\nc\n"), one)
	for _, h := range r.Hunks() {
		_, err := r.Decide([]uint64{h.ID}, true, nil)
		require.NoError(t, err)
	}
	r.History(5)
	r.Observe(file("mine\na\nthe first line\nsecond line\nc\n"), nil)
	r.Observe(file("mine\na\nthe first line\nsecond line\nc\nd\n"), two)
	r = restored(t, r)
	require.Equal(t, []Origin{
		{From: 0, To: 2},
		{From: 2, To: 4, Source: one, At: 5},
		{From: 4, To: 5},
		{From: 5, To: 6, Source: two, At: 7, Pending: true},
	}, r.Origins())
	r.Observe(file("mine\na\nsecond line\nc\nd\nthe first line\n"), nil)
	origins := r.Origins()
	require.Equal(t, one, origins[len(origins)-1].Source, "a person has moved the line")
	require.Nil(t, New(file("\x00")).Origins())
}

// TestObserveFrom gives the history of a copy's accepted lines to the file that they were written to.
func TestObserveFrom(t *testing.T) {
	copied := New(file("a\nb\nc\n"))
	copied.Observe(file("a\nB\nc\nd\n"), by("s", "1"))
	real := New(file("mine\na\nb\nc\n"))
	_, err := copied.Decide([]uint64{copied.Hunks()[0].ID}, true, nil)
	require.NoError(t, err)
	real.ObserveFrom(file("mine\na\nB\nc\n"), copied)
	require.Equal(t, by("s", "1"), real.Origins()[1].Source)
	require.False(t, real.Pending())
	real = restored(t, real)
	_, _, err = real.Rewind(Undone{"s", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, "mine\na\nb\nc\n", string(real.Current().Data))
}
