package main

import (
	"bytes"
	"encoding/json"
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

	"cursord/daemon/api"
	"cursord/sessions"
)

// exported writes a session as it is exported, with one turn and an answer of size bytes, and returns the file.
func (w *world) exported(id string, updated time.Time, size int) string {
	w.t.Helper()
	at := sessions.Time{Time: updated}
	s := &sessions.Session{ID: id, Workspace: w.ws, Title: id, Mode: sessions.ModeAgent, Turns: 1, CreatedAt: at, UpdatedAt: at}
	turn := &sessions.Turn{ID: "turn-" + id, SessionID: id, Prompt: "x", Mode: sessions.ModeAgent, Status: sessions.TurnCompleted, CreatedAt: at}
	item := &sessions.Item{TurnID: turn.ID, Kind: sessions.ItemAssistant, Status: sessions.ItemCompleted, Text: strings.Repeat("x", size), StartedAt: at}
	path := filepath.Join(w.dir, id+".ndjson")
	w.writesExport(path, api.ExportLine{Session: s}, api.ExportLine{ExportPart: api.ExportPart{Turn: turn}},
		api.ExportLine{ExportPart: api.ExportPart{Item: item}}, api.ExportLine{End: &api.ExportEnd{Turns: 1, Items: 1}})
	return path
}

// writesExport writes a file that session/import takes, of these lines.
func (w *world) writesExport(path string, lines ...api.ExportLine) {
	w.t.Helper()
	var file bytes.Buffer
	out := json.NewEncoder(&file)
	require.NoError(w.t, out.Encode(api.ExportHeader{Cursord: "session", Version: 1}))
	for _, line := range lines {
		require.NoError(w.t, out.Encode(line))
	}
	require.NoError(w.t, os.WriteFile(path, file.Bytes(), 0o600))
}

func (e *editor) sessionIDs() (ids []string) {
	e.t.Helper()
	var list struct{ Sessions []*sessions.Session }
	e.must("session/list", obj{"limit": 1000}, &list)
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestRetention has the configuration keep less and less.
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
			w := newWorld(t)
			w.start()
			e := w.joins()
			// The latest one is old itself: what nobody touched for a year is not older than it was.
			now := time.Now().Add(-365 * day)
			for _, s := range []struct {
				id   string
				age  time.Duration
				size int
			}{{"a", 0, 1000}, {"b", day, 1000}, {"c", 20 * day, 600 << 10}, {"d", 40 * day, 1000}, {"e", 100 * day, 1000}} {
				e.must("session/import", obj{"path": w.exported(s.id, now.Add(-s.age), s.size)}, nil)
			}
			w.stop()
			w.put("../config.toml", c.config)
			// The daemon deletes them at its start or when it is asked to, whatever comes first.
			w.start()
			e = w.joins()
			e.must("workspace/subscribe", obj{"workspace": w.ws, "after": 0}, nil)
			var done api.Collected
			e.must("daemon/gc", obj{}, &done)
			require.Equal(t, c.kept, strings.Join(e.sessionIDs(), " "))
			require.Empty(t, done.NotCompacted)
			require.Positive(t, done.BytesAfter)
			for _, id := range strings.Fields("a b c d e") {
				if !strings.Contains(c.kept, id) {
					e.until(id+" to be announced as deleted", func(n told) bool { return n.Method == "session/changed" && n.Removed })
					require.Equal(t, -32001, e.fails("session/read", obj{"sessionId": id}).Code)
				}
			}
			for _, s := range done.Sessions {
				require.Equal(t, c.reason, s.Reason)
			}
			e.must("daemon/gc", obj{}, &done)
			require.Empty(t, done.Sessions, "the second time there is nothing left")
		})
	}
}

