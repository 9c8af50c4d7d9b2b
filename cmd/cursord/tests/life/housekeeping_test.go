//go:build unix

package life

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestRetention sets limits by count, age and size, and requires that only the newest sessions are kept.
func TestRetention(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		config string
		kept   string
		reason string
	}{
		"everything": {"", "a b c d e", ""},
		"by count":   {"keep_sessions = 2", "a b", "count"},
		"by age":     {`keep_age = "30d"`, "a b c", "age"},
		"by size":    {`keep_size = "500KB"`, "a b", "size"},
		"all three":  {"keep_age = \"3d\"\nkeep_sessions = 4\nkeep_size = \"1MB\"", "a b", "age"},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.Start()
			e := w.Joins()
			// The newest session is a year old: ages count from the newest session on.
			now := time.Now().Add(-365 * day)
			for _, s := range []struct {
				id   string
				age  time.Duration
				size int
			}{{"a", 0, 1000}, {"b", day, 1000}, {"c", 20 * day, 600 << 10}, {"d", 40 * day, 1000}, {"e", 100 * day, 1000}} {
				e.Must("session/import", world.Obj{"path": w.Exported(s.id, now.Add(-s.age), s.size)}, nil)
			}
			w.Stop()
			w.Put("../config.toml", c.config)
			// The daemon deletes them at its start or in daemon/gc, whichever comes first.
			w.Start()
			e = w.Joins()
			e.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
			var done api.Collected
			e.Must("daemon/gc", world.Obj{}, &done)
			require.Equal(t, c.kept, strings.Join(e.SessionIDs(), " "))
			require.Empty(t, done.NotCompacted)
			require.Positive(t, done.BytesAfter)
			for _, id := range strings.Fields("a b c d e") {
				if !strings.Contains(c.kept, id) {
					e.Until(id+" to be announced as deleted", func(n world.Notification) bool { return n.Method == "session/changed" && n.Removed })
					require.Equal(t, -32001, e.Fails("session/read", world.Obj{"sessionId": id}).Code)
				}
			}
			for _, s := range done.Sessions {
				require.Equal(t, c.reason, s.Reason)
			}
			e.Must("daemon/gc", world.Obj{}, &done)
			require.Empty(t, done.Sessions, "the second time there is nothing left")
		})
	}
}

// TestRetentionSparesWhatIsAlive: sessions with running or waiting turns or hunks under review are never deleted.
func TestRetentionSparesWhatIsAlive(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "keep_age = \"1h\"\nparallel_turns = 2")
	w.Start()
	e := w.Opens()
	now := time.Now()
	w.Put("a.txt", "old\n")
	w.Plays(world.Writes("a.txt", "new\n")...)
	reviewed := e.Turn(nil)
	w.Plays(world.InitLine, `{"fake":"hang"}`)
	running := e.Asks(nil)
	e.Until("the turn to run", func(n world.Notification) bool {
		return n.Method == "turn/changed" && n.Turn.ID == running.ID && n.Turn.Status == sessions.TurnRunning
	})
	waiting := e.Asks(world.Obj{"sessionId": running.SessionID})
	e.Must("session/import", world.Obj{"path": w.Exported("old", now.Add(-2*time.Hour), 10)}, nil)
	e.Must("session/import", world.Obj{"path": w.Exported("future", now.Add(1000*time.Hour), 10)}, nil)
	var plan, done api.Collected
	e.Must("daemon/gc", world.Obj{"dryRun": true}, &plan)
	e.Must("daemon/gc", world.Obj{}, &done)
	require.Len(t, plan.Sessions, 1)
	require.Equal(t, "old", plan.Sessions[0].ID)
	require.Equal(t, plan.Sessions, done.Sessions)
	want := []string{reviewed.SessionID, running.SessionID, "future"}
	slices.Sort(want)
	require.Equal(t, want, e.SessionIDs(), "a clock that was wrong once does not make all else old")
	e.Must("turn/cancel", world.Obj{"turnId": running.ID}, nil)
	e.Ends(running.ID)
	e.Must("turn/cancel", world.Obj{"turnId": waiting.ID}, nil)
	e.Ends(waiting.ID)
	require.Len(t, e.Diffs(), 1)
}

// TestHugeExport exports and imports a session of 50 MB. The command does not hold it in memory.
func TestHugeExport(t *testing.T) {
	world.TooLargeForRace(t)
	if runtime.GOOS != "linux" {
		t.Skip("memory is read as Linux tells it")
	}
	w := world.New(t)
	w.Huge = true
	w.Start()
	e := w.Opens()
	text := strings.Repeat("0123456789abcde\\n", 1<<16) // stands in the call's result and in the item's output
	result := `{"type":"tool_call","subtype":"completed","call_id":"{{i}}","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"stdout":"` + text + `"}}}}}`
	w.Plays(world.InitLine, `{"fake":"repeat","n":25,"lines":2}`,
		`{"type":"tool_call","subtype":"started","call_id":"{{i}}","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`, result, world.Succeeds("Done."))
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	file := filepath.Join(w.Dir, "s.ndjson")
	cmd := exec.Command("cursord", "export", turn.SessionID, "--format", "ndjson", "-o", file)
	cmd.Env = w.Env()
	require.LessOrEqual(t, peakMemory(t, cmd), 48<<10, "KB")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(50<<20))
	e.Must("session/delete", world.Obj{"sessionId": turn.SessionID}, nil)
	w.CursordOK("import", file)
	var read struct {
		Items []*sessions.Item
		Item  *sessions.Item
	}
	e.Must("session/read", world.Obj{"sessionId": turn.SessionID, "limit": 2}, &read)
	e.Must("item/read", world.Obj{"itemId": read.Items[0].ID}, &read)
	require.Len(t, read.Item.Tool.Output, 1<<20)
	require.Contains(t, w.CursordOK("gc"), "compacted")
}

// peakMemory runs a program, which must succeed, and returns its peak memory in KB. It polls, because the system's figure
// for a process that has ended includes the memory of its parent.
func peakMemory(t *testing.T, cmd *exec.Cmd) (peak int) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			require.NoError(t, err, "%s", out.String())
			require.NotZero(t, peak)
			return peak
		case <-look.C:
			exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid))
			if exe != cmd.Path {
				continue // before the exec, or after the end
			}
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
				var kb int
				_, err := fmt.Sscan(rest, &kb)
				require.NoError(t, err)
				peak = max(peak, kb)
			}
		}
	}
}
