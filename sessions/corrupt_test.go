package sessions_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

// fillStore makes a closed database with 40 sessions, each with a turn with items, and records of all other kinds.
func fillStore(t testing.TB, path string) {
	t.Helper()
	s, _ := openAt(t, path)
	must(t, s, SetTrust{true})
	seq := uint64(0)
	next := func() uint64 { seq++; return seq }
	for i := range 40 {
		id, tid := fmt.Sprintf("s%02d", i), fmt.Sprintf("t%02d", i)
		sess := session(id, next())
		sess.State = SessionRunning
		ops := puts(sess, turn("first-"+tid, id, TurnCompleted, next()), turn(tid, id, TurnRunning, next()))
		for j := range 20 {
			it := item(tid, id, j, ItemCompleted, next())
			it.Text = fmt.Sprintf("text %d of %s. %0200d", j, tid, j)
			ops = append(ops, Put{Object: it, Detail: fmt.Appendf(nil, `{"d":"%s %05000d"}`, it.ID, j)})
		}
		ops = append(ops, puts(item(tid, id, 20, ItemRunning, next()))...)
		ops = append(ops, AppendText{ItemID: tid + ":20", Text: "half a sen"})
		ops = append(ops, puts(approval(tid, id, "a", ApprovalPending, next()))...)
		ops = append(ops, PutRule{N: uint64(i), Data: []byte("rule")}, PutAnswer{fmt.Sprint("commit", i), []byte("answer")})
		path := fmt.Sprintf("src/f%02d.go", i)
		ops = append(ops, puts(diff(path, "pending", next()))...)
		ops = append(ops, PutReview{Path: path, State: []byte(path), Blobs: [][]byte{fmt.Appendf(nil, "content %d", i)}}, PutNote{N: uint64(i), Data: []byte("note")},
			PutIntent{N: uint64(i), Data: []byte(path), Blobs: [][]byte{fmt.Appendf(nil, "intended %d", i)}})
		must(t, s, ops...)
	}
	require.NoError(t, s.Close())
}

const pageBytes = 4096

// damagePages overwrites with noise the pages that hold a text, except the header pages.
func damagePages(t testing.TB, path, text string) (damaged int) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	r := rand.New(rand.NewPCG(7, 7))
	for at := 2 * pageBytes; at+pageBytes <= len(b); at += pageBytes {
		if bytes.Contains(b[at:at+pageBytes], []byte(text)) {
			for i := range pageBytes {
				b[at+i] = byte(r.Uint32())
			}
			_, err := f.WriteAt(b[at:at+pageBytes], int64(at)) // an open store may write other pages meanwhile
			require.NoError(t, err)
			damaged++
		}
	}
	require.NotZero(t, damaged)
	return damaged
}

func edit(t testing.TB, path string, f func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, f(b), 0o600))
}

func TestACorruptFileIsMovedAsideAndReadOut(t *testing.T) {
	t.Parallel()
	whole := dbPath(t)
	fillStore(t, whole)
	original, err := os.ReadFile(whole)
	require.NoError(t, err)
	used := len(bytes.TrimRight(original, "\x00"))
	for name, c := range map[string]struct {
		damage   func(t *testing.T, path string)
		salvaged [2]int // at least, at most
		repaired bool
	}{
		"one session": {func(t *testing.T, path string) { damagePages(t, path, "text 3 of t05") }, [2]int{39, 40}, true},
		"truncated": {func(t *testing.T, path string) {
			require.NoError(t, os.Truncate(path, int64(used)/2/pageBytes*pageBytes))
		}, [2]int{0, 40}, true},
		"truncated inside a page": {func(t *testing.T, path string) {
			require.NoError(t, os.Truncate(path, int64(used)-6000))
		}, [2]int{0, 40}, true},
		"cut to its headers": {func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 2*pageBytes)) }, [2]int{0, 0}, true},
		"cut to a header":    {func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, pageBytes)) }, [2]int{0, 0}, true},
		"text":               {func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("hello\n"), 0o600)) }, [2]int{0, 0}, true},
		"zeroes":             {func(t *testing.T, path string) { edit(t, path, func(b []byte) []byte { clear(b); return b }) }, [2]int{0, 0}, true},
		"both headers": {func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { clear(b[:2*pageBytes]); return b })
		}, [2]int{0, 0}, true},
		"first header": {func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { copy(b, bytes.Repeat([]byte("xyz"), pageBytes/3)); return b })
		}, [2]int{0, 0}, false}, // bbolt has a second header
		"nothing":    {func(t *testing.T, path string) {}, [2]int{0, 0}, false},
		"empty file": {func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) }, [2]int{0, 0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := dbPath(t)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, original, 0o600))
			c.damage(t, path)
			bad, err := os.ReadFile(path)
			require.NoError(t, err)
			s, r := openAt(t, path)
			if !c.repaired {
				require.Empty(t, r.MovedAside)
				requireAlone(t, path)
				return
			}
			require.Contains(t, r.MovedAside, path+".corrupt-")
			moved, err := os.ReadFile(r.MovedAside)
			require.NoError(t, err)
			require.True(t, bytes.Equal(bad, moved))
			require.GreaterOrEqual(t, r.Salvaged, c.salvaged[0])
			require.LessOrEqual(t, r.Salvaged, c.salvaged[1])
			requireSound(t, s, r)
			must(t, s, puts(session("new", 5000))...)
			require.NoError(t, s.Close())
			_, r = openAt(t, path)
			require.Equal(t, Report{}, r)
		})
	}
}

