package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindBringsBackBeneathSeveral takes lines back of which another session has replaced a part, accepted, and a third edit has changed
// that since: what the lines had replaced comes back.
func TestRewindBringsBackBeneathSeveral(t *testing.T) {
	r := New(file("b0\nb1\n"))
	r.Observe(file("l1\nl2\nl3\n"), by("o", "1"))
	r.Observe(file("l4\nl3\n"), by("s", "1"))
	_, err := r.Decide(hunkIDs(r), true, nil)
	require.NoError(t, err)
	r.Observe(file("l7\nl8\nl3\n"), by("s", "2"))
	r = restored(t, r)
	_, _, err = r.Rewind(Undone{"o", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, "b0\nb1\nl4\n", string(r.Baseline().Data))
}

// TestRewindLeavesLinesBetweenWhereTheyAre takes turns back, beside pending lines of another session that were written among theirs: a reject
// has all lines in their order.
func TestRewindLeavesLinesBetweenWhereTheyAre(t *testing.T) {
	r := New(file("b0\nb1\nb2\n"))
	r.Observe(file("b0\nl1\nl2\n"), by("s", "1"))
	r.Observe(file("l3\nl4\nl1\nl2\n"), by("s", "2"))
	r.Observe(file("l3\nl4\nl1\nl5\n"), by("o", "1"))
	_, err := r.Decide(hunkIDs(r), true, nil)
	require.NoError(t, err)
	r.Observe(file("l3\nl6\nl8\nl9\n"), by("s", "3"))
	for _, text := range []string{"l3\nl6\nl8\nl10\nl11\n", "l3\nl13\nl8\nl10\nl11\n"} {
		r.Observe(file(text), by("o", "2"))
		r = restored(t, r)
	}
	_, _, err = r.Rewind(Undone{"s", []string{"1", "2", "3"}})
	require.NoError(t, err)
	require.Equal(t, "b0\nl13\nb1\nl10\nl11\n", string(r.Current().Data))
	require.Equal(t, "b0\nb1\nl5\n", string(r.Baseline().Data))
}

// TestRewindKeepsAPersonsLineInItsPlace has a person put a line between two that replace two others, and takes these back: it stays between
// what was replaced, as after a reject.
func TestRewindKeepsAPersonsLineInItsPlace(t *testing.T) {
	r := New(file("b0\nb1\nb2\n"))
	for _, text := range []string{"b0\nl6\nl7\n", "l8\nl6\nl7\n"} {
		r.Observe(file(text), by("o", "1"))
	}
	for _, text := range []string{"l8\np1\nl6\nl7\n", "l8\np1\nl6\np2\nl7\n"} {
		r.Observe(file(text), nil)
		r = restored(t, r)
	}
	want := r.Baseline()
	require.Equal(t, "b0\np1\nb1\np2\nb2\n", string(want.Data))
	_, _, err := r.Rewind(Undone{"o", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, want, r.Current())
	require.Equal(t, want, r.Baseline())
}

// TestRewindBringsNoLineBackTwice rejects all lines of a turn, among which a person has typed: a rewind of the turn changes nothing in the file.
func TestRewindBringsNoLineBackTwice(t *testing.T) {
	r := New(file("b0\nb1\nb2\n"))
	r.Observe(file("l2\nl3\nb2\n"), by("o", "1"))
	r.Observe(file("l2\np4\nl3\nb2\n"), nil)
	r = restored(t, r)
	r.Observe(file("l5\nl6\nl3\nb2\n"), by("s", "1"))
	_, err := r.Decide(hunkIDs(r), false, nil)
	require.NoError(t, err)
	r = restored(t, r)
	require.Equal(t, "b0\np4\nb1\nb2\n", string(r.Current().Data))
	d, _, err := r.Rewind(Undone{"o", []string{"1"}})
	require.NoError(t, err)
	require.True(t, d.Forgets())
	require.Equal(t, "b0\np4\nb1\nb2\n", string(r.Current().Data))
}
