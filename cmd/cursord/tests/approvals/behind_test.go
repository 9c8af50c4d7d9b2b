//go:build unix

package approvals

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestBehindAQuestion: a run that is queued behind a question says that the person holds it up, and the lists of questions name the prompt and all
// lines of the command.
func TestBehindAQuestion(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"shell","ask":true,"command":"ls\necho ran >>ran"}`)
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "look\nand run"})
	a := asked(e)
	require.Contains(t, w.CursordOK("approvals"), "turn "+turn.ID+` "look…"`)
	status := w.CursordOK("status")
	require.Contains(t, status, "ls ⏎ echo ran >>ran")
	require.Contains(t, status, "by turn "+turn.ID+` "look…"`)
	tm := w.Terminal(t)
	tm.Types("cursord run next", "Enter")
	tm.Shows("which waits for your answer: cursord approvals")
	w.CursordOK("deny", a.ID)
	tm.Shows("asks for permission")
	w.CursordOK("deny")
	tm.Until("$")
	notRun(w)
}
