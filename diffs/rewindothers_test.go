package diffs

import (
	"testing"

	"cursord/diffs/internal/linetext"

	"github.com/stretchr/testify/require"
)

// TestRewindBeneathAnotherSession takes a session's turn back after another session has replaced its lines: the pending hunk of that session
// has the lines from before both on its old side, and a reject brings them back.
func TestRewindBeneathAnotherSession(t *testing.T) {
	for _, c := range []struct {
		name           string
		base, one, two string
		accept         bool // of the first session's
		want           string
	}{
		{
			name: "a line replaced twice", base: "one\nmy five\nsix\n", one: "one\nfive by s1\nextra\nsix\n", two: "one\nFIVE\nextra\nsix\n",
			want: "one\nFIVE\nsix\n",
		},
		{
			name: "a line replaced twice, the first accepted", accept: true,
			base: "one\nmy five\nsix\n", one: "one\nfive by s1\nextra\nsix\n", two: "one\nFIVE\nextra\nsix\n",
			want: "one\nFIVE\nsix\n",
		},
		{name: "replaced, then removed", base: "a\nmine\nb\n", one: "a\ns1\nb\n", two: "a\nb\n", want: "a\nb\n"},
		{name: "replaced, then removed, the first accepted", accept: true, base: "a\nmine\nb\n", one: "a\ns1\nb\n", two: "a\nb\n", want: "a\nb\n"},
		{name: "alike lines", base: "}\nmine\n}\n", one: "}\n{\n}\n", two: "}\nO\n}\n", want: "}\nO\n}\n"},
		{name: "several lines", base: "a\nm1\nm2\nb\n", one: "a\nx\ny\nb\n", two: "a\nO\nP\nb\n", want: "a\nO\nP\nb\n"},
		{name: "several lines, accepted", accept: true, base: "a\nm1\nm2\nb\n", one: "a\nx\ny\nb\n", two: "a\nO\nP\nb\n", want: "a\nO\nP\nb\n"},
		{name: "a new line changed, accepted", accept: true, base: "a\nb\n", one: "a\nx\nb\n", two: "a\nO\nb\n", want: "a\nO\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(file(c.base))
			r.Observe(file(c.one), by("s", "1"))
			if c.accept {
				_, err := r.Decide(hunkIDs(r), true, nil)
				require.NoError(t, err)
			}
			r = restored(t, r)
			r.Observe(file(c.two), by("o", "9"))
			r = restored(t, r)
			was := r.Copy()
			d, _, err := r.Rewind(Undone{"s", []string{"1"}})
			require.NoError(t, err)
			require.Equal(t, c.want, string(r.Current().Data))
			require.Equal(t, c.base, string(r.Baseline().Data))
			r = restored(t, r)
			again := r.Copy()
			_, err = again.Decide(hunkIDs(again), false, nil)
			require.NoError(t, err)
			require.Equal(t, c.base, string(again.Current().Data))
			require.NoError(t, r.Undo(passed(t, d)))
			requireAsBefore(t, was, r)
		})
	}
}

// TestRewindKeepsTheOrder takes removals back that were accepted, beside others that are pending: a reject brings all lines back in their
// order.
func TestRewindKeepsTheOrder(t *testing.T) {
	r := New(file("b0\nb1\nb2\nb3\nb4\n"))
	r.Observe(file("b0\nb1\nb2\nl3\n"), by("s", "1"))
	_, err := r.Decide(hunkIDs(r), true, nil)
	require.NoError(t, err)
	r.Observe(file("b0\nb1\nb2\nl6\nl3\n"), by("o", "2"))
	r.Observe(file("b0\nb1\nl9\nl3\n"), by("o", "3"))
	_, _, err = r.Rewind(Undone{"s", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, "b0\nb1\nb2\nb3\nb4\n", string(r.Baseline().Data))

	r = New(file("b0\nb1\nb2\n"))
	r.Observe(file("l5\nl6\nb1\nl1\n"), by("o", "1"))
	r.Observe(file("l5\nl6\nl1\n"), by("s", "1"))
	r.Observe(file("l5\nl7\nl8\n"), by("o", "2"))
	_, _, err = r.Rewind(Undone{"s", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, "l5\nl7\nb1\nl8\n", string(r.Current().Data))
	require.Equal(t, "b0\nb1\nb2\n", string(r.Baseline().Data), "what is pending stays pending")
}

// TestARewindForgetsRemovedLines takes back a turn whose line another session has removed: nothing changes, but when that session is taken
// back too, the line stays away. The undo of the first rewind brings it back to what the second one knows.
func TestARewindForgetsRemovedLines(t *testing.T) {
	r := New(file("a\nb\n"))
	r.Observe(file("a\nx\nb\n"), by("s", "1"))
	r.Observe(file("a\nb\n"), by("o", "1"))
	r = restored(t, r)
	was := r.Copy()
	d, left, err := r.Rewind(Undone{"s", []string{"1"}})
	require.NoError(t, err)
	require.Zero(t, d.Size())
	require.Equal(t, Left{Changed: true}, left)
	r = restored(t, r)
	require.Equal(t, was.Current(), r.Current())

	again := r.Copy()
	_, _, err = again.Rewind(Undone{"o", []string{"1"}})
	require.Equal(t, "a\nb\n", string(again.Current().Data))
	require.ErrorIs(t, err, ErrNotFound)

	require.NoError(t, r.Undo(passed(t, d)))
	r = restored(t, r)
	_, _, err = r.Rewind(Undone{"o", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, "a\nx\nb\n", string(r.Current().Data))
}

// TestARewindForgetsReplacedFiles is TestARewindForgetsRemovedLines for what a file is as a whole.
func TestARewindForgetsReplacedFiles(t *testing.T) {
	bin := func(b string, mode uint32) Content {
		return Content{Exists: true, Data: []byte("\x00" + b), Mode: mode}
	}
	r := New(bin("a", 0o644))
	r.Rename("f", "f", nil)
	for i, name := range []string{"s", "o"} {
		r.Observe(bin(name, []uint32{0o755, 0o700}[i]), by(name, "1"))
		r.Rename(r.Path(), name, by(name, "1"))
		_, err := r.Decide(hunkIDs(r), true, nil)
		require.NoError(t, err)
		r = restored(t, r)
	}
	_, left, err := r.Rewind(Undone{"s", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, Left{Changed: true}, left)
	require.Equal(t, bin("o", 0o700), r.Current())
	r = restored(t, r)
	_, _, err = r.Rewind(Undone{"o", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, bin("a", 0o644), r.Current())
	require.Equal(t, "f", r.Path())
}

// TestARejectBesideARemovedLine rejects a hunk beside a pending line that another turn has removed: taking that turn back brings the line back.
func TestARejectBesideARemovedLine(t *testing.T) {
	r := New(file("a\nmine\nb\n"))
	r.Observe(file("a\nb\n"), by("s", "1"))
	r.Observe(file("a\nx\nb\n"), by("s", "2"))
	r.Observe(file("a\nb\n"), by("s", "3"))
	_, err := r.Decide(hunkIDs(r), false, nil)
	require.NoError(t, err)
	r = restored(t, r)
	require.Equal(t, "a\nmine\nb\n", string(r.Current().Data))
	_, _, err = r.Rewind(Undone{"s", []string{"3"}})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"a\n", "mine\n", "x\n", "b\n"}, linetext.Split(string(r.Current().Data)))
}
