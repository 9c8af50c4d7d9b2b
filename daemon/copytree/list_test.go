package copytree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestListAndClean(t *testing.T) {
	w := newWorld(t)
	w.write("a", strings.Repeat("x", 1000))
	state := filepath.Dir(filepath.Dir(w.dir))
	list, err := List(t.Context(), state)
	require.NoError(t, err)
	require.Empty(t, list)
	var copies []*Copy
	for i, session := range []string{"s1", "s2", "s3", "s4"} {
		c, err := Make(t.Context(), w.root, Dir(state, session), Options{})
		require.NoError(t, err)
		copies = append(copies, c)
		used := time.Now().Add(-time.Duration(4-i) * 24 * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(Dir(state, session), metaName, tableName), used, used))
	}
	write(t, Dir(state, "broken"), "pond/a", "x")
	require.NoError(t, os.Chtimes(Dir(state, "broken"), time.Now(), time.Now().Add(-2*unfinishedAge)))

	sessions := func(list []Info) (s string) {
		for _, i := range list {
			s += i.Session + " "
		}
		return s
	}
	list, err = List(t.Context(), state)
	require.NoError(t, err)
	require.Equal(t, "broken s4 s3 s2 s1 ", sessions(list))
	require.Equal(t, w.root, list[1].Root)
	require.Greater(t, list[1].Bytes, int64(1000))

	clean := func(b Bounds, pending string) string {
		removed, err := Clean(t.Context(), state, b, func(i Info) bool { return i.Session == pending })
		require.NoError(t, err)
		return sessions(removed)
	}
	require.Equal(t, "broken ", clean(Bounds{}, ""))
	require.Equal(t, "s2 ", clean(Bounds{Age: 60 * time.Hour}, "s1"))
	require.Equal(t, "s3 ", clean(Bounds{Count: 2}, "s1"))
	require.Empty(t, w.takeOver(copies[0]), "it is used again")
	require.Equal(t, "s4 ", clean(Bounds{Bytes: list[1].Bytes + 10}, ""))
	_, err = Open(Dir(state, "s1"), Options{})
	require.NoError(t, err)
	_, err = Open(Dir(state, "s4"), Options{})
	require.ErrorIs(t, err, ErrNotACopy)
}
