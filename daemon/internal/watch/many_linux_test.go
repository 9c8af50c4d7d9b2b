package watch

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestManyWorkspaces: more workspaces have files under review than the system has instances of inotify for a user, and all are watched.
func TestManyWorkspaces(t *testing.T) {
	var all []*watched
	for range 150 {
		w := newWatched(t, Limits{dirs: 10, Settle: time.Millisecond, poll: time.Hour})
		defer w.fw.Close()
		all = append(all, w)
		w.fw.Want([]string{w.file("sub/f")})
		require.Equal(t, State{Dirs: 2}, *w.fw.State.Load())
	}
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	instances := 0
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(to, "inotify") {
			instances++
		}
	}
	require.Equal(t, 1, instances)
	for i, w := range all {
		require.NoError(t, os.WriteFile(w.fw.Paths[0], []byte(fmt.Sprint(i)), 0o644))
	}
	for _, w := range all {
		w.until(w.fw.Paths[0])
	}
}
