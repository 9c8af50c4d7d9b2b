//go:build unix

package acp

import (
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
	require.Eventually(w.t, func() bool {
		w.driver.mu.Lock()
		p := w.driver.kept[0].proc
		w.driver.mu.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.between == strings.Join(parts, "")
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
// or in another one.
func TestTextBetweenTurns(t *testing.T) {
	for name, before := range map[string]func(w *world){
		"the same process":    func(*world) {},
		"another model":       func(w *world) { w.req.Model = "fake-small" },
		"after an idle while": func(w *world) { w.driver.Rest() },
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
			for _, want := range []string{"init\nnotice While no turn ran, the agent said: The tests ⏎ have passed.\ntext two", "init\ntext two"} {
				require.Equal(t, "two", *w.run(t.Context(), nil).Result)
				require.Equal(t, want, w.said())
			}
		})
	}
}

// TestTextBetweenTurnsOfAnEndedSession is told nobody.
func TestTextBetweenTurnsOfAnEndedSession(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", "")
	w.script(w.later("go", "Late.") + `{"fake":"say","text":"one"}` + "\n")
	w.run(t.Context(), nil)
	w.touches("go")
	w.hasOverheard("Late.")
	w.driver.Rest()
	w.driver.End(w.req.Session)
	require.Empty(t, w.driver.left)
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
