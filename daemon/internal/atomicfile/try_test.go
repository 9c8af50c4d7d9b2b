//go:build unix

package atomicfile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestTryIsLikeCarry tries changes one after the other, and carries the same ones out: the same of them have no room.
func TestTryIsLikeCarry(t *testing.T) {
	type step struct {
		from, to string
		made     bool // or removed, with to ""; else moved
	}
	for name, steps := range map[string][]step{
		"two files to one path":               {{from: "a", to: "new"}, {from: "b", to: "new"}},
		"a file to where one is made":         {{to: "new", made: true}, {from: "a", to: "new"}},
		"a file is made where one has gone":   {{from: "a", to: "new"}, {to: "new", made: true}},
		"a file is made where one was":        {{from: "a", to: "new"}, {to: "a", made: true}, {from: "b", to: "a"}},
		"a file where a folder is now":        {{from: "a", to: "d/x"}, {from: "b", to: "d"}},
		"a folder where a file is now":        {{from: "a", to: "d"}, {from: "b", to: "d/x"}},
		"a file to a path that is free again": {{from: "a", to: "new"}, {from: "new"}, {from: "b", to: "new"}},
		"a file to one that stays":            {{from: "a", to: "b"}, {from: "b", to: "c"}, {from: "a", to: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(tried Tried) (errs []error) {
				dir := t.TempDir()
				a, b := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644}
				put(t, dir, "a", a)
				put(t, dir, "b", b)
				is := map[string]diffs.Content{"a": a, "b": b}
				for _, s := range steps {
					c := &Change{From: s.from, To: s.to, Before: State{Content: is[s.from]}, After: is[s.from], Mode: 0o644, Tried: tried}
					switch {
					case s.made:
						c.From, c.After = s.to, b
					case s.to == "":
						c.To, c.After = s.from, diffs.Content{}
					}
					c.Temp = TempName(c.To)
					w := in(t, dir)
					c.Dirs = w.MissingDirs(c.To)
					err := w.Carry(c)
					if errs = append(errs, err); err == nil {
						delete(is, s.from)
						is[c.To] = c.After
					}
				}
				return errs
			}
			tried, carried := run(Tried{}), run(nil)
			failed := false
			for i, err := range carried {
				failed = failed || err != nil
				require.Equal(t, err != nil, tried[i] != nil, "%d: carried: %v, tried: %v", i, err, tried[i])
				if err != nil {
					require.ErrorIs(t, err, tried[i])
				}
			}
			require.Equal(t, name != "a file to a path that is free again", failed)
		})
	}
}

// TestOrder: a file to be moved does not take the place of one that is to be there.
func TestOrder(t *testing.T) {
	is := func(yes bool) diffs.Content { return diffs.Content{Exists: yes} }
	change := func(from, to string, before, after bool) *Change {
		return &Change{From: from, To: to, Before: State{Content: is(before)}, After: is(after)}
	}
	changes := []*Change{
		change("a", "x", true, true), change("x", "x", false, true), nil, change("y", "x", true, true), change("z", "z", true, false),
		change("b", "c", true, true), change("c", "c", true, true), change("d", "z", true, true),
	}
	in := func(i int) (any, *Change) { return i == 3, changes[i] }
	require.Equal(t, []int{4, 1, 2, 3, 6, 7, 0, 5}, Order(len(changes), in))
}
