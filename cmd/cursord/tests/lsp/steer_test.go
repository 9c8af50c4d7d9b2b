//go:build unix

package lsp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPSteer adds to a running turn of an agent that takes texts while it works.
func TestLSPSteer(t *testing.T) {
	t.Parallel()
	w := world.Steered(t)
	c := lsp(w, world.LSPCapabilities(), nil)
	refused := func(want string, words ...any) {
		require.ErrorContains(t, c.call("workspace/executeCommand", world.Obj{"command": "cursord.steer", "arguments": words}, nil), want)
		c.hears("window/showMessage", want)
	}
	refused("is missing")
	refused("no turn of the session runs", "faster")
	c.does("cursord.ask", "begin")
	c.hears("$/progress", "writing")
	c.does("cursord.steer", "and faster")
	c.hears("window/showMessage", "the agent has this with its running turn")
	w.Put("go", "")
	c.hears("window/showMessage", "done")
}

// TestLSPSteerWaits: where the agent takes nothing while it works, the text is the next prompt.
func TestLSPSteerWaits(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(world.Streams("I wait."), `{"fake":"wait","path":"{{cwd}}/../go"}`, world.Done)
	w.Start()
	w.Trusts()
	c := lsp(w, world.LSPCapabilities(), nil)
	c.does("cursord.ask", "begin")
	c.hears("$/progress", "writing")
	c.does("cursord.steer", "and", "quickly")
	c.hears("window/showMessage", "this is the next prompt")
	w.Put("../go", "")
	require.Eventually(t, func() bool { return len(w.Runs()) == 2 }, world.Patience, 10*time.Millisecond)
}
