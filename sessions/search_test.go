package sessions

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A story is a store with sessions in it, and what Search must find, which is looked up by plain comparisons.
type story struct {
	t     *testing.T
	s     *Store
	path  string
	set   settings
	rnd   *rand.Rand
	seq   map[string]uint64
	n     int
	texts map[string][]told // by id of session
}

// told is a text of an object.
type told struct{ root, session, turn, item, in, text, at string }

var storyWords = []string{"alpha", "alphabet", "beta", "gamma", "delta", "fix", "fixed", "Bug", "bug's", "src/main.go", "x"}

func (st *story) words() string {
	var list []string
	for range st.rnd.Intn(6) + 1 {
		list = append(list, storyWords[st.rnd.Intn(len(storyWords))])
	}
	return strings.Join(list, []string{" ", "\n", ", "}[st.rnd.Intn(3)])
}

func (st *story) opens() {
	s, _, err := open(st.path, Options{}, st.set)
	require.NoError(st.t, err)
	st.s = s
}

func (st *story) put(root string, ops ...Op) {
	done := make(chan error, 1)
	st.s.Submit(root, ops, func(err error) { done <- err })
	require.NoError(st.t, <-done)
}

func (st *story) next(root string) uint64 { st.seq[root]++; return st.seq[root] }

func (st *story) at() Time {
	return Time{time.Date(2026, 1, 1, 0, 0, st.rnd.Intn(2000), 0, time.UTC)}
}

// adds stores a session with turns and items, some of which run.
func (st *story) adds(root string) {
	st.n++
	id := fmt.Sprint("s", st.n)
	said := []told{{root: root, session: id, in: "title", text: st.words()}}
	at := st.at()
	session := &Session{ID: id, Workspace: root, Title: said[0].text, UpdatedAt: at, Seq: st.next(root)}
	said[0].at = fmt.Sprint(at)
	ops := []Op{Put{Object: session}}
	for range st.rnd.Intn(3) {
		st.n++
		turn := &Turn{ID: fmt.Sprint("t", st.n), SessionID: id, Workspace: root, Prompt: st.words(), Status: TurnCompleted, CreatedAt: st.at(), Seq: st.next(root)}
		ops = append(ops, Put{Object: turn})
		said = append(said, told{root, id, turn.ID, "", "prompt", turn.Prompt, fmt.Sprint(turn.CreatedAt)})
		said[0].turn = turn.ID
		for i := range st.rnd.Intn(4) {
			it := &Item{ID: ItemID(turn.ID, i), TurnID: turn.ID, SessionID: id, Workspace: root, Index: i, Status: ItemCompleted, StartedAt: st.at(), Seq: st.next(root)}
			tell := func(in, text string) {
				said = append(said, told{root, id, turn.ID, it.ID, in, text, fmt.Sprint(it.StartedAt)})
			}
			switch it.Kind = ItemAssistant; st.rnd.Intn(4) {
			case 0:
				it.Kind, it.Tool = ItemTool, &Tool{Command: st.words(), Output: "alpha beta gamma fix", Paths: []string{"src/main.go", st.words()}}
				tell("command", it.Tool.Command)
				tell("path", it.Tool.Paths[0])
				tell("path", it.Tool.Paths[1])
			case 1:
				it.Text, it.Status = st.words(), ItemRunning
			default:
				it.Text = st.words()
				tell("text", it.Text)
			}
			ops = append(ops, Put{Object: it})
		}
	}
	st.texts[id] = said
	st.put(root, ops...)
}

