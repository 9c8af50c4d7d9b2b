package isolation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAnAgentThatAttacks tries to leave its overlay: to decide as a person, to reach the daemon, its folder and the work tree, and to live on.
func TestAnAgentThatAttacks(t *testing.T) {
	t.Parallel()
	w := overlays(t)
	w.PutAll(world.Tree{"f": "f\n", "d/g": "g\n"})
	require.NoError(t, os.Symlink("d", w.Path("link")))
	w.Commits()
	was := w.Whole(w.Root)
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	daemon := fmt.Sprint(w.Cmd.Process.Pid)
	state := filepath.Join(w.Dir, "state")
	hide := "unset $(env | sed -n 's/^\\(CURSORD_STORE\\|CURSORD_TURN[A-Z_]*\\)=.*/\\1/p'); "
	tries := []string{ // what must fail
		"cursord accept --all", hide + "setsid cursord accept --all", "unshare -Ur env -u CURSORD_STORE -u CURSORD_TURN -u CURSORD_TURN_ID cursord accept --all", "cursord trust", "cursord stop --force",
		"kill -0 " + daemon, "test -e /proc/" + daemon, "test -e /proc/self/fd/3", "umount " + w.Root, "unshare -Urm umount " + w.Root,
		"unshare -Urm sh -c 'umount " + state + " && cd " + state + " && ls | grep -v images'", "unshare -Urm sh -c 'umount -l /proc && test -e /proc/" + daemon + "'",
		"unshare -Urm sh -c 'mkdir -p m && mount --bind " + w.Dir + " m'", "unshare -Urm sh -c 'mount -t overlay o -o lowerdir=" + w.Dir + ":/tmp /mnt && ls /mnt/state/copies'",
		"ls " + state + "/copies", "echo x > " + state + "/x", "mv " + w.Root + " " + w.Root + ".away", "rmdir " + w.Root, "ln " + state + "/cursord.db stolen",
		"nsenter -t 1 -m -U true", "nsenter -t 1 -p true",
	}
	lines := []string{"exec > said 2>&1; chmod +w ."}
	for i, try := range tries {
		lines = append(lines, fmt.Sprintf("if ( %s ) </dev/null; then echo SUCCESS %d; fi", try, i))
	}
	lines = append(lines, "rm link; mkdir link; echo g > link/g; echo agent >> f", "setsid sh -c 'trap \"\" TERM HUP INT; while :; do echo x >> later; done' > /dev/null 2>&1 &", "until test -s later; do sleep 0.01; done")
	w.Plays(world.Lines(world.Shells("1", strings.Join(lines, "\n")))...)
	e.Ok(s)
	if c := theCopy(e); c.Kind != "overlay" {
		t.Skipf("no overlay: %+v", c)
	}
	require.Contains(t, w.Copied(s, "said"), "agents must not decide about their own work")
	require.NotContains(t, w.Copied(s, "said"), "SUCCESS", "%s\n%q", w.Copied(s, "said"), tries)
	require.Equal(t, was, w.Whole(w.Root))
	require.Empty(t, seeing(t, w.Root))
	require.Equal(t, fmt.Sprint(w.Cmd.Process.Pid), daemon)
	later, err := os.Stat(filepath.Join(w.FolderOf(s), "upper", "later"))
	require.NoError(t, err)
	w.Plays(world.Done)
	e.Ok(s)
	again, err := os.Stat(filepath.Join(w.FolderOf(s), "upper", "later"))
	require.NoError(t, err)
	require.Equal(t, later.Size(), again.Size())
	require.Equal(t, "g\n", w.Copied(s, "link/g"), "a folder in the place of a link stays")
	require.Contains(t, e.Diffs(), "link/g")
	e.Decides("diff/accept", world.Obj{"path": "f"})
	w.RequireTree(world.Tree{"f": "f\nagent\n"})
}
