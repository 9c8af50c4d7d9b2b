//go:build linux

package life

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/rpc/join"
	"cursord/sessions"
)

// TestAllIsStoppedForAWhile stops the daemon, an agent and an editor's line for longer than agents may be quiet, like a
// suspended machine. No process is taken for hung, and nothing is lost.
func TestAllIsStoppedForAWhile(t *testing.T) {
	t.Parallel()
	const quiet = 2 * time.Second
	w := world.New(t)
	w.Put("../config.toml", "agent_idle_timeout = \""+quiet.String()+"\"\n")
	w.Plays(world.InitLine, world.Piece("one"), world.Waits("go"), world.Piece("two"), world.Succeeds(""))
	w.Start()
	line, conn := w.Spawns("cursord")
	e := w.EditorOn(conn)
	e.Must("initialize", world.Obj{}, nil)
	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	turn := e.Asks(nil)
	e.Says("one")
	waited := make(chan error, 1)
	go func() { waited <- e.Call("turn/wait", world.Obj{"turnId": turn.ID}, nil) }()
	daemon, agents := w.Cmd.Process.Pid, world.Processes(t, "CURSORD_TURN_ID="+turn.ID)
	require.NotEmpty(t, agents)
	stopped := append([]int{line.Process.Pid, daemon}, agents...)
	for _, pid := range stopped {
		freeze(t, pid)
	}
	<-time.After(quiet + quiet/2) // the pause under test
	for _, pid := range stopped[:2] {
		require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	}
	require.Equal(t, daemon, e.Status().PID)
	for _, pid := range agents {
		require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	}
	w.Put("../go", "")
	ended := e.Ends(turn.ID)
	require.Equal(t, sessions.TurnCompleted, ended.Status, "%+v", ended.Error)
	require.NoError(t, <-waited)
	require.Equal(t, []string{"onetwo"}, e.Said(turn.ID, sessions.ItemAssistant))
	for _, n := range e.All() {
		require.NotEqual(t, "log/message", n.Method, n.Message)
	}
	world.Audit(t, e.All())
}

// TestALineIsStoppedBeforeItIsServed stops an editor's line while it waits for the daemon's first answer. The line must not
// blame the daemon for that time.
func TestALineIsStoppedBeforeItIsServed(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Hostile = true // the test plays the daemon
	l, err := net.Listen("unix", w.Socket())
	require.NoError(t, err)
	defer l.Close()
	w.Put("../d.sock.lock", "1\nserving\n")
	line, conn := w.Stdio("cursord")
	e := w.EditorOn(conn)
	daemon, err := l.Accept()
	require.NoError(t, err)
	from := rpc.NewFrameReader(daemon, rpc.HardCap)
	next := func() (rpc.Message, error) {
		for {
			body, err := from.Read()
			if err != nil {
				return rpc.Message{}, err
			}
			m, bad := rpc.ParseMessage(body)
			require.Nil(t, bad)
			if m.Method != join.AliveMethod { // sent when the machine is too busy for this test to answer at once
				return m, nil
			}
		}
	}
	answers := func(method string) {
		m, err := next()
		require.NoError(t, err)
		require.Equal(t, method, m.Method)
		_, err = daemon.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, rpc.AppendResponse(nil, m.ID, []byte("{}"), nil)))
		require.NoError(t, err)
	}
	freeze(t, line.Process.Pid)
	<-time.After(dial.SilentLimit + dial.SilentLimit/2 + dial.SilentLimit/4) // the pause under test
	require.NoError(t, syscall.Kill(line.Process.Pid, syscall.SIGCONT))
	e.Must("initialize", world.Obj{}, nil)
	answers("daemon/join")
	answers("initialize")
	asked := make(chan error, 1)
	go func() { asked <- e.Call("daemon/status", nil, nil) }()
	answers("daemon/status")
	require.NoError(t, <-asked)
	for _, n := range e.All() {
		require.NotEqual(t, "log/message", n.Method, n.Message)
	}
	require.NoError(t, conn.Close())
	_, err = next()
	require.ErrorIs(t, err, io.EOF, "the line has seen its end before it sees the daemon's")
	require.NoError(t, daemon.Close())
	require.NoError(t, line.Wait())
}

