package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

// TestRules: rules are kept in order until they are dropped, and a forgotten workspace has none.
func TestRules(t *testing.T) {
	s, _ := openAt(t, dbPath(t))
	rules := func() (data []string) {
		list, err := s.Rules(root)
		require.NoError(t, err)
		for _, r := range list {
			data = append(data, string(r.Data))
		}
		return data
	}
	must(t, s, DropRule{N: 3})
	require.Empty(t, rules())
	must(t, s, PutRule{N: 2, Data: []byte("b")}, PutRule{N: 1, Data: []byte("a")}, PutRule{N: 3, Data: []byte("c")})
	require.Equal(t, []string{"a", "b", "c"}, rules())
	must(t, s, DropRule{N: 2})
	require.Equal(t, []string{"a", "c"}, rules())
	must(t, s, SetTrust{true}, Forget{})
	require.Empty(t, rules())
	must(t, s, Forget{}, PutRule{N: 1, Data: []byte("a")})
	require.Equal(t, []string{"a"}, rules())
}

// TestApprovalsBelongToTheirTurns: an approval is found by its id, needs its turn, and goes with the session.
func TestApprovalsBelongToTheirTurns(t *testing.T) {
	s, _ := openAt(t, dbPath(t))
	odd := "turn-with:odd-name"
	must(t, s, puts(session("s1", 1), turn(odd, "s1", TurnCompleted, 2), approval(odd, "s1", "k3", ApprovalAnswered, 3), approval("none", "s1", "k4", ApprovalAnswered, 4))...)
	a, err := s.Approval("k3-" + odd)
	require.NoError(t, err)
	require.Equal(t, odd, a.TurnID)
	require.Equal(t, odd, TurnOfApproval(a.ID))
	require.Nil(t, a.Option("n"))
	require.Equal(t, "y", a.Option("y").ID)
	require.Nil(t, a.Chosen(RejectOnce, RejectAlways))
	require.Equal(t, "y", a.Chosen(RejectOnce, AllowOnce).ID)
	for _, id := range []string{"k4-none", "k3", "", "-", "k3-", "k-" + odd, "s1"} {
		_, err := s.Approval(id)
		require.ErrorIs(t, err, ErrNotFound, id)
	}
	for _, id := range []string{"k5", "-" + odd, "k5-other"} {
		bad := approval(odd, "s1", "k5", ApprovalPending, 5)
		bad.ID = id
		require.Error(t, submit(s, root, Put{Object: bad}), id)
	}
	must(t, s, RemoveSession{ID: "s1", Seq: 6})
	_, err = s.Approval("k3-" + odd)
	require.ErrorIs(t, err, ErrNotFound)
	require.Equal(t, []string{"6 session s1 X"}, index(t, s, 0))
}
