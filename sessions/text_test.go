package sessions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

func TestTextOfARunningItem(t *testing.T) {
	t.Parallel()
	add := func(offset int, text string) Op { return AppendText{ItemID: "a:b:c:0", Offset: offset, Text: text} }
	for name, c := range map[string]struct {
		own  string // the item's own text
		ops  []Op
		want string
	}{
		"none":                 {"", nil, ""},
		"joined":               {"", []Op{add(0, "Hel"), add(3, "lo "), add(6, "wörld")}, "Hello wörld"},
		"twice":                {"", []Op{add(0, "Hel"), add(3, "lo"), add(3, "lo")}, "Hello"},
		"replaced from 0":      {"", []Op{add(0, "Hel"), add(3, "lo"), add(0, "Bye")}, "Bye"},
		"replaced from inside": {"", []Op{add(0, "Hel"), add(3, "lo"), add(2, "y!")}, "Hey!"},
		"forgotten":            {"", []Op{add(0, "Hel"), add(3, "lo"), add(0, "")}, ""},
		"gap":                  {"", []Op{add(0, "Hel"), add(7, "lo")}, "Hel"},
		"after its own":        {"Hel", []Op{add(3, "lo")}, "Hello"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			it := item("a:b:c", "s1", 0, ItemRunning, 3)
			it.Text = c.own
			must(t, s, puts(session("s1", 1), turn("a:b:c", "s1", TurnRunning, 2), it)...)
			must(t, s, c.ops...)

			got, err := s.Item(it.ID)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Text)
			e, err := s.Entry(root, KindItem, it.ID)
			require.NoError(t, err)
			es, err := s.TurnItems("a:b:c")
			require.NoError(t, err)
			require.Equal(t, []Entry{e}, es)
			es, err = s.Changes(root, 2, 10)
			require.NoError(t, err)
			require.Equal(t, []Entry{e}, es)
			var o Item
			require.NoError(t, json.Unmarshal(e.JSON, &o))
			require.Equal(t, *got, o)
			_, items, _, err := s.Transcript("s1", "", 0)
			require.NoError(t, err)
			require.Equal(t, []*Item{got}, items)

			final := item("a:b:c", "s1", 0, ItemCompleted, 4)
			final.Text = "all of it"
			must(t, s, append(puts(final), add(9, " and more"))...)
			got, err = s.Item(it.ID)
			require.NoError(t, err)
			require.Equal(t, "all of it", got.Text)
			must(t, s, puts(item("a:b:c", "s1", 0, ItemRunning, 5))...)
			got, err = s.Item(it.ID)
			require.NoError(t, err)
			require.Empty(t, got.Text, "text that was kept before it ended")
		})
	}
}

func TestTextOfUnknownItemsIsLeftOut(t *testing.T) {
	s := openNew(t)
	must(t, s, AppendText{ItemID: "t1:0", Text: "x"})
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnRunning, 2))...)
	must(t, s, AppendText{ItemID: "t1:0", Text: "x"})
	must(t, s, puts(item("t1", "s1", 0, ItemRunning, 3))...)
	got, err := s.Item("t1:0")
	require.NoError(t, err)
	require.Empty(t, got.Text)
}

func TestDetailBelongsToTheNewestForm(t *testing.T) {
	s := openNew(t)
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnRunning, 2))...)
	big := []byte(`{"output":"` + strings.Repeat("x", 9000) + `"}`)
	it := item("t1", "s1", 0, ItemRunning, 3)
	must(t, s, Put{Object: it, Detail: []byte(`{"args":1}`)})
	must(t, s, Put{Object: it, Detail: big})
	got, err := s.ItemDetail(it.ID)
	require.NoError(t, err)
	require.Equal(t, big, got)
	require.ErrorIs(t, second(s.Blob(BlobID([]byte(`{"args":1}`)))), ErrNotFound)
	must(t, s, Put{Object: item("t1", "s1", 0, ItemCompleted, 4)})
	require.ErrorIs(t, second(s.ItemDetail(it.ID)), ErrNotFound)
	require.ErrorIs(t, second(s.Blob(BlobID(big))), ErrNotFound)
}