// found is what a plain scan of all texts finds, the newest first: one place of each object.
func (st *story) found(root string, parts []*regexp.Regexp) (list []string) {
	for _, said := range st.texts {
		last := ""
		for _, text := range said {
			key := text.turn + text.item + map[bool]string{true: "title"}[text.in == "title"]
			if (root == "" || root == text.root) && key != last && !slices.ContainsFunc(parts, func(p *regexp.Regexp) bool { return !p.MatchString(text.text) }) {
				list, last = append(list, fmt.Sprint(text.at, text.root, text.session, text.turn, text.item, text.in)), key
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestSearchIsLikeAScan compares the search with a plain scan after random stores, renamings and deletions, with and without
// an index, over restarts and page by page.
func TestSearchIsLikeAScan(t *testing.T) {
	for seed := range int64(4) {
		st := &story{t: t, path: t.TempDir() + "/db", set: defaults(), rnd: rand.New(rand.NewSource(seed)), seq: map[string]uint64{}, texts: map[string][]told{}}
		st.set.small, st.set.large, st.set.indexOld = 2<<10, 16<<10, 0
		if seed == 0 {
			st.set.small, st.set.large = 1<<30, 1<<30 // no index at all
		}
		st.opens()
		roots := []string{"/w", "/v"}
		for step := range 150 {
			root := roots[st.rnd.Intn(2)]
			switch n := st.rnd.Intn(20); {
			case n == 0:
				require.NoError(t, st.s.Close())
				st.opens()
			case n < 3 && len(st.texts) > 0:
				ids := make([]string, 0, len(st.texts))
				for id := range st.texts {
					ids = append(ids, id)
				}
				slices.Sort(ids)
				id := ids[st.rnd.Intn(len(ids))]
				of := &st.texts[id][0]
				if n == 1 {
					st.put(of.root, RemoveSession{ID: id, Seq: st.next(of.root)})
					delete(st.texts, id)
					break
				}
				at := st.at()
				of.text, of.at = st.words(), fmt.Sprint(at)
				st.put(of.root, Put{Object: &Session{ID: id, Workspace: of.root, Title: of.text, UpdatedAt: at, Seq: st.next(of.root)}})
			default:
				st.adds(root)
			}
			if step%5 == 0 {
				st.compares()
			}
		}
		st.settles()
		st.compares()
		require.NoError(t, st.s.Close())
	}
}

// settles waits until the index has all that it will have.
func (st *story) settles() {
	require.Eventually(st.t, func() bool { return !st.s.indexer.Waits() }, time.Minute, time.Millisecond)
}

func (st *story) compares() {
	var query []string
	var parts []*regexp.Regexp
	for range st.rnd.Intn(3) + 1 {
		w := storyWords[st.rnd.Intn(len(storyWords))]
		switch st.rnd.Intn(3) {
		case 0:
			w = w[:(len(w)+1)/2]
			query, parts = append(query, w), append(parts, regexp.MustCompile(`(?i)\b`+w))
		case 1:
			query, parts = append(query, strings.ToUpper(w)), append(parts, regexp.MustCompile(`(?i)\b`+w))
		default:
			other := storyWords[st.rnd.Intn(len(storyWords))]
			query, parts = append(query, `"`+w+" "+other+`"`), append(parts, regexp.MustCompile(`(?i)\b`+w+`\s+`+other+`\b`))
		}
	}
	root := []string{"", "/w", "/v", "/unknown"}[st.rnd.Intn(4)]
	words, limit := strings.Join(query, " "), st.rnd.Intn(7)+1
	var got, ats []string
	for cursor := ""; ; {
		page, next, err := st.s.Search(context.Background(), root, words, cursor, limit)
		require.NoError(st.t, err)
		require.LessOrEqual(st.t, len(page), limit)
		for _, m := range page {
			got = append(got, fmt.Sprint(m.At, m.Workspace, m.SessionID, m.TurnID, m.ItemID, m.In))
			ats = append(ats, fmt.Sprint(m.At))
			require.Equal(st.t, st.texts[m.SessionID][0].text, m.Title)
			require.NotEmpty(st.t, m.Ranges)
		}
		if cursor = next; next == "" {
			break
		}
		require.Len(st.t, page, limit)
	}
	require.True(st.t, slices.IsSortedFunc(ats, func(a, b string) int { return strings.Compare(b, a) }), ats)
	slices.Sort(got)
	require.Equal(st.t, st.found(root, parts), got, "%s in %q", words, root)
}

// TestACopyOfAForkIsNotFoundBesideIt: what a fork has copied is found once, in the session that said it first, and in the fork once that
// session is gone. A page that has only copies is no end.
func TestACopyOfAForkIsNotFoundBesideIt(t *testing.T) {
	st := &story{t: t, path: t.TempDir() + "/db", set: defaults(), seq: map[string]uint64{}}
	st.opens()
	defer func() { require.NoError(t, st.s.Close()) }()
	at := func(n int) Time { return Time{time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC)} }
	puts := func(id string, created int, from *Fork, turns ...*Turn) {
		ops := []Op{Put{Object: &Session{ID: id, Workspace: "/w", Title: id, ForkedFrom: from, CreatedAt: at(created), UpdatedAt: at(created), Seq: st.next("/w")}}}
		for _, turn := range turns {
			turn.SessionID, turn.Workspace, turn.Status, turn.Seq = id, "/w", TurnCompleted, st.next("/w")
			ops = append(ops, Put{Object: turn}, Put{Object: &Item{
				ID: ItemID(turn.ID, 0), TurnID: turn.ID, SessionID: id, Workspace: "/w", Kind: ItemAssistant, Status: ItemCompleted, Text: "needle " + turn.ID,
				StartedAt: turn.CreatedAt, Seq: st.next("/w"),
			}})
		}
		st.put("/w", ops...)
	}
	turn := func(id, prompt string, minute int) *Turn { return &Turn{ID: id, Prompt: prompt, CreatedAt: at(minute)} }
	puts("first", 0, nil, turn("a", "needle one", 1), turn("b", "two", 2))
	puts("fork", 10, &Fork{"first", "b"}, turn("a2", "needle one", 1), turn("b2", "two", 2), turn("c", "three", 11))
	puts("forked again", 20, &Fork{"fork", "c"}, turn("a3", "needle one", 1), turn("b3", "two", 2), turn("c3", "three", 11))
	finds := func(limit int) (found []string) {
		for cursor, more := "", true; more; more = cursor != "" {
			page, next, err := st.s.Search(t.Context(), "/w", "needle", cursor, limit)
			require.NoError(t, err)
			require.False(t, len(page) == 0 && next != "")
			for _, m := range page {
				found = append(found, m.TurnID+" "+m.In)
			}
			cursor = next
		}
		slices.Sort(found)
		return found
	}
	for limit := 1; limit < 12; limit++ {
		require.Equal(t, []string{"a prompt", "a text", "b text", "c text"}, finds(limit), "%d a page", limit)
	}
	st.put("/w", RemoveSession{ID: "first", Seq: st.next("/w")})
	require.Equal(t, []string{"a2 prompt", "a2 text", "b2 text", "c text"}, finds(3))
}

// TestSearchRefuses: wrong queries and cursors, and a caller that no longer waits.
func TestSearchRefuses(t *testing.T) {
	s, _, err := Open(t.TempDir()+"/db", Options{})
	require.NoError(t, err)
	defer s.Close()
	for _, query := range []string{"", " ", `""`, "--"} {
		_, _, err := s.Search(t.Context(), "", query, "", 0)
		require.ErrorIs(t, err, ErrNoWord, query)
	}
	for _, cursor := range []string{"x", "1.2", "1.2.!", "g.2.eA", "1.2.eA.3"} {
		_, _, err := s.Search(t.Context(), "", "x", cursor, 0)
		require.ErrorIs(t, err, ErrBadCursor, cursor)
	}
	found, next, err := s.Search(t.Context(), "/nowhere", "x", "", 0)
	require.NoError(t, err)
	require.Empty(t, found)
	require.NotNil(t, found)
	require.Empty(t, next)
	done := make(chan error, 1)
	s.Submit("/w", []Op{Put{Object: &Session{ID: "s", Workspace: "/w", Title: "x", Seq: 1}}}, func(err error) { done <- err })
	require.NoError(t, <-done)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = s.Search(ctx, "", "x", "", 0)
	require.True(t, errors.Is(err, context.Canceled))
}

// TestRemovedTextsLeaveTheIndex: the words of a deleted session are in no segment any more.
func TestRemovedTextsLeaveTheIndex(t *testing.T) {
	st := &story{t: t, path: t.TempDir() + "/db", set: defaults(), seq: map[string]uint64{}}
	st.set.small, st.set.large = 1<<10, 8<<10
	st.opens()
	for i := range 60 {
		st.put("/w", Put{Object: &Session{ID: fmt.Sprint("s", i), Workspace: "/w", Title: fmt.Sprintf("word secret%02d", i), Seq: st.next("/w")}})
	}
	has := func(part string) bool {
		found := false
		require.NoError(t, st.s.scan(inSpace("/w", bucketIndex), []byte("t"), asStored, func(k, v []byte) error {
			found = found || strings.Contains(string(k)+string(v), part)
			return nil
		}))
		return found
	}
	require.Eventually(t, func() bool { return has("secret") }, time.Minute, time.Millisecond)
	var all []Op
	for i := range 60 {
		all = append(all, RemoveSession{ID: fmt.Sprint("s", i), Seq: st.next("/w")})
	}
	st.put("/w", all...)
	require.Eventually(t, func() bool { return !has("") }, time.Minute, time.Millisecond)
	found, _, err := st.s.Search(t.Context(), "", "secret", "", 0)
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoError(t, st.s.Close())
}