// TestRetentionSparesWhatIsAlive has it keep nothing but what runs, waits or is under review.
func TestRetentionSparesWhatIsAlive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../config.toml", "keep_age = \"1h\"\nparallel_turns = 2")
	w.start()
	e := w.opens()
	now := time.Now()
	w.put("a.txt", "old\n")
	w.plays(writes("a.txt", "new\n")...)
	reviewed := e.turn(nil)
	w.plays(initLine, `{"fake":"hang"}`)
	running := e.asks(nil)
	e.until("the turn to run", func(n told) bool {
		return n.Method == "turn/changed" && n.Turn.ID == running.ID && n.Turn.Status == sessions.TurnRunning
	})
	waiting := e.asks(obj{"sessionId": running.SessionID})
	e.must("session/import", obj{"path": w.exported("old", now.Add(-2*time.Hour), 10)}, nil)
	e.must("session/import", obj{"path": w.exported("future", now.Add(1000*time.Hour), 10)}, nil)
	var plan, done api.Collected
	e.must("daemon/gc", obj{"dryRun": true}, &plan)
	e.must("daemon/gc", obj{}, &done)
	require.Len(t, plan.Sessions, 1)
	require.Equal(t, "old", plan.Sessions[0].ID)
	require.Equal(t, plan.Sessions, done.Sessions)
	want := []string{reviewed.SessionID, running.SessionID, "future"}
	slices.Sort(want)
	require.Equal(t, want, e.sessionIDs(), "a clock that was wrong once does not make all else old")
	e.must("turn/cancel", obj{"turnId": running.ID}, nil)
	e.ends(running.ID)
	e.must("turn/cancel", obj{"turnId": waiting.ID}, nil)
	e.ends(waiting.ID)
	require.Len(t, e.diffs(), 1)
}

// writes is the script of an agent that writes a file.
func writes(path, text string) []string {
	raw, _ := json.Marshal(text)
	call := fmt.Sprintf(`"call_id":"1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/%s"}`, path)
	return []string{
		initLine, `{"type":"tool_call","subtype":"started",` + call + `}}}`, fmt.Sprintf(`{"fake":"write","path":%q,"text":%s}`, path, raw),
		`{"type":"tool_call","subtype":"completed",` + call + `,"result":{"success":{}}}}}`, succeeds("Done."),
	}
}

// TestHugeExport exports and imports a session of 50 MB, which the command does not hold in memory.
func TestHugeExport(t *testing.T) {
	huge(t)
	if runtime.GOOS != "linux" {
		t.Skip("memory is read as Linux tells it")
	}
	w := newWorld(t)
	w.start()
	e := w.opens()
	text := strings.Repeat("0123456789abcde\\n", 1<<16) // told as the result and as its output
	result := `{"type":"tool_call","subtype":"completed","call_id":"{{i}}","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"stdout":"` + text + `"}}}}}`
	w.plays(initLine, `{"fake":"repeat","n":25,"lines":2}`,
		`{"type":"tool_call","subtype":"started","call_id":"{{i}}","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`, result, succeeds("Done."))
	turn := e.turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	file := filepath.Join(w.dir, "s.ndjson")
	cmd := exec.Command("cursord", "export", turn.SessionID, "--format", "ndjson", "-o", file)
	cmd.Env = w.env()
	require.LessOrEqual(t, peakMemory(t, cmd), 48<<10, "KB")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(50<<20))
	e.must("session/delete", obj{"sessionId": turn.SessionID}, nil)
	w.cursordOK("import", file)
	var read struct {
		Items []*sessions.Item
		Item  *sessions.Item
	}
	e.must("session/read", obj{"sessionId": turn.SessionID, "limit": 2}, &read)
	e.must("item/read", obj{"itemId": read.Items[0].ID}, &read)
	require.Len(t, read.Item.Tool.Output, 1<<20)
	require.Contains(t, w.cursordOK("gc"), "compacted")
}

// peakMemory runs a program, which must succeed, and returns what it held at most, in KB. What the system tells of a
// process that has ended counts the memory of the one that began it.
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
				continue // it has not begun, or has ended
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

// cursordOK runs the command line, which must succeed, and returns what it printed.
func (w *world) cursordOK(args ...string) string {
	w.t.Helper()
	out, errOut, status := w.cursord(args...)
	require.Zero(w.t, status, "%v: %s", args, errOut)
	return out
}
