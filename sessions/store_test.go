package sessions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

const root = "/home/ana/shop"

func dbPath(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "store.db") }

func openAt(t testing.TB, path string) (*Store, Report) {
	t.Helper()
	s, r, err := Open(path, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, r
}

func openNew(t testing.TB) *Store {
	s, _ := openAt(t, dbPath(t))
	return s
}

// submit stores ops and waits until they are on disk.
func submit(s *Store, root string, ops ...Op) error {
	done := make(chan error, 1)
	s.Submit(root, ops, func(err error) { done <- err })
	return <-done
}

func must(t testing.TB, s *Store, ops ...Op) {
	t.Helper()
	require.NoError(t, submit(s, root, ops...))
}

var noon = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

func at(minute int) Time { return Time{noon.Add(time.Duration(minute) * time.Minute)} }

func session(id string, seq uint64) *Session {
	return &Session{ID: id, Workspace: root, Title: "Fix " + id, Mode: ModeAgent, Isolation: "none", State: SessionIdle, CreatedAt: at(0), UpdatedAt: at(int(seq)), Seq: seq}
}

func turn(id, session string, st TurnStatus, seq uint64) *Turn {
	return &Turn{ID: id, SessionID: session, Workspace: root, Prompt: "do " + id, Mode: ModeAgent, Status: st, CreatedAt: at(1), Seq: seq}
}

func item(turn, session string, index int, st ItemStatus, seq uint64) *Item {
	return &Item{ID: ItemID(turn, index), TurnID: turn, SessionID: session, Workspace: root, Index: index, Kind: ItemAssistant, Status: st, StartedAt: at(2), Seq: seq}
}

func approval(turn, session, tag string, st ApprovalStatus, seq uint64) *Approval {
	return &Approval{
		ID: ApprovalID(tag, turn), Workspace: root, SessionID: session, TurnID: turn, Kind: ApprovalPermission, Title: "run it", Command: "make",
		Options: []ApprovalOption{{ID: "y", Label: "Yes", Kind: AllowOnce}}, Status: st, CreatedAt: at(2), Seq: seq,
	}
}

func diff(path string, state string, seq uint64) *Diff {
	return &Diff{Workspace: root, Path: path, URI: "file://" + root + "/" + path, Kind: DiffModified, State: state, Baseline: "known", Hunks: []Hunk{}, Turns: []string{}, Seq: seq}
}

func puts(objects ...Object) []Op {
	var ops []Op
	for _, o := range objects {
		ops = append(ops, Put{Object: o})
	}
	return ops
}

// index shows the changes of a workspace as "seq kind id", an X marking a tombstone.
func index(t testing.TB, s *Store, after uint64) []string {
	t.Helper()
	var out []string
	for {
		es, err := s.Changes(root, after, 3)
		require.NoError(t, err)
		if len(es) == 0 {
			return out
		}
		for _, e := range es {
			line := fmt.Sprintf("%d %s %s", e.Seq, e.Kind, e.ID)
			if e.Removed {
				line += " X"
				require.Nil(t, e.JSON)
			} else {
				var o struct{ Seq uint64 }
				require.NoError(t, json.Unmarshal(e.JSON, &o))
				require.Equal(t, e.Seq, o.Seq)
			}
			out = append(out, line)
			after = e.Seq
		}
	}
}

func TestChangesHoldEachObjectOnceInOrder(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnRunning, 2), item("t1", "s1", 0, ItemRunning, 3))...)
	must(t, s, puts(diff("a.go", "pending", 4), session("s2", 5))...)
	must(t, s, puts(item("t1", "s1", 0, ItemCompleted, 6), session("s1", 7), turn("t1", "s1", TurnCompleted, 8))...)
	want := []string{"4 diff a.go", "5 session s2", "6 item t1:0", "7 session s1", "8 turn t1"}
	require.Equal(t, want, index(t, s, 0))
	require.Equal(t, want[3:], index(t, s, 6))
	require.Empty(t, index(t, s, 8))
	require.Empty(t, index(t, s, ^uint64(0)))
	epoch := s.Epoch()
	require.NoError(t, s.Close())

	s, r := openAt(t, path)
	require.Equal(t, Report{}, r)
	require.Equal(t, want, index(t, s, 0))
	require.Equal(t, epoch, s.Epoch())
	must(t, s, puts(diff("a.go", "clean", 9))...)
	require.Equal(t, append(want[1:], "9 diff a.go"), index(t, s, 0))
	w, err := s.Workspace(root)
	require.NoError(t, err)
	require.Equal(t, WorkspaceRecord{Root: root, Seq: 9, Sessions: 2}, w)
}

func TestChangesAreBoundedByBytes(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	var ops []Op
	for i := range 10 {
		sess := session(fmt.Sprint("s", i), uint64(i+1))
		sess.Title = string(make([]byte, 100<<10)) // 600 KiB in JSON
		ops = append(ops, Put{Object: sess})
	}
	must(t, s, ops...)
	es, err := s.Changes(root, 0, 0)
	require.NoError(t, err)
	require.Len(t, es, 2)
	require.Len(t, index(t, s, 0), 10)
}

func TestAnObjectIsReturnedAsItWasStored(t *testing.T) {
	s := openNew(t)
	raw := []byte(`{"id":"s1","workspace":"/home/ana/shop","mode":"plan","colour":"red","updatedAt":"2031-05-04T12:00:00.000Z","seq":1}`)
	sess := session("s1", 1)
	must(t, s, Put{Object: sess, JSON: raw})
	es, err := s.Changes(root, 0, 10)
	require.NoError(t, err)
	require.Equal(t, []Entry{{Kind: KindSession, ID: "s1", Seq: 1, JSON: raw}}, es)
	got, err := s.Session("s1")
	require.NoError(t, err)
	require.Equal(t, ModePlan, got.Mode)
}

