package sessions_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	st, err := os.Stat(path)
	require.NoError(t, err)
	return st.Size()
}

func TestSessionsPageByTimeOfUpdate(t *testing.T) {
	s := openNew(t)
	var want []string
	for i := range 25 {
		id := fmt.Sprintf("s%02d", i)
		must(t, s, puts(session(id, uint64(i+1)))...)
		want = append([]string{id}, want...)
	}
	other := session("elsewhere", 1)
	other.Workspace, other.UpdatedAt = "/other", at(12) // between s10 and s11, with s11's time
	require.NoError(t, submit(s, "/other", puts(other)...))

	list := func(root string, limit int) (got []string, pages int) {
		cursor := ""
		for {
			page, next, err := s.Sessions(root, cursor, limit)
			require.NoError(t, err)
			pages++
			for _, x := range page {
				got = append(got, x.ID)
			}
			if cursor = next; next == "" {
				return got, pages
			}
		}
	}
	for limit, pages := range map[int]int{1: 25, 7: 4, 25: 1, 0: 1, 5000: 1, -1: 1} {
		got, n := list(root, limit)
		require.Equal(t, want, got)
		require.Equal(t, pages, n, "limit %d", limit)
	}
	all, _ := list("", 4)
	require.Len(t, all, 26)
	require.Contains(t, strings.Join(all, " "), "s12 s11 elsewhere s10")
	none, _ := list("/no", 4)
	require.Empty(t, none)

	must(t, s, puts(session("s03", 90))...)
	got, _ := list(root, 4)
	require.Equal(t, "s03", got[0])
	require.Len(t, got, 25)

	_, next, err := s.Sessions(root, "", 20)
	require.NoError(t, err)
	for _, cursor := range []string{"x", "0", next[:10], next[1:], strings.Replace(next, ".", "-", 1), "zzzzzzzzzzzzzzzz.s1", "0000000000000001."} {
		_, _, err := s.Sessions(root, cursor, 3)
		require.ErrorIs(t, err, ErrBadCursor, cursor)
	}
	must(t, s, RemoveSession{ID: next[17:], Seq: 91}) // a cursor outlives its session
	page, _, err := s.Sessions(root, next, 20)
	require.NoError(t, err)
	require.Len(t, page, 5)
}

