package remarks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/decisionlog"
	"cursord/sessions"
)

// TestListIsWhatTheStoreHas plays keeps, takes and drops, and loads what the operations have left.
func TestListIsWhatTheStoreHas(t *testing.T) {
	t.Parallel()
	var l List
	var ops []sessions.Op
	for n, one := range []decisionlog.Rejection{{Session: "a", Text: "one"}, {Session: "b", Text: "two"}, {Text: "of any", Comment: true}, {Session: "b", Text: "four"}} {
		l.Keep(&ops, uint64(n/2+1), one)
	}
	require.True(t, l.KeepsOf(2))
	require.False(t, l.KeepsOf(3))
	require.Equal(t, []string{"one", "of any"}, l.Take(&ops, "a"))
	l.DropOf(&ops, 1)
	require.Equal(t, []string{"b"}, l.Sessions())
	l.Keep(&ops, 3, decisionlog.Rejection{Session: "c", Text: "five"})
	l.Notify(&ops, "c", []string{"said"})
	l.Notify(&ops, "c", []string{"said", "did"})
	l.Notify(&ops, "d", []string{"said"})
	l.Notify(&ops, "d", nil)

	var stored []sessions.Numbered
	for _, op := range ops {
		switch op := op.(type) {
		case sessions.PutNote:
			stored = append(stored, sessions.Numbered(op))
		case sessions.DropNote:
			for i, have := range stored {
				if have.N == op.N {
					stored = append(stored[:i], stored[i+1:]...)
					break
				}
			}
		}
	}
	var bad []uint64
	again := New(append(stored, sessions.Numbered{N: 9, Data: []byte("{")}), func(n uint64, err error) {
		require.Error(t, err)
		bad = append(bad, n)
	})
	require.Equal(t, l, again)
	require.Equal(t, []uint64{9}, bad)
	again.DropFor(&ops, "b")
	require.Equal(t, []string{"c", "c"}, again.Sessions())
	require.Equal(t, []string{"five"}, again.Take(&ops, "c"))
	require.Equal(t, []string{"said", "did"}, again.Notices("c"))
	require.Empty(t, again.Notices("d"))
	again.DropFor(&ops, "c")
	require.Empty(t, again.Sessions())
}

// TestRejectionsAreCut: a prompt says how many rejected changes it leaves out, and has all that a person wrote.
func TestRejectionsAreCut(t *testing.T) {
	t.Parallel()
	var l List
	var ops []sessions.Op
	long := strings.Repeat("x", 1500)
	for range 4 {
		l.Keep(&ops, 1, decisionlog.Rejection{Session: "a", Text: long})
		l.Keep(&ops, 1, decisionlog.Rejection{Session: "a", Text: long + "said", Comment: true})
	}
	require.Equal(t, []string{long, long + "said", long, long + "said", long + "said", long + "said", "the user rejected 2 more of your changes"}, l.Take(&ops, "a"))
}