func TestUnknownThingsAreNotFound(t *testing.T) {
	s := openNew(t)
	must(t, s, puts(session("s1", 1))...)
	for name, err := range map[string]error{
		"session": second(s.Session("no")), "turn": second(s.Turn("no")), "item": second(s.Item("t:0")),
		"item id": second(s.Item("no")), "item index": second(s.Item("t:007")), "detail": second(s.ItemDetail("t:0")),
		"diff": second(s.Diff(root, "no")), "diff elsewhere": second(s.Diff("/no", "no")),
		"review": second(s.Review(root, "no")), "blob": second(s.Blob(BlobID(nil))), "blob id": second(s.Blob("xyz")),
		"last turn": second(s.LastTurn("s1")), "last turn of none": second(s.LastTurn("no")),
		"items": second(s.TurnItems("no")), "entry": second(s.Entry(root, KindTurn, "no")),
		"entry of a strange kind": second(s.Entry(root, "cow", "no")),
	} {
		require.ErrorIs(t, err, ErrNotFound, name)
	}
	_, _, _, err := s.Transcript("no", "", 1)
	require.ErrorIs(t, err, ErrNotFound)
	_, _, _, err = s.Transcript("s1", "t:0", 1)
	require.ErrorIs(t, err, ErrNotFound)
	w, err := s.Workspace("/no")
	require.NoError(t, err)
	require.Equal(t, WorkspaceRecord{Root: "/no"}, w)
}

func second[T any](_ T, err error) error { return err }

func TestSubmitIsAllOrNothingAndSparesTheOthers(t *testing.T) {
	s := openNew(t)
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnCompleted, 2), session("s9", 3))...)
	bad := map[string][]Op{
		"no seq":            puts(session("s2", 0)),
		"cannot be encoded": puts(session("s2", 50), &Item{ID: "t1:0", TurnID: "t1", Tool: &Tool{Args: json.RawMessage("{")}, Seq: 51}),
		"misnamed item":     puts(&Item{ID: "t1:1", TurnID: "t1", Index: 2, Seq: 51}),
		"another's turn":    puts(session("s2", 50), turn("t1", "s9", TurnRunning, 51)),
		"key too long":      puts(session("s2", 50), session(string(make([]byte, 40000)), 51)),
		"nil object":        {Put{}},
		"bad offset":        {AppendText{ItemID: "t1:0", Offset: -1}},
		"bad item id":       {AppendText{ItemID: "t1"}},
	}
	type answer struct {
		name string
		err  error
	}
	answers := make(chan answer, 100)
	var order []string
	seq := uint64(10)
	for name, ops := range bad {
		s.Submit(root, ops, func(err error) { answers <- answer{name, err} })
		seq++
		s.Submit(root, puts(diff(name, "pending", seq)), func(err error) { answers <- answer{"", err} })
		order = append(order, name, "")
	}
	for _, name := range order {
		a := <-answers
		require.Equal(t, name, a.name)
		if name == "" {
			require.NoError(t, a.err)
		} else {
			require.Error(t, a.err, name)
		}
	}
	require.ErrorIs(t, second(s.Session("s2")), ErrNotFound)
	ds, err := s.PendingDiffs(root)
	require.NoError(t, err)
	require.Len(t, ds, len(bad))
	w, err := s.Workspace(root)
	require.NoError(t, err)
	require.Equal(t, seq, w.Seq)
	require.Eventually(t, func() bool { return s.Backlog() == 0 }, 10*time.Second, time.Millisecond) // the backlog includes the last answer
	require.Error(t, submit(s, "", puts(session("s3", 60))...))
}

func TestClosedStore(t *testing.T) {
	s := openNew(t)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.ErrorIs(t, submit(s, root, SetTrust{true}), ErrClosed)
	_, err := s.Session("s1")
	require.ErrorIs(t, err, ErrClosed)
	s.Submit(root, nil, nil)
}

func TestCloseCommitsWhatWaits(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	var failed []error
	for i := range 200 {
		s.Submit(root, puts(session(fmt.Sprint("s", i), uint64(i+1))), func(err error) { failed = append(failed, err) })
	}
	require.NoError(t, s.Close())
	require.NoError(t, errors.Join(failed...))
	s, _ = openAt(t, path)
	w, err := s.Workspace(root)
	require.NoError(t, err)
	require.Equal(t, 200, w.Sessions)
}

func TestTrustNotesDecisions(t *testing.T) {
	s := openNew(t)
	must(t, s, SetTrust{true}, PutNote{N: 2, Data: []byte("b")}, PutNote{N: 1, Data: []byte("a")}, PutNote{N: 3}, PutDecision{N: 9, Data: []byte("d")})
	require.NoError(t, submit(s, "/other", SetTrust{true}, SetTrust{false}))
	ws, err := s.Workspaces()
	require.NoError(t, err)
	require.Equal(t, []WorkspaceRecord{{Root: root, Trusted: true}, {Root: "/other"}}, ws)
	notes, err := s.Notes(root)
	require.NoError(t, err)
	require.Equal(t, []Numbered{{1, []byte("a")}, {2, []byte("b")}, {3, []byte{}}}, notes)
	must(t, s, DropNote{1}, DropNote{7}, DropDecision{9})
	notes, err = s.Notes(root)
	require.NoError(t, err)
	require.Len(t, notes, 2)
	ds, err := s.Decisions(root)
	require.NoError(t, err)
	require.Empty(t, ds)
}