func TestTranscriptPages(t *testing.T) {
	s := openNew(t)
	seq := uint64(0)
	put := func(os ...Object) { t.Helper(); must(t, s, puts(os...)...) }
	next := func() uint64 { seq++; return seq }
	put(session("s1", next()), session("empty", next()), session("waiting", next()), turn("w1", "waiting", TurnQueued, next()), turn("w2", "waiting", TurnQueued, next()))
	for i, items := range []int{0, 3, 0, 0, 2, 0} { // the number of items of turns t0 … t5
		id := fmt.Sprint("t", i)
		put(turn(id, "s1", TurnCompleted, next()))
		for j := range items {
			put(item(id, "s1", j, ItemCompleted, next()))
		}
	}
	read := func(session, before string, limit int) string {
		t.Helper()
		turns, items, more, err := s.Transcript(session, before, limit)
		require.NoError(t, err)
		var out []string
		for _, x := range turns {
			out = append(out, x.ID)
		}
		out = append(out, "|")
		for _, x := range items {
			out = append(out, x.ID)
		}
		if more {
			out = append(out, "…")
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		session, before string
		limit           int
		want            string
	}{
		{"s1", "", 0, "t0 t1 t2 t3 t4 t5 | t1:0 t1:1 t1:2 t4:0 t4:1"},
		{"s1", "", 5, "t0 t1 t2 t3 t4 t5 | t1:0 t1:1 t1:2 t4:0 t4:1"},
		{"s1", "", 1, "t4 t5 | t4:1 …"},
		{"s1", "t4:1", 1, "t2 t3 t4 | t4:0 …"},
		{"s1", "t4:0", 2, "t1 | t1:1 t1:2 …"},
		{"s1", "t1:1", 2, "t0 t1 | t1:0"},
		{"s1", "t1:0", 2, "|"},
		{"s1", "", 3, "t1 t2 t3 t4 t5 | t1:2 t4:0 t4:1 …"},
		{"s1", "t1:2", 2, "t0 t1 | t1:0 t1:1"},
		{"empty", "", 3, "|"},
		{"waiting", "", 3, "w1 w2 |"},
	} {
		require.Equal(t, c.want, read(c.session, c.before, c.limit), "%s before %q, %d", c.session, c.before, c.limit)
	}
	_, _, _, err := s.Transcript("empty", "t1:0", 3)
	require.ErrorIs(t, err, ErrNotFound)
	last, err := s.LastTurn("s1")
	require.NoError(t, err)
	require.Equal(t, "t5", last.ID)
}

func TestARemovedSessionIsGone(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	detail := []byte(`{"callId":"c"}`)
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnRunning, 2), session("s2", 3), turn("t2", "s2", TurnCompleted, 4), item("t1", "s1", 0, ItemRunning, 5))...)
	must(t, s, Put{Object: item("t1", "s1", 1, ItemCompleted, 6), Detail: detail}, AppendText{ItemID: "t1:0", Text: "Hi"})
	must(t, s, RemoveSession{ID: "s1", Seq: 7}, RemoveSession{ID: "never", Seq: 8})
	check := func(want ...string) {
		t.Helper()
		require.Equal(t, want, index(t, s, 0))
		for _, err := range []error{
			second(s.Session("s1")), second(s.Turn("t1")), second(s.Item("t1:0")), second(s.ItemDetail("t1:1")), second(s.TurnItems("t1")),
			second(s.LastTurn("s1")), second(s.Blob(BlobID(detail))),
		} {
			require.ErrorIs(t, err, ErrNotFound)
		}
		e, err := s.Entry(root, KindSession, "s1")
		require.NoError(t, err)
		require.Equal(t, Entry{Kind: KindSession, ID: "s1", Seq: 7, Removed: true}, e)
		list, _, err := s.Sessions("", "", 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
	check("3 session s2", "4 turn t2", "7 session s1 X")
	must(t, s, append(puts(session("s1", 9), turn("t1", "s1", TurnFailed, 10), turn("t3", "s1", TurnRunning, 11), item("t1", "s1", 0, ItemCancelled, 12)),
		AppendText{ItemID: "t1:0", Text: "x"}, RemoveSession{ID: "s1", Seq: 13})...)
	check("3 session s2", "4 turn t2", "7 session s1 X")
	require.ErrorIs(t, second(s.Turn("t3")), ErrNotFound)
	w, err := s.Workspace(root)
	require.NoError(t, err)
	require.Equal(t, WorkspaceRecord{Root: root, Seq: 13, Sessions: 1}, w)
	require.NoError(t, s.Close())

	s, r := openAt(t, path)
	require.Empty(t, r.Interrupted)
	check("3 session s2", "4 turn t2", "7 session s1 X")
}

func TestPendingDiffs(t *testing.T) {
	s := openNew(t)
	var want []string
	for i := range 2500 {
		d := diff(fmt.Sprintf("f%04d.go", i), "pending", uint64(i+1))
		if i%2 == 0 {
			d.State = "clean"
		} else {
			want = append(want, d.Path)
		}
		s.Submit(root, puts(d), nil)
	}
	must(t, s, puts(diff("f0001.go", "clean", 3000))...)
	ds, err := s.PendingDiffs(root)
	require.NoError(t, err)
	var got []string
	for _, d := range ds {
		got = append(got, d.Path)
	}
	require.Equal(t, want[1:], got)
	d, err := s.Diff(root, "f0001.go")
	require.NoError(t, err)
	require.Equal(t, "clean", d.State)
}

// TestToContinue leaves out attempts between which nobody has chosen.
func TestToContinue(t *testing.T) {
	attempt := func(id, group string) *Session { return &Session{ID: id, Attempt: &Attempt{Group: group}} }
	a, b, c, kept := attempt("a", "g"), attempt("b", "g"), &Session{ID: "c"}, attempt("d", "h")
	require.Empty(t, ToContinue(nil))
	require.Empty(t, ToContinue([]*Session{a, b}))
	require.Equal(t, []*Session{c, kept}, ToContinue([]*Session{a, c, b, kept}))
	require.Equal(t, []*Session{b, kept}, ToContinue([]*Session{b, kept}))
}
