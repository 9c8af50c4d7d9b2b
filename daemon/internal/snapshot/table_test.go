package snapshot

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
)

// TestStatesAreLikeAMap: states that share a table answer as maps of their own would.
func TestStatesAreLikeAMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		spool := newSpool(t.TempDir())
		defer spool.close()
		name := func() string {
			return strings.Repeat("d/", r.IntN(3)) + string(rune('a'+r.IntN(26))) + strings.Repeat("é", r.IntN(2))
		}
		oid := []string{"", "aa11" + strings.Repeat("0", 36), "bb22" + strings.Repeat("f", 36)}
		random := func() entry {
			e := entry{
				Stat: filestat.Stat{Dev: r.Uint64N(3), Ino: r.Uint64(), Size: r.Int64N(9), Mtime: r.Int64(), Ctime: r.Int64(), Mode: fs.FileMode(r.Uint32N(0o1000)) | fs.ModeSymlink},
				racy: r.IntN(2) == 0, content: nowhere,
			}
			if id := oid[r.IntN(3)]; id != "" {
				e.blob = git.Blob{OID: id, Size: e.Size}
			}
			return e
		}
		var names []string
		var entries []entry
		want := map[string]entry{}
		for range r.IntN(60) {
			n, e := name(), random()
			if names, entries = append(names, n), append(entries, e); r.IntN(4) == 0 {
				entries[len(entries)-1].Stat = []filestat.Stat{{}, {Ino: 7, Mode: fs.ModeDir}}[r.IntN(2)] // there is no such file
				continue
			}
			want[n] = e
		}
		ids, stats := &git.IDs{}, make([]filestat.Stat, len(entries))
		for i, e := range entries {
			stats[i] = e.Stat
		}
		f := states{base: newTable(stats, ids, func(i int) string { return names[i] }, func(i int) (bool, int32, spooled) {
			return entries[i].racy, ids.Add(entries[i].blob.OID), nowhere
		})}
		for n := range want {
			if r.IntN(2) == 0 {
				st := random().Stat
				c := spool.put([]byte(strings.Repeat("x", r.IntN(3))))
				f.read(n, st, true, c)
				e := want[n]
				e.Stat, e.racy, e.content = st, true, c
				if e.blob.OID != "" {
					e.blob.Size = st.Size
				}
				want[n] = e
			}
		}
		check := func(f *states, want map[string]entry) {
			for n, e := range want {
				got := f.get(n)
				require.NotNil(t, got, n)
				data, known := e.content.get()
				gotData, gotKnown := got.content.get()
				require.Equal(t, known, gotKnown)
				require.Equal(t, data, gotData)
				e.content, got.content = nowhere, nowhere
				require.Equal(t, e, *got, n)
				require.True(t, f.has(n))
				require.Equal(t, e.blob.OID == "", f.unread(n))
			}
			require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(f.all()))
			for i := range f.base.len() {
				n := f.base.name(i)
				e, there := want[n]
				require.Equal(t, there && !e.racy, f.same(i, n, e.Stat), n)
				if there {
					require.False(t, f.same(i, n, filestat.Stat{Ino: 1}))
				}
				delete(want, n)
			}
			require.ElementsMatch(t, slices.Collect(maps.Keys(want)), f.added())
		}
		check(&f, maps.Clone(want))

		f.shared = true
		of := maps.Clone(want)
		other, others := f.clone(), maps.Clone(want)
		for range r.IntN(30) {
			n := name()
			_, there := others[n]
			require.Equal(t, there, other.has(n))
			switch e := random(); r.IntN(4) {
			case 0:
				other.set(n, &e)
				others[n] = e
			case 1:
				other.delete(n)
				delete(others, n)
			case 2:
				other.read(n, e.Stat, e.racy, nowhere)
				if there {
					was := others[n]
					was.Stat, was.racy = e.Stat, e.racy
					others[n] = was
				}
			case 3:
				if got := other.change(n); got != nil {
					got.Stat = e.Stat
					was := others[n]
					was.Stat = e.Stat
					others[n] = was
				}
			}
		}
		check(&other, others)
		check(&f, of)
	}
}

// TestTableHoldsNoLargerText: a table keeps nothing of the listing that it is made from.
func TestTableHoldsNoLargerText(t *testing.T) {
	t.Parallel()
	said := strings.Repeat("0", 40) + " one/path" + " another/path"
	names := []string{said[41:49], said[50:]}
	there := []filestat.Stat{{Ino: 1}, {Ino: 2}}
	table := newTable(there, nil, func(i int) string { return names[i] }, func(int) (bool, int32, spooled) { return false, 0, nowhere })
	for i, name := range names {
		at, found := table.find(name)
		require.True(t, found)
		require.NotSame(t, unsafe.StringData(name), unsafe.StringData(table.name(at)), "%d", i)
	}
	require.Len(t, table.text, len(names[0])+len(names[1]))
}