// TestStoppedIsNotIdle stops an idle daemon for longer than it may be idle. Afterwards it must stay for more than half of
// its idle time.
func TestStoppedIsNotIdle(t *testing.T) {
	t.Parallel()
	const idle = 2 * time.Second
	w := world.New(t)
	w.Put("../config.toml", "idle_exit = \""+idle.String()+"\"\n")
	w.Args = []string{"--detached"}
	w.Start()
	freeze(t, w.Cmd.Process.Pid)
	<-time.After(idle + idle/2) // the pause under test
	since := time.Now()
	require.NoError(t, syscall.Kill(w.Cmd.Process.Pid, syscall.SIGCONT))
	<-w.Ended
	require.Greater(t, time.Since(since), idle/2)
}

// TestTimesThatAreNotNow: agents and people write files with times in the future and in the distant past.
func TestTimesThatAreNotNow(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]func(now time.Time) time.Time{
		"tomorrow":         func(now time.Time) time.Time { return now.Add(24 * time.Hour) },
		"in a century":     func(now time.Time) time.Time { return now.AddDate(100, 0, 0) },
		"at the epoch":     func(time.Time) time.Time { return time.Unix(0, 0) },
		"before the epoch": func(time.Time) time.Time { return time.Unix(-1e9, 0) },
		"a moment ahead":   func(now time.Time) time.Time { return now.Add(20 * time.Second) }, // more than a busy machine takes
	} {
		for _, repo := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", git"}[repo], func(t *testing.T) {
				w, at := world.New(t), since(time.Now())
				v := world.Numbered(20, nil)
				dated := func(text string, names ...string) {
					for _, f := range names {
						w.Put("../saved", text)
						require.NoError(t, os.Chtimes(w.Path("../saved"), at, at))
						require.NoError(t, os.Rename(w.Path("../saved"), w.Path(f)))
					}
				}
				dated(v, "edited", "shell", "clean")
				if repo {
					w.Commits()
				}
				after := world.Numbered(20, map[int]string{5: "agent 5\n"})
				touch := fmt.Sprint("touch -d @", at.Unix())
				w.Plays(world.Lines(world.Edits("e", "edited", v, after), world.Shells("s", "sed -i 's/^line 5$/agent 5/' shell; "+touch+" shell edited"))...)
				w.Start()
				e := w.Opens()
				e.Turn(nil)
				require.Equal(t, []string{"edited", "shell"}, world.Sorted(world.Keys(e.Diffs())))

				mark := len(e.All())
				mine := "mine\n" + after
				dated(mine, "edited", "shell")
				e.DiffOf("edited", mark, "what was typed", func(d *sessions.Diff) bool { return len(d.Hunks) == 1 && d.Hunks[0].NewStart == 3 })
				e.Decides("diff/reject", world.Obj{"path": "edited"})
				e.Decides("diff/reject", world.Obj{"path": "shell"})
				w.RequireTree(world.Tree{"edited": "mine\n" + v, "shell": "mine\n" + v, "clean": v})
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				w.RequireTree(world.Tree{"edited": "mine\n" + v, "shell": mine})
				dated(mine, "shell")
				e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
				w.RequireTree(world.Tree{"shell": "mine\n" + v})
			})
		}
	}
}

