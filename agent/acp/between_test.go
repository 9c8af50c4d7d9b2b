//go:build unix

package acp

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
)

// hasOverheard waits until the agent's process has said something that no turn has.
func (w *world) hasOverheard(parts ...string) {
	w.t.Helper()
	w.untilBetween(func(b *between) bool { return b.words == strings.Join(parts, "") })
}

func (w *world) untilBetween(is func(*between) bool) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		w.driver.mu.Lock()
		p := w.driver.kept[0].proc
		w.driver.mu.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		return is(&p.between)
	}, 30*time.Second, time.Millisecond)
}

func (w *world) touches(name string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(w.home(name), nil, 0o600))
}

// later is a line of a script: the agent says a text once there is a file.
func (w *world) later(name, text string) string {
	return `{"fake":"later","path":"` + w.home(name) + `","text":"` + text + `"}` + "\n"
}

// TestTextBetweenTurns: what the agent says while no turn runs was lost. The next turn tells it, once and not as its own words, in the same process
// or in another one, also of another daemon.
func TestTextBetweenTurns(t *testing.T) {
	for name, before := range map[string]func(w *world){
		"the same process":    func(*world) {},
		"another model":       func(w *world) { w.req.Model = "fake-small" },
		"after an idle while": func(w *world) { w.driver.Rest() },
		"another daemon":      func(w *world) { w.driver.Close(); w.restart(0) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "2026.10.01-e373342", "")
			w.script(w.later("go", "The tests\\n") + w.later("on", "have passed.") + `{"fake":"say","text":"one"}` + "\n")
			require.Equal(t, "one", *w.run(t.Context(), nil).Result)
			w.touches("go")
			w.hasOverheard("The tests\n")
			w.touches("on")
			w.hasOverheard("The tests\n", "have passed.")
			require.Equal(t, "init\ntext one", w.said())
			before(w)
			w.script(`{"fake":"say","text":"two"}` + "\n")
			for _, want := range []string{"notice While no turn ran, the agent said: The tests ⏎ have passed.\ninit\ntext two", "init\ntext two"} {
				require.Equal(t, "two", *w.run(t.Context(), nil).Result)
				require.Equal(t, want, w.said())
			}
		})
	}
}

// TestCallsBetweenTurns: the next turn tells what the agent has done and asked for while no turn ran, each once. It was left out without a word.
func TestCallsBetweenTurns(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", "")
	script := `{"fake":"shell","command":"true"}` + "\n"
	for i, message := range []string{
		`"method":"session/update","params":{"sessionUpdate":"tool_call","toolCallId":"late 1","title":"Terminal","kind":"execute","rawInput":{"command":"echo b >b"}}`,
		`"method":"session/update","params":{"sessionUpdate":"tool_call_update","toolCallId":"late 1","status":"completed"}`,
		`"method":"session/update","params":{"sessionUpdate":"tool_call_update","toolCallId":"call_fa4e\nfc_1","status":"completed"}`, // of the turn
		`"method":"session/update","params":{"sessionUpdate":"tool_call","toolCallId":"late 2","title":"Edit\te","kind":"edit"}`,
		`"method":"session/request_permission","params":{"toolCall":{"toolCallId":"late 3","title":"rm c"},"options":[{"optionId":"y","kind":"allow_once"}]}`,
		`"method":"cursor/ask_question","params":{}`,
		`"method":"session/update","params":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"All done."}}`,
	} {
		script += fmt.Sprintf(`{"fake":"later","path":%q,%s}`, w.home(fmt.Sprint("go", i)), message) + "\n"
	}
	w.script(script + `{"fake":"say","text":"one"}` + "\n")
	require.Equal(t, "one", *w.run(t.Context(), nil).Result)
	heard := []func(b *between) bool{
		0: func(b *between) bool { return len(b.did.list) == 1 }, 3: func(b *between) bool { return len(b.did.list) == 2 },
		4: func(b *between) bool { return len(b.asked.list) == 1 }, 5: func(b *between) bool { return len(b.asked.list) == 2 },
		6: func(b *between) bool { return b.words != "" },
	}
	for i, is := range heard {
		if w.touches(fmt.Sprint("go", i)); is != nil {
			w.untilBetween(is)
		}
	}
	w.said()
	w.script(`{"fake":"say","text":"two"}` + "\n")
	w.run(t.Context(), nil)
	require.Equal(t, "notice While no turn ran, the agent said: All done.\n"+
		"notice While no turn ran, the agent did more: echo b >b; Edit e. What that changed is not listed as the agent's: look at these files yourself\n"+
		"notice While no turn ran, the agent asked for this, and was told no: rm c; ask_question\ninit\ntext two", w.said())
	w.run(t.Context(), nil)
	require.Equal(t, "init\ntext two", w.said())
}

// TestManyCallsBetweenTurns: what is kept of them is bounded.
func TestManyCallsBetweenTurns(t *testing.T) {
	var b between
	for i := range 3 * maxAside {
		b.hear(strings.Repeat("x", maxOverheard))
		b.did.add(fmt.Sprint(i), "y")
		b.did.add(fmt.Sprint(i), "the same")
	}
	for range 2 { // an update of a call that is only counted
		b.did.add(fmt.Sprint(3*maxAside-1), "y")
	}
	long := strings.Repeat("i", 2*maxAsideName)
	require.Len(t, b.words, maxOverheard)
	require.Equal(t, strings.Repeat("y; ", maxAside)+"and 40 more", b.did.String())
	for range 2 {
		b.did.add(long, "y")
	}
	require.Len(t, b.did.ids, 3*maxAside+1, "once")
	for i := range 2 * maxAsideIDs {
		b.did.add(fmt.Sprint("one of many ", i), "y")
	}
	require.Len(t, b.did.ids, maxAsideIDs)
}

// TestTextWhileACommandInTheBackgroundRuns is of the turn that waits for the command. It was lost.
func TestTextWhileACommandInTheBackgroundRuns(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", "")
	w.script(`{"fake":"background","command":"while [ ! -e ` + w.home("end") + ` ]; do sleep 0.01; done"}
` + w.later("go", "So far, so good.") + `{"fake":"say","text":"It runs."}
`)
	w.req.AwaitBackground = true
	out := w.run(t.Context(), func(ev agent.Event) {
		switch ev := ev.(type) {
		case agent.Waiting:
			w.touches("go")
		case agent.Text:
			if ev.Text == "So far, so good." {
				w.touches("end")
			}
		}
	})
	require.Equal(t, agent.Completed, out.Status)
	require.Contains(t, w.said(), "text It runs.\n")
	require.Contains(t, w.said(), "text So far, so good.\nwaiting")
	require.Equal(t, "It runs.So far, so good.", *out.Result)
}
