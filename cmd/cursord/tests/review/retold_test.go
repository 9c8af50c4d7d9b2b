//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestTheReplacementOfATurnIsToldOfRejections: the agent of a replacement has a fresh chat, so its prompt says again what was rejected
// before the replaced turn; but not what was taken back since.
func TestTheReplacementOfATurnIsToldOfRejections(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("keep", "k\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "keep", "k\n", "agent\n"))...)
	first := e.Turn(nil)
	require.Equal(t, 1, e.Decides("diff/reject", world.Obj{"path": "keep"}).Applied)
	w.Plays(commands("true")...)
	prompt := func(params world.Obj) (turn, text string) {
		params["sessionId"] = first.SessionID
		turn = e.Turn(params).ID
		runs := w.Runs()
		return turn, runs[len(runs)-1].Prompt
	}
	const remark = "the user rejected your change of keep"
	turn, text := prompt(world.Obj{})
	require.Contains(t, text, remark)
	_, text = prompt(world.Obj{"rewind": turn})
	require.Contains(t, text, remark)
	again, text := prompt(world.Obj{})
	require.NotContains(t, text, remark, "it is said once to an agent")

	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	_, text = prompt(world.Obj{"rewind": again})
	require.NotContains(t, text, remark)
}