func TestReviewsShareTheirContents(t *testing.T) {
	s := openNew(t)
	a, b, c := []byte("one\n"), []byte("two\n"), []byte{}
	has := func(contents ...[]byte) {
		t.Helper()
		for _, x := range [][]byte{a, b, c} {
			got, err := s.Blob(BlobID(x))
			kept := false
			for _, y := range contents {
				kept = kept || string(x) == string(y)
			}
			if kept {
				require.NoError(t, err)
				require.Equal(t, x, got)
			} else {
				require.ErrorIs(t, err, ErrNotFound)
			}
		}
	}
	must(t, s, PutReview{Path: "x", State: []byte("1"), Blobs: [][]byte{a, b, b}}, PutReview{Path: "y", Blobs: [][]byte{b, c}})
	has(a, b, c)
	rs, err := s.Reviews(root)
	require.NoError(t, err)
	require.Equal(t, []ReviewRecord{{Path: "x", State: []byte("1")}, {Path: "y", State: []byte{}}}, rs)
	must(t, s, PutReview{Path: "x", State: []byte("2"), Blobs: [][]byte{a}})
	has(a, b, c)
	r, err := s.Review(root, "x")
	require.NoError(t, err)
	require.Equal(t, ReviewRecord{Path: "x", State: []byte("2")}, r)
	must(t, s, PutReview{Path: "x", Session: "s9", State: []byte("3"), Blobs: [][]byte{a}})
	rs, err = s.Reviews(root)
	require.NoError(t, err)
	require.Equal(t, []ReviewRecord{{Path: "x", Session: "s9", State: []byte("3")}, {Path: "x", State: []byte("2")}, {Path: "y", State: []byte{}}}, rs)
	must(t, s, DropReview{Path: "y"}, DropReview{Path: "never"}, DropReview{Path: "x", Session: "s9"}, DropReview{Path: "x", Session: "s8"})
	has(a)
	require.NoError(t, submit(s, "/other", PutReview{Path: "x", Blobs: [][]byte{a}}))
	must(t, s, DropReview{Path: "x"})
	has(a)
	require.NoError(t, submit(s, "/other", DropReview{Path: "x"}))
	has()
}

func TestIntentsHoldTheirContents(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	before, after := []byte("one\n"), []byte("two\n")
	must(t, s, DropIntent{1}, PutReview{Path: "x", Blobs: [][]byte{before}})
	must(t, s, PutIntent{N: 2, Data: []byte("second")}, PutIntent{N: 1, Data: []byte("first"), Blobs: [][]byte{before, after}})
	intents, err := s.Intents("/other")
	require.NoError(t, err)
	require.Empty(t, intents)
	require.NoError(t, s.Close())

	s, _ = openAt(t, path)
	intents, err = s.Intents(root)
	require.NoError(t, err)
	require.Equal(t, []Numbered{{1, []byte("first")}, {2, []byte("second")}}, intents)
	require.NoError(t, second(s.Blob(BlobID(after))))
	// When an intent is done, its content belongs to the review.
	must(t, s, PutReview{Path: "x", Blobs: [][]byte{after}}, DropIntent{1})
	require.ErrorIs(t, second(s.Blob(BlobID(before))), ErrNotFound)
	require.NoError(t, second(s.Blob(BlobID(after))))
	must(t, s, DropReview{Path: "x"}, DropIntent{1}, DropIntent{2})
	require.ErrorIs(t, second(s.Blob(BlobID(after))), ErrNotFound)
	intents, err = s.Intents(root)
	require.NoError(t, err)
	require.Empty(t, intents)
}

func TestOverwritingLeaksNothing(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnRunning, 2))...)
	size := func(n int) int64 {
		for i := range n {
			content := []byte(strings.Repeat(string(rune('a'+i%26)), 20000))
			content = append(content, byte(i), byte(i>>8))
			must(t, s, PutReview{Path: "x", State: []byte("s"), Blobs: [][]byte{content}}, Put{Object: item("t1", "s1", 0, ItemRunning, uint64(10+i)), Detail: content[1:]})
			if i > 0 {
				require.ErrorIs(t, second(s.Blob(BlobID(nil))), ErrNotFound)
			}
		}
		return fileSize(t, s.Path())
	}
	before := size(20)
	require.Equal(t, before, size(300))
}
