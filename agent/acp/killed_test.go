//go:build unix

package acp

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/process"
)

// kill kills the agent's processes, and returns when they are gone: a dying one may keep its pipes open for a moment.
func (w *world) kill() {
	for _, p := range process.Survivors(w.req.Mark) {
		found, err := os.FindProcess(p.ID)
		require.NoError(w.t, err)
		require.NoError(w.t, found.Kill())
		require.Eventually(w.t, func() bool { return found.Signal(syscall.Signal(0)) != nil }, 30*time.Second, time.Millisecond)
	}
}

// TestKilledBetweenTurns: nobody notices that the kept process was killed.
func TestKilledBetweenTurns(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", builtin)
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	w.kill()
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
}

// TestKilledBeforeThePrompt: the kept process was killed, and its end is noticed only after the prompt was given to it.
func TestKilledBeforeThePrompt(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", builtin)
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	p := w.driver.kept[0].proc
	busy, asleep := make(chan struct{}), make(chan struct{})
	p.do(func() { close(asleep); <-busy })
	<-asleep
	w.kill()
	ended := make(chan agent.Outcome, 1)
	go func() { ended <- w.run(t.Context(), nil) }()
	require.Eventually(t, func() bool {
		p.inbox.mu.Lock()
		defer p.inbox.mu.Unlock()
		return len(p.inbox.list) > 0
	}, 30*time.Second, time.Millisecond)
	close(busy)
	require.Equal(t, agent.Completed, (<-ended).Status)
}

// TestKilledAtThePrompt: the kept process is killed when it has the prompt and has not read it.
func TestKilledAtThePrompt(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", builtin)
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	p := w.driver.kept[0].proc
	for _, one := range process.Survivors(w.req.Mark) {
		require.NoError(t, syscall.Kill(one.ID, syscall.SIGSTOP))
	}
	ended := make(chan agent.Outcome, 1)
	fed := p.fed.Load()
	go func() { ended <- w.run(t.Context(), nil) }()
	require.Eventually(t, func() bool { return p.fed.Load() > fed }, 30*time.Second, time.Millisecond)
	w.kill()
	out := <-ended
	require.Equal(t, agent.Completed, out.Status, "%+v", out.Failure)
}

// TestAgentThatClosesItsOutput: an agent that closes its output in mid-turn and lives on is ended, and nobody else is blamed for that.
func TestAgentThatClosesItsOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "2026.10.01-e373342", `{"fake":"say","text":"a"}`+"\n"+`{"fake":"hang"}`+"\n")
	bin := w.home("agent")
	text := "#!/bin/sh\nexec 3<&0\n'" + w.req.Bin + "' \"$@\" <&3 |\n" + `while read -r line; do
	printf '%s\n' "$line"
	case $line in *agent_message*) break ;; esac
done &
exec >&- 3<&-
sleep 1000
`
	require.NoError(t, os.WriteFile(bin, []byte(text), 0o700))
	w.req.Bin = bin
	out := w.run(t.Context(), nil)
	require.Equal(t, agent.Failed, out.Status)
	require.Contains(t, out.Failure.Message, "without a result")
}