// TestAChangeAheadOfTheClock: a person's change of a file under review is dated an hour ahead, as after the clock was set
// back. The daemon notices it while an agent runs, and the file can be decided.
func TestAChangeAheadOfTheClock(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
	w.Put("d/f", before)
	w.Put("d2/f", "mine\n"+after)
	disk := filepath.Join(w.Dir, "disk")
	ahead := fmt.Sprint("set_inode_field /d2/f ctime @", time.Now().Add(time.Hour).Unix())
	for _, args := range [][]string{
		{"mkfs.ext4", "-q", "-d", w.Root, disk, "4M"}, {"debugfs", "-w", "-R", ahead, disk}, {"mount", "-o", "loop", disk, w.Root},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no disk can be made here: %v: %s", err, out)
		}
	}
	t.Cleanup(func() {
		w.Kill()
		require.NoError(t, exec.Command("umount", "-l", w.Root).Run())
	})
	info, err := os.Stat(w.Path("d2/f"))
	require.NoError(t, err)
	require.Greater(t, info.Sys().(*syscall.Stat_t).Ctim.Sec, time.Now().Add(time.Minute).Unix())
	w.Plays(world.Lines(world.Edits("c", "d/f", before, after))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	w.Plays(world.InitLine, world.Piece("here"), world.Waits("go"), world.Succeeds(""))
	turn := e.Asks(nil)
	e.Says("here")
	mark := len(e.All())
	require.NoError(t, os.Rename(w.Path("d"), w.Path("old")))
	require.NoError(t, os.Rename(w.Path("d2"), w.Path("d")))
	e.DiffOf("d/f", mark, "what was typed", func(d *sessions.Diff) bool { return len(d.Hunks) == 1 && d.Hunks[0].NewStart == 3 })
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"d/f": "mine\n" + before})
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
}

// TestStoredTimesAheadOfTheClock: the database has sessions that are newer than now, as after the clock was set back. Each
// is listed once, can go on, and is kept.
func TestStoredTimesAheadOfTheClock(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "keep_age = \"90d\"\n")
	w.Start()
	e := w.Opens()
	now := time.Now()
	var want []string
	for id, at := range map[string]time.Time{"ahead": now.AddDate(1, 0, 0), "further": now.AddDate(200, 0, 0), "past": now.Add(-time.Hour), "same": now.AddDate(1, 0, 0)} {
		e.Must("session/import", world.Obj{"path": w.Exported(id, at, 10), "workspace": w.Root}, nil)
		want = append(want, id)
	}
	pages := func() (ids []string) {
		params := world.Obj{"workspace": w.Root, "limit": 1}
		for {
			var page struct {
				Sessions []*sessions.Session
				Next     string `json:"nextCursor"`
			}
			e.Must("session/list", params, &page)
			for _, s := range page.Sessions {
				ids = append(ids, s.ID)
			}
			if page.Next == "" {
				return ids
			}
			params["cursor"] = page.Next
		}
	}
	require.ElementsMatch(t, want, pages())
	w.Plays(world.InitLine, world.Piece("now"), world.Succeeds(""))
	turn := e.Turn(world.Obj{"sessionId": "ahead", "recap": true})
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	w.CursordOK("gc")
	require.ElementsMatch(t, want, pages())
	w.Stop()
	w.Start()
	e = w.Opens()
	require.ElementsMatch(t, want, pages())
	var read struct{ Turns []*sessions.Turn }
	e.Must("session/read", world.Obj{"sessionId": "ahead"}, &read)
	require.Len(t, read.Turns, 2)
	require.Equal(t, turn.ID, read.Turns[1].ID, "in the order in which they came")
}

// TestNothingCanBeWatched: the system has no watches left. The daemon warns, and notices changes all the same.
func TestNothingCanBeWatched(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]string{"no watchers": "echo 0 >/proc/sys/user/max_inotify_instances", "few watches": "echo 1 >/proc/sys/user/max_inotify_watches"} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.Limits(t, limit)
			before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
			w.Put("a/f", before)
			w.Plays(world.Lines(world.Edits("c", "a/f", before, after))...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			e.Message("warning", "every other second")
			require.Len(t, e.Status().Watching.Polling, 1)
			mark := len(e.All())
			w.Put("a/f", "mine\n"+after)
			e.DiffOf("a/f", mark, "what was typed", func(d *sessions.Diff) bool { return len(d.Hunks) == 1 && d.Hunks[0].NewStart == 3 })
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"a/f": "mine\n" + before})
			require.True(t, world.Comes(world.Patience, func() bool { return len(e.Status().Watching.Polling) == 0 }), "nothing is pending")
		})
	}
}