// TestARepairForgetsNoForgottenWorkspace: a workspace that was taken from the list does not come back to it.
func TestARepairForgetsNoForgottenWorkspace(t *testing.T) {
	t.Parallel()
	path := dbPath(t)
	fillStore(t, path)
	s, _ := openAt(t, path)
	require.NoError(t, submit(s, "/forgotten", SetTrust{true}, Forget{}))
	require.NoError(t, s.Close())
	damagePages(t, path, "text 3 of t05")
	s, r := openAt(t, path)
	require.NotEmpty(t, r.MovedAside)
	w, err := s.Workspace("/forgotten")
	require.NoError(t, err)
	require.True(t, w.Forgotten)
	w, err = s.Workspace(root)
	require.NoError(t, err)
	require.True(t, w.Trusted)
}

// requireSound requires that every listed object of a repaired store can be read, and that nothing runs in it.
func requireSound(t testing.TB, s *Store, r Report) {
	t.Helper()
	w, err := s.Workspace(root)
	require.NoError(t, err)
	require.Equal(t, r.Salvaged, w.Sessions)
	list, _, err := s.Sessions("", "", 100)
	require.NoError(t, err)
	require.Len(t, list, r.Salvaged)
	for _, sess := range list {
		require.Equal(t, SessionIdle, sess.State)
		turns, items, _, err := s.Transcript(sess.ID, "", 100)
		require.NoError(t, err)
		for _, x := range turns {
			require.True(t, x.Status.Final())
		}
		for _, x := range items {
			require.NotEqual(t, ItemRunning, x.Status)
			if x.Index == 20 {
				require.Contains(t, []string{"half a sen", ""}, x.Text)
			} else if detail, err := s.ItemDetail(x.ID); err == nil {
				require.Contains(t, string(detail), `"`+x.ID+" ")
			}
		}
	}
	rs, err := s.Reviews(root)
	require.NoError(t, err)
	for _, x := range rs {
		var n int
		_, err := fmt.Sscanf(x.Path, "src/f%d.go", &n)
		require.NoError(t, err)
		require.NoError(t, second(s.Blob(BlobID(fmt.Appendf(nil, "content %d", n)))))
	}
	intents, err := s.Intents(root)
	require.NoError(t, err)
	for _, x := range intents {
		require.Equal(t, fmt.Sprintf("src/f%02d.go", x.N), string(x.Data))
		require.NoError(t, second(s.Blob(BlobID(fmt.Appendf(nil, "intended %d", x.N)))))
	}
	_ = index(t, s, 0)
}

func TestRepairLosesOnlyWhatIsDamaged(t *testing.T) {
	t.Parallel()
	path := dbPath(t)
	fillStore(t, path)
	s, r := openAt(t, path) // checks fillStore, and ends the turns
	require.Empty(t, r.MovedAside)
	require.Len(t, r.Interrupted, 40)
	before := len(index(t, s, 0))
	require.NoError(t, s.Close())
	damagePages(t, path, "text 3 of t05")

	s, r = openAt(t, path)
	require.GreaterOrEqual(t, r.Salvaged, 39)
	require.Empty(t, r.Interrupted)
	require.GreaterOrEqual(t, len(index(t, s, 0)), before-40)
	for i := range 40 {
		if i == 5 {
			continue
		}
		id, tid := fmt.Sprintf("s%02d", i), fmt.Sprintf("t%02d", i)
		turns, items, more, err := s.Transcript(id, "", 0)
		require.NoError(t, err)
		require.Len(t, turns, 2)
		require.Len(t, items, 21)
		require.False(t, more)
		it, err := s.Item(tid + ":20")
		require.NoError(t, err)
		require.Equal(t, "half a sen", it.Text)
		detail, err := s.ItemDetail(tid + ":7")
		require.NoError(t, err)
		require.Contains(t, string(detail), tid+":7 ")
		asked, err := s.Approval(ApprovalID("a", tid))
		require.NoError(t, err)
		require.Equal(t, ApprovalWithdrawn, asked.Status)
	}
	ds, err := s.PendingDiffs(root)
	require.NoError(t, err)
	require.Len(t, ds, 40)
	notes, err := s.Notes(root)
	require.NoError(t, err)
	require.Len(t, notes, 40, "notes")
	rules, err := s.Rules(root)
	require.NoError(t, err)
	require.Len(t, rules, 40, "rules")
	answers := 0
	require.NoError(t, s.Answers(root, func(string, []byte) { answers++ }))
	require.Equal(t, 40, answers, "answers")
	intents, err := s.Intents(root)
	require.NoError(t, err)
	require.Len(t, intents, 40, "intents")
	w, err := s.Workspace(root)
	require.NoError(t, err)
	require.True(t, w.Trusted)
	requireSound(t, s, r)
}

// TestAnyDamageIsSurvived damages random pages in several ways: Open must neither crash nor lose the file.
func TestAnyDamageIsSurvived(t *testing.T) {
	t.Parallel()
	whole := dbPath(t)
	fillStore(t, whole)
	original, err := os.ReadFile(whole)
	require.NoError(t, err)
	for seed := range 10 * *Damages {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		b := bytes.Clone(original)
		for range 1 + r.IntN(4) {
			page := 2 + r.IntN(len(b)/pageBytes-2)
			at := page * pageBytes
			switch r.IntN(4) {
			case 0: // another page's content
				from := r.IntN(len(b)/pageBytes) * pageBytes
				copy(b[at:at+pageBytes], original[from:])
			case 1:
				clear(b[at : at+pageBytes])
			case 2: // a number in a header or an element
				b[at+r.IntN(200)] ^= byte(1 + r.IntN(255))
			case 3:
				for i := range 512 {
					b[at+i] = byte(r.Uint32())
				}
			}
		}
		path := dbPath(t)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, b, 0o600))
		s, report, err := Open(path, Options{})
		require.NoError(t, err, "seed %d", seed)
		if report.MovedAside != "" {
			requireSound(t, s, report)
		}
		require.NoError(t, s.Close())
	}
}
