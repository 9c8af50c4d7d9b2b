//go:build unix

package agent

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRunCancelled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script, signals string }{
		{"ends at INT", "trap 'echo INT >>signals; exit 130' INT\ntrap 'echo TERM >>signals' TERM\n", "INT\n"},
		{"ends at TERM", "trap 'echo INT >>signals' INT\ntrap 'echo TERM >>signals; exit' TERM\n", "INT\nTERM\n"},
		{"ends at KILL", "trap 'echo INT >>signals' INT\ntrap 'echo TERM >>signals' TERM\n", "INT\nTERM\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, tt.script+sayInit+sayDelta+"while :; do sleep 0.02; done\n")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out, _ := f.run(ctx, func(ev Event) {
				if _, ok := ev.(Text); ok {
					cancel()
				}
			})
			require.Equal(t, Cancelled, out.Status)
			require.Equal(t, "s-1", out.SessionID)
			require.Equal(t, "Hello", *out.Result)
			require.Equal(t, tt.signals, f.read("signals"))
		})
	}
	t.Run("before the start", func(t *testing.T) {
		f := newFake(t, "touch started\n")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		out, _ := f.run(ctx, nil)
		require.Equal(t, Cancelled, out.Status)
		require.NoFileExists(t, filepath.Join(f.dir, "started"))
	})
	t.Run("after the result", func(t *testing.T) {
		f := newFake(t, sayInit+sayResult+"sleep 100\n")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out, _ := f.run(ctx, func(ev Event) {
			if _, ok := ev.(Result); ok {
				cancel()
			}
		})
		require.Equal(t, Completed, out.Status)
	})
}

func TestRunEndsAHungAgent(t *testing.T) {
	t.Parallel()
	f := newFake(t, sayInit+"sleep 100\n")
	f.req.IdleTimeout, f.req.ToolTimeout = 100*time.Millisecond, time.Hour
	out, _ := f.run(t.Context(), nil)
	require.Equal(t, Failed, out.Status)
	require.Equal(t, "agentHung", out.Failure.Kind)

	f = newFake(t, sayInit+sayStart+"sleep 100\n")
	f.req.IdleTimeout, f.req.ToolTimeout = time.Hour, 400*time.Millisecond
	f.req.BackgroundGrace = time.Second // so that the agent is checked often
	start := time.Now()
	out, _ = f.run(t.Context(), nil)
	require.Equal(t, "agentHung", out.Failure.Kind)
	require.Contains(t, out.Failure.Message, "while a tool ran")
	require.GreaterOrEqual(t, time.Since(start), 400*time.Millisecond)
}
