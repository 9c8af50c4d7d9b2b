//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestIgnoredAgent notes that the agent which a client's environment names is not the one that turns run.
func TestIgnoredAgent(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	w.Opens()
	other := w.Program("other/cursor-agent", w.Fake())
	run := func(agent string) string {
		c := w.Command("run", "hi")
		c.Env = append(c.Env, "CURSORD_AGENT="+agent)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	taken := filepath.Join(w.Dir, "agent")
	require.Contains(t, run(other), "cursord: CURSORD_AGENT ("+other+") is not used: the daemon that runs takes "+taken+" for cursor-agent")
	require.Contains(t, run(filepath.Join(w.Dir, "nowhere")), "nowhere) is not used")
	link := filepath.Join(w.Dir, "link")
	require.NoError(t, os.Symlink(taken, link))
	for _, same := range []string{taken, link, ""} {
		require.NotContains(t, run(same), "not used", same)
	}
}
