//go:build linux

package agentruns

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAgentDoesNotDecide has the agent's shell call cursord itself: it can read and decide nothing, also if it removes the
// marks from its environment. The person can decide all the same.
func TestAgentDoesNotDecide(t *testing.T) {
	t.Parallel()
	const refused = "agents must not decide about their own work"
	w := world.New(t)
	w.PutAll(world.Tree{"a": "old\n"})
	commands := []string{
		"cursord accept --all", "cursord reject --all", "cursord undo", "cursord redo", "cursord trust", "cursord run --force again",
		"env -u CURSORD_STORE -u CURSORD_TURN_ID cursord accept --all",
	}
	var script strings.Builder
	for _, c := range commands {
		script.WriteString("echo + >>../said; " + c + " >>../said 2>&1; ")
	}
	w.Plays(world.Lines(world.Edits("a", "a", "old\n", "new\n"), world.Shells("b", script.String()+"cursord diff >../seen 2>&1"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	said := strings.Split(w.Get("../said"), "+\n")[1:]
	require.Len(t, said, len(commands))
	for i, text := range said {
		require.Contains(t, text, refused, commands[i])
		require.Contains(t, text, "do it in a terminal or an editor that no agent has started", commands[i])
	}
	require.Contains(t, w.Get("../seen"), "+new", "it can look")
	require.Len(t, e.Diffs()["a"].Hunks, 1)

	// A process with another daemon's mark, such as a daemon under test, is no agent of this daemon.
	cmd := exec.Command("cursord", "accept", "--all")
	cmd.Env, cmd.Dir = append(w.Env(), "CURSORD_STORE=other", "CURSORD_TURN_ID="+turn.ID), w.Root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "accepted 1 hunk")
	w.Stop()
	require.Equal(t, len(commands), strings.Count(w.Log.String(), "refused to a process of an agent"))
}
