package sessions_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

func TestOpenEndsWhatWasLeftOpen(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	busy := session("s1", 1)
	busy.State = SessionRunning
	must(t, s, puts(busy, turn("t0", "s1", TurnCompleted, 2), turn("t1", "s1", TurnRunning, 3), turn("t2", "s1", TurnQueued, 4), session("s2", 5))...)
	tool := item("t1", "s1", 1, ItemRunning, 7)
	tool.Kind, tool.Tool = ItemTool, &Tool{CallID: "c1", Name: "shell", Paths: []string{}}
	must(t, s, append(puts(item("t1", "s1", 0, ItemCompleted, 6)), Put{Object: tool, Detail: []byte(`{"callId":"c1"}`)}, Put{Object: item("t1", "s1", 2, ItemRunning, 8)},
		AppendText{ItemID: "t1:2", Text: "Almost "}, AppendText{ItemID: "t1:2", Offset: 7, Text: "done"})...)
	must(t, s, puts(approval("t1", "s1", "b", ApprovalAnswered, 9), approval("t1", "s1", "c", ApprovalPending, 10), approval("t1", "s1", "a", ApprovalPending, 11))...)
	other := turn("o1", "so", TurnRunning, 2)
	require.NoError(t, submit(s, "/a", puts(session("so", 1), other)...))
	require.NoError(t, s.Close())

	// The next daemon starts long after that.
	require.NoError(t, os.Chtimes(path, at(40).Time, at(40).Time))
	s, r := openAt(t, path)
	require.Len(t, r.Interrupted, 3)
	for i, want := range []string{"t1", "t2", "o1"} {
		got := r.Interrupted[i]
		require.Equal(t, want, got.ID)
		require.Equal(t, TurnInterrupted, got.Status)
		require.Equal(t, at(40), *got.EndedAt, "when the daemon last wrote")
		stored, err := s.Turn(want)
		require.NoError(t, err)
		require.Equal(t, got.Seq, stored.Seq)
		require.Equal(t, TurnInterrupted, stored.Status)
	}
	require.Equal(t, []string{"2 turn t0", "5 session s2", "6 item t1:0", "9 approval b-t1", "12 item t1:1", "13 item t1:2", "14 approval c-t1", "15 approval a-t1", "16 session s1", "17 turn t1", "18 turn t2"}, index(t, s, 0))
	got, err := s.Session("s1")
	require.NoError(t, err)
	require.Equal(t, SessionIdle, got.State)
	require.NotEqual(t, at(1), got.UpdatedAt)
	for id, want := range map[string]string{"t1:1": "", "t1:2": "Almost done"} {
		it, err := s.Item(id)
		require.NoError(t, err)
		require.Equal(t, ItemCancelled, it.Status)
		require.Equal(t, want, it.Text)
		require.Equal(t, at(40), *it.EndedAt)
	}
	for id, want := range map[string]ApprovalStatus{"a-t1": ApprovalWithdrawn, "b-t1": ApprovalAnswered, "c-t1": ApprovalWithdrawn} {
		a, err := s.Approval(id)
		require.NoError(t, err)
		require.Equal(t, want, a.Status, "what a daemon leaves pending is nobody's to answer")
	}
	waited, err := s.Turn("t1")
	require.NoError(t, err)
	require.False(t, waited.Waiting)
	detail, err := s.ItemDetail("t1:1")
	require.NoError(t, err)
	require.Equal(t, `{"callId":"c1"}`, string(detail))
	require.NoError(t, s.Close())

	s, r = openAt(t, path)
	require.Equal(t, Report{}, r)
	w, err := s.Workspace(root)
	require.NoError(t, err)
	require.EqualValues(t, 18, w.Seq)
}

func TestOpenTellsOfWhatWasLeftOpen(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	busy := session("s1", 1)
	busy.State = SessionRunning
	must(t, s, puts(busy, turn("t1", "s1", TurnRunning, 2))...)
	tool := item("t1", "s1", 0, ItemRunning, 3)
	tool.Kind, tool.Tool = ItemTool, &Tool{CallID: "c1", Name: "shell", Paths: []string{}}
	must(t, s, puts(tool, item("t1", "s1", 1, ItemCompleted, 4), item("t1", "s1", 2, ItemRunning, 5))...)
	require.NoError(t, s.Close())

	s, _, err := Open(path, Options{LeftOpen: func(it *Item) string {
		if it.Tool == nil {
			return ""
		}
		return it.Tool.Name + " ran"
	}})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, []string{"4 item t1:1", "6 item t1:0", "7 item t1:2", "8 item t1:3", "9 session s1", "10 turn t1"}, index(t, s, 0))
	notice, err := s.Item("t1:3")
	require.NoError(t, err)
	require.Equal(t, ItemNotice, notice.Kind)
	require.Equal(t, ItemCompleted, notice.Status)
	require.Equal(t, 3, notice.Index)
	require.Equal(t, "shell ran", notice.Text)
}

