//go:build unix

package acpdriver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestKilledBetweenTurns: what the agent says and does while no turn runs was lost if the daemon ended before the next turn. That turn tells it, once,
// whether the daemon was killed, was stopped, or goes on, and nothing of it goes into the prompt.
func TestKilledBetweenTurns(t *testing.T) {
	for name, end := range map[string]func(w *world.World){
		"killed":  func(w *world.World) { w.Kill(); w.Start(newest) },
		"stopped": func(w *world.World) { w.Stop(); w.Start(newest) },
		"goes on": func(*world.World) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			const edit = `"method":"session/update","params":{"sessionUpdate":"tool_call","toolCallId":"late","title":"Edit File late.txt","kind":"edit"}`
			w.Plays(`{"fake":"later","path":"../go 1","text":"It is done."}`, `{"fake":"later","path":"../go 2",`+edit+`}`,
				`{"fake":"later","path":"../go 3","method":"cursor/ask_question","params":{}}`, `{"fake":"say","text":"One."}`)
			first := e.Turn(byACP)
			for _, file := range []string{"../go 1", "../go 2", "../go 3"} {
				w.Put(file, "")
				require.True(t, world.Comes(world.Patience, func() bool { return w.Get(file) == "(absent)" }), file)
			}
			e.Must("session/update", world.Obj{"sessionId": first.SessionID, "title": "stored after it"}, nil)
			end(w)
			e = w.Opens()
			w.Plays(`{"fake":"say","text":"You asked: {{prompt}}"}`)
			next := e.Turn(world.Obj{"sessionId": first.SessionID, "prompt": "more"})
			require.Equal(t, "You asked: more", *next.Result)
			told := e.Notices(next.ID)
			require.Contains(t, told, "While no turn ran, the agent said: It is done.")
			require.Contains(t, told, "the agent did more: Edit File late.txt. What that changed is not listed")
			require.Contains(t, told, "was told no: ask_question")
			next = e.Turn(world.Obj{"sessionId": first.SessionID, "prompt": "more"})
			require.NotContains(t, e.Notices(next.ID), "While no turn ran", "once")
		})
	}
}
