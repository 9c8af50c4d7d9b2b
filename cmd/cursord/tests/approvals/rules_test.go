//go:build unix

package approvals

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestAlwaysIsNoMoreThanItSays: "always" for a command does not allow others that more words, a ";" or a line break make of it. Letters that look
// like others are marked.
func TestAlwaysIsNoMoreThanItSays(t *testing.T) {
	t.Parallel()
	w := asking(t, "[[approve]]\ncommand = \"echo rule\"\n")
	w.Put("x", "")
	e := w.Opens()
	// turn runs commands, and requires that these are asked for, in order; each gets the answer.
	turn := func(commands []string, asks [][2]string, answer string) {
		t.Helper()
		var lines []string
		for _, c := range commands {
			lines = append(lines, fmt.Sprintf(`{"fake":"shell","ask":true,"command":%q}`, c))
		}
		w.Plays(lines...)
		turn := e.Asks(world.Obj{"prompt": "run them"})
		for _, ask := range asks {
			a := e.Until("a question", func(n world.Notification) bool {
				return n.Approval != nil && n.Approval.TurnID == turn.ID && n.Approval.Command == ask[0] && n.Approval.Status == sessions.ApprovalPending
			}).Approval
			require.Equal(t, "Always in this folder, "+ask[1], a.Option("cursord:folder").Label, ask[0])
			if ask[0] == "t\u043euch x" {
				require.Contains(t, w.CursordOK("approvals"), "t<U+043E>uch")
			}
			e.Must("approval/answer", world.Obj{"approvalId": a.ID, "optionId": answer}, nil)
		}
		require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
		require.Empty(t, pending(e))
	}
	const exact, open = "exactly this command", "also with more arguments"
	always := [][2]string{{"cat x", open}, {"go vet", open}, {"go build", exact}, {"make -n", exact}, {"t\u043euch x", exact}}
	turn([]string{"cat x", "go vet", "go build", "make -n", "t\u043euch x"}, always, "cursord:folder")
	turn([]string{"cat x", "cat x -n x", "make -n", "go vet ./a", "t\u043euch x", "echo rule x"}, nil, "")
	turn([]string{"go build -toolexec ./evil", "go vet -vettool=./evil", "make -n SHELL=./evil", "cat x ;", "cat x\n", "\ncat x", "echo rule; ", "t\u043euch x y"}, [][2]string{
		{"go build -toolexec ./evil", exact}, {"go vet -vettool=./evil", exact}, {"make -n SHELL=./evil", exact}, {"cat x ;", open}, {"cat x\n", open}, {"\ncat x", open}, {"echo rule; ", open}, {"t\u043euch x y", exact},
	}, "reject-once")
}
