package toolcalls

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/worktree"
	"cursord/diffs"
)

// TestSavesBetweenCommandsAreSeen: a person saves files during a turn; an open call names one of them. The times of the
// other saves are noted, in case a command changes these files before the next look.
func TestSavesBetweenCommandsAreSeen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("all folders are watched on Linux only")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	save := func(name, text string) int64 {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
		return filestat.Of(filepath.Join(root, name)).Changed()
	}
	save("f", "a")
	save("named", "a")
	in := new(worktree.Tree)
	in.Init("", root, nil)
	turn := &Observer{Tree: in, Waits: true}
	turn.Start, turn.Stop = new(snapshot.List).Take(root, t.TempDir(), "", nil, true, nil)
	defer turn.Start.Close()
	turn.WatchSaves()
	<-turn.Start.Ready()
	call := in.Ledger.Open([]string{"named"}, diffs.Source{Via: diffs.ViaEdit})
	defer in.Ledger.Close(call)
	save("named", "b")
	const later = int64(1) << 62
	require.Eventually(t, func() bool {
		save("f", "b")
		when := save("f", "c")
		return len(turn.Start.EarlierOf("f", 0, 0, when+1)) > 0
	}, 30*time.Second, 20*time.Millisecond)
	require.Empty(t, turn.Start.EarlierOf("named", 0, 0, later))
	turn.Stop()
	seen := turn.Start.EarlierOf("f", 0, 0, later)
	save("f", "d")
	require.Equal(t, seen, turn.Start.EarlierOf("f", 0, 0, later), "the turn has ended")
}