// TestOpenAddsWhatWasAsked: a permission that was pending becomes a call that did not run, unless its call has an item.
func TestOpenAddsWhatWasAsked(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	busy := session("s1", 1)
	busy.State = SessionRunning
	must(t, s, puts(busy, turn("t1", "s1", TurnRunning, 2), item("t1", "s1", 0, ItemCompleted, 3))...)
	ask := func(tag, item string, kind ApprovalKind, seq uint64) *Approval {
		return &Approval{ID: ApprovalID(tag, "t1"), Workspace: busy.Workspace, SessionID: "s1", TurnID: "t1", Kind: kind, CallID: tag, ItemID: item,
			Title: "run " + tag, Options: []ApprovalOption{}, Status: ApprovalPending, CreatedAt: Now(), Seq: seq}
	}
	must(t, s, puts(ask("b", "", ApprovalPermission, 4), ask("a", "", ApprovalPermission, 5), ask("c", "t1:0", ApprovalPermission, 6), ask("d", "", ApprovalQuestion, 7))...)
	require.NoError(t, s.Close())

	s, _, err := Open(path, Options{Unanswered: func(a *Approval) (*Tool, []byte) {
		return &Tool{CallID: a.CallID, Name: "shell", Title: a.Title, Paths: []string{}}, nil
	}})
	require.NoError(t, err)
	defer s.Close()
	_, items, _, err := s.Transcript("s1", "", 0)
	require.NoError(t, err)
	require.Len(t, items, 3)
	for i, call := range []string{"b", "a"} {
		it := items[i+1]
		require.Equal(t, []any{ItemTool, ItemRejected, call}, []any{it.Kind, it.Status, it.Tool.CallID})
		require.NotNil(t, it.EndedAt)
	}
	a, err := s.Approval(ApprovalID("a", "t1"))
	require.NoError(t, err)
	require.Equal(t, ApprovalWithdrawn, a.Status)
}

// TestOpenEndsWhatWasAskedFor: a call that waited for its permission, or was refused it, did not run; one that was allowed, or had begun before
// it was asked for, may have.
func TestOpenEndsWhatWasAskedFor(t *testing.T) {
	const unanswered, refused = "the daemon was killed before anybody allowed it, so it did not run", "it was refused before the daemon was killed"
	type asked struct {
		status ApprovalStatus
		option string
	}
	waits, yes, no := asked{ApprovalPending, ""}, asked{ApprovalAnswered, "y"}, asked{ApprovalAnswered, "n"}
	for name, c := range map[string]struct {
		asked []asked
		began int // after the last question, or before it
		want  ItemStatus
		why   string
	}{
		"waits":                    {[]asked{waits}, 0, ItemRejected, unanswered},
		"allowed":                  {[]asked{yes}, 0, ItemCancelled, ""},
		"refused":                  {[]asked{no}, 0, ItemRejected, refused},
		"expired":                  {[]asked{{ApprovalExpired, ""}}, 0, ItemRejected, refused},
		"withdrawn":                {[]asked{{ApprovalWithdrawn, ""}}, 0, ItemRejected, refused},
		"an unknown answer":        {[]asked{{ApprovalAnswered, "x"}}, 0, ItemRejected, refused},
		"refused, and asked again": {[]asked{no, waits}, 0, ItemRejected, unanswered},
		"allowed, and asked again": {[]asked{yes, waits}, 0, ItemCancelled, ""},
		"begun, and asked for":     {[]asked{waits}, -1, ItemCancelled, ""},
		"refused, and begun":       {[]asked{no}, 1, ItemCancelled, ""},
		"not asked for":            {nil, 0, ItemCancelled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := dbPath(t)
			s, _ := openAt(t, path)
			call := item("t1", "s1", 0, ItemRunning, 9)
			call.Kind, call.Tool, call.StartedAt = ItemTool, &Tool{CallID: "c1", Name: "shell", Paths: []string{}}, at(19+len(c.asked)+c.began)
			must(t, s, append(puts(session("s1", 1), turn("t1", "s1", TurnRunning, 2)), Put{Object: call, Detail: []byte(`{"callId":"c1","name":"shell","output":"all"}`)})...)
			for i, one := range c.asked {
				a := approval("t1", "s1", string(rune('a'+i)), one.status, uint64(10+i))
				a.Kind, a.ItemID, a.CreatedAt = ApprovalPermission, call.ID, at(20+i)
				a.Options = []ApprovalOption{{ID: "y", Label: "Yes", Kind: AllowOnce}, {ID: "n", Label: "No", Kind: RejectOnce}}
				if one.status == ApprovalAnswered {
					a.Answer = &ApprovalAnswer{OptionID: one.option}
				}
				must(t, s, puts(a)...)
			}
			require.NoError(t, s.Close())

			open := 0
			s, _, err := Open(path, Options{LeftOpen: func(*Item) string { open++; return "" }})
			require.NoError(t, err)
			defer s.Close()
			got, err := s.Item(call.ID)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Status)
			require.Equal(t, c.why, got.Tool.Error)
			require.NotNil(t, got.EndedAt)
			require.Equal(t, c.want == ItemCancelled, open == 1, "only what may have run has left changes")
			detail, err := s.ItemDetail(call.ID)
			require.NoError(t, err)
			require.Equal(t, c.why != "", strings.Contains(string(detail), c.why) && c.why != "", "%s", detail)
			require.Contains(t, string(detail), `"output":"all"`)
		})
	}
}
