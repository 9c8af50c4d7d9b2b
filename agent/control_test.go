package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestControl reaches a run only while it lasts, and only in the ways that its driver has.
func TestControl(t *testing.T) {
	c := NewControl()
	require.ErrorIs(t, c.Answer("1", ApprovalAnswer{}), ErrNotRunning)
	require.ErrorIs(t, c.Steer("more"), ErrNotRunning)

	end := c.Begin(Reach{})
	require.ErrorIs(t, c.Answer("1", ApprovalAnswer{}), ErrUnknownApproval)
	require.ErrorIs(t, c.Steer("more"), ErrCannotSteer)
	end()

	var got []string
	end = c.Begin(Reach{
		Answer: func(id string, a ApprovalAnswer) error { got = append(got, id+" "+a.OptionID); return nil },
		Steer:  func(text string) error { got = append(got, text); return nil },
	})
	require.NoError(t, c.Answer("1", ApprovalAnswer{OptionID: "yes"}))
	require.NoError(t, c.Steer("more"))
	require.Equal(t, []string{"1 yes", "more"}, got)
	end()
	require.ErrorIs(t, c.Steer("more"), ErrNotRunning)

	var none *Control
	none.Begin(Reach{})()
}

// TestRefusal chooses what says no, and nothing that could say yes.
func TestRefusal(t *testing.T) {
	r := ApprovalRequested{Options: []ApprovalOption{{ID: "a", Kind: AllowOnce}, {ID: "b", Kind: RejectAlways}, {ID: "c", Kind: RejectOnce}}}
	require.Equal(t, ApprovalAnswer{OptionID: "c"}, r.Refusal())
	r.Options = r.Options[:2]
	require.Equal(t, ApprovalAnswer{Cancelled: true}, r.Refusal(), "a lasting no is not ours to give")
	require.Equal(t, ApprovalAnswer{Cancelled: true}, (&ApprovalRequested{}).Refusal())
}
