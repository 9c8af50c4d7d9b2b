//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestCommitsFail has the disk fail in the middle of a turn: the turn goes on, clients are told, nothing else is begun,
// and what happened is stored once that is possible.
func TestCommitsFail(t *testing.T) {
	t.Parallel()
	w := New(t)
	plan := filepath.Join(w.Dir, "commits")
	w.Put("../commits", "")
	w.Put("a.txt", "old\n")
	w.Start(undertest.CommitFault + "=" + plan)
	e := w.Opens()
	write := Writes("a.txt", "new\n")
	w.Plays(append([]string{InitLine, Piece("before"), Waits("go1"), Piece("meanwhile"), Waits("go2")}, write[1:]...)...)
	turn := e.Asks(nil)
	e.Says("before")
	w.Put("../commits", "EIO")
	w.Put("../go1", "")
	e.Says("meanwhile")
	e.Message("error", "the database takes no changes")
	late := w.OpensWithoutTrust()
	late.Message("error", "the database takes no changes")
	refused := e.Fails("turn/start", Obj{"workspace": w.Root, "prompt": "another"})
	require.Equal(t, -32020, refused.Code)
	require.Equal(t, -32020, e.Fails("daemon/gc", Obj{}).Code)
	var status api.Status
	e.Must("daemon/status", nil, &status)
	require.Contains(t, status.Storage.Trouble, "input/output error")
	require.Positive(t, status.Storage.Waiting)
	require.Contains(t, w.CursordOK("status"), "takes no changes: ")
	w.Put("../go2", "")
	require.Eventually(t, func() bool { return w.Get("a.txt") == "new\n" }, Patience, Patience/1000)
	w.Put("../commits", "")
	e.Message("info", "takes changes again")
	late.Message("info", "takes changes again")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Equal(t, []string{"beforemeanwhile"}, e.Said(turn.ID, sessions.ItemAssistant))
	require.Len(t, e.Diffs(), 1)
	status = api.Status{}
	e.Must("daemon/status", nil, &status)
	require.Empty(t, status.Storage.Trouble)
	last := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, last.Status)
	Audit(t, e.All())
	w.Kill()
	w.Start(undertest.CommitFault + "=" + plan)
	again := w.Joins()
	again.Must("workspace/subscribe", Obj{"workspace": w.Root, "after": 0}, nil)
	again.Ends(last.ID)
	require.Equal(t, Newest(e.All()), Newest(again.All()))
}

// TestRoomIsSeenAtOnce makes room on a full disk, again and again, and asks for something at once: it is served.
func TestRoomIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Put("../commits", "")
	w.Put("a.txt", "old\n")
	w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
	e := w.Opens()
	w.Plays(Writes("a.txt", "new\n")...)
	first := e.Turn(nil)
	w.Plays(InitLine, Succeeds(""))
	for _, ask := range []struct {
		method string
		params Obj
	}{
		{"turn/start", Obj{"workspace": w.Root, "prompt": "another"}},
		{"session/create", Obj{"workspace": w.Root, "title": "another"}},
		{"session/update", Obj{"sessionId": first.SessionID, "title": "other"}},
		{"workspace/trust", Obj{"workspace": w.Root, "trusted": true}},
		{"diff/reject", Obj{"workspace": w.Root, "all": true}},
		{"diff/undo", Obj{"workspace": w.Root}},
		{"diff/redo", Obj{"workspace": w.Root}},
		{"daemon/gc", Obj{}},
	} {
		w.Put("../commits", "ENOSPC")
		// What fails for the first time waits, and is answered when that is known; then nothing is tried for a while.
		for range 6 {
			require.Equal(t, -32020, e.Fails("session/update", Obj{"sessionId": first.SessionID, "title": "full"}).Code)
		}
		require.Equal(t, -32020, e.Fails(ask.method, ask.params).Code)
		w.Put("../commits", "")
		e.Must(ask.method, ask.params, nil)
	}
	require.Equal(t, "old\n", w.Get("a.txt"))
}

// TestRunSaysWhyNothingIsStored has the disk fail while "cursord run" follows a turn, which does not end before it is stored.
func TestRunSaysWhyNothingIsStored(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Put("../commits", "")
	w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
	w.Plays(InitLine, Piece("all"), Waits("go"), Succeeds(""))
	run := exec.Command("cursord", "run", "--trust", "do it")
	run.Env, run.Dir = w.Env(), w.Root
	out, err := run.StdoutPipe()
	require.NoError(t, err)
	told, err := run.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	text := make([]byte, len("all"))
	_, err = io.ReadFull(out, text)
	require.NoError(t, err)
	w.Put("../commits", "EIO")
	w.Put("../go", "")
	lines := bufio.NewReader(told)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "cursord: the database takes no changes")
	w.Put("../commits", "")
	line, err = lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "takes changes again")
	require.NoError(t, run.Wait())
}

// OpensWithoutTrust connects an editor that subscribes to the workspace.
func (w *World) OpensWithoutTrust() *Editor {
	e := w.Joins()
	e.Must("workspace/subscribe", Obj{"workspace": w.Root}, nil)
	return e
}

// TestCommitsAreSlow has each commit take half a second: what the agent says comes before it is stored.
func TestCommitsAreSlow(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Put("../commits", "")
	w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
	e := w.Opens()
	w.Plays(InitLine, Piece("one"), Waits("go"), Piece("two"), Succeeds(""))
	turn := e.Asks(nil)
	e.Says("one")
	w.Put("../commits", "500ms")
	w.Put("../go", "")
	e.Says("two")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	w.Put("../commits", "")
	var status api.Status
	e.Must("daemon/status", nil, &status)
	require.GreaterOrEqual(t, status.Lag.CommitMS.Worst, 500.0)
	require.Empty(t, status.Storage.Trouble)
	Audit(t, e.All())
}

// Mounted mounts a small disk of its own at a folder, until the test ends.
func Mounted(t *testing.T, dir, size string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
}

// TestFullDisk fills the disk that the database is on in the middle of a turn, and makes room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := New(t)
	Mounted(t, filepath.Join(w.Dir, "state"), "8m")
	t.Cleanup(w.Kill) // before the disk goes
	w.Start()
	e := w.Opens()
	long := strings.Repeat("0123456789abcdef", 16<<10)
	w.Plays(InitLine, Piece("before"), Waits("go1"), Piece(long), Piece("meanwhile"), Waits("go2"), Succeeds(""))
	turn := e.Asks(nil)
	e.Says("before")
	filler := w.fillsDisk()
	w.Put("../go1", "")
	e.Message("error", "no space left")
	require.Equal(t, -32020, e.Fails("turn/start", Obj{"workspace": w.Root, "prompt": "another"}).Code)
	doctor, _, code := w.Cursord("doctor")
	require.Equal(t, 1, code)
	require.Contains(t, doctor, "problem: the database takes no changes: ")
	_, says, code := w.Cursord("backup", filepath.Join(w.Dir, "state", "b.db"))
	require.Equal(t, 1, code)
	require.Contains(t, says, "no space left")
	require.NoFileExists(t, filepath.Join(w.Dir, "state", "b.db.partial"))
	require.NoError(t, os.Remove(filler))
	e.Message("info", "takes changes again")
	w.Put("../go2", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Equal(t, []string{"before" + long + "meanwhile"}, e.Said(turn.ID, sessions.ItemAssistant))
	Audit(t, e.All())
	w.Kill()
	w.Start()
	again := w.Joins()
	again.Must("workspace/subscribe", Obj{"workspace": w.Root, "after": 0}, nil)
	require.Equal(t, sessions.TurnCompleted, again.Ends(turn.ID).Status)
}

// TestReadOnlyState has the daemon say why it cannot start, to its clients too.
func TestReadOnlyState(t *testing.T) {
	t.Parallel()
	w := New(t)
	state := filepath.Join(w.Dir, "state")
	Mounted(t, state, "20m")
	w.Start()
	w.Stop()
	require.NoError(t, unix.Mount("", state, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	for _, args := range [][]string{{"status"}, {"serve"}} {
		_, says, code := w.Cursord(args...)
		require.Equal(t, 1, code, "%v", args)
		require.Contains(t, says, "read-only file system", "%v", args)
		require.Contains(t, says, "CURSORD_STATE_DIR", "%v", args)
	}
	require.NoError(t, unix.Mount("", state, "", unix.MS_REMOUNT, ""))
	w.Start()
}

// Shell is a command that runs another in its place, after something that a shell does.
func Shell(first string) []string { return []string{"sh", "-c", first + ` && exec "$@"`, "sh"} }

// TestFewDescriptors lets clients take all descriptors that the daemon has: who is there is served on, turns end with
// words or as they should, and all is well when the clients have gone.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Within = Shell("ulimit -n 48")
	w.Put("a.txt", "old\n")
	w.Start()
	e := w.Opens()
	var crowd []net.Conn
	for range 80 {
		c, err := net.Dial("unix", w.Socket())
		require.NoError(t, err)
		crowd = append(crowd, c)
	}
	w.Plays(Writes("a.txt", "new\n")...)
	for range 3 {
		turn := e.Turn(nil)
		if turn.Status != sessions.TurnCompleted {
			require.Equal(t, sessions.TurnFailed, turn.Status)
			require.NotEmpty(t, turn.Error.Message)
		}
	}
	for _, c := range crowd {
		require.NoError(t, c.Close())
	}
	for turn := e.Turn(nil); turn.Status != sessions.TurnCompleted; turn = e.Turn(nil) {
		require.Contains(t, turn.Error.Message, "too many open files") // of a connection that is not seen to be closed yet
	}
	w.Joins().Must("workspace/list", nil, nil)
	Audit(t, e.All())
}

// TestManyQueued queues 200 turns: they are cancelled, interrupted and run, each with one end.
func TestManyQueued(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	e := w.Opens()
	w.Plays(InitLine, Waits("go"), Succeeds(""))
	queue := func(n int) (ids []string) {
		for range n {
			ids = append(ids, e.Asks(nil).ID)
		}
		return ids
	}
	first := queue(200)
	var status api.Status
	e.Must("daemon/status", nil, &status)
	require.Equal(t, api.TurnCounts{Running: 1, Queued: 199}, status.Turns)
	for _, id := range first[10:] {
		e.Must("turn/cancel", Obj{"turnId": id}, nil)
	}
	for _, id := range first[10:] {
		require.Equal(t, sessions.TurnCancelled, e.Ends(id).Status)
	}
	w.Put("../go", "")
	for _, id := range first[:10] {
		require.Equal(t, sessions.TurnCompleted, e.Ends(id).Status)
	}
	require.NoError(t, os.Remove(w.Path("../go")))
	second := queue(200)
	w.Kill()
	w.Start()
	e = w.Joins()
	e.Must("workspace/subscribe", Obj{"workspace": w.Root, "after": 0}, nil)
	for _, id := range second {
		require.Equal(t, sessions.TurnInterrupted, e.Ends(id).Status)
	}
	Audit(t, e.All())
}

// TestWorkspaceGoesDuringATurn deletes or moves a workspace while a turn runs in it, and mounts something over it.
func TestWorkspaceGoesDuringATurn(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(t *testing.T, w *World){
		"deleted": func(t *testing.T, w *World) { require.NoError(t, os.RemoveAll(w.Root)) },
		"moved":   func(t *testing.T, w *World) { require.NoError(t, os.Rename(w.Root, w.Root+"2")) },
		"replaced": func(t *testing.T, w *World) {
			require.NoError(t, os.Rename(w.Root, w.Root+"2"))
			require.NoError(t, os.Mkdir(w.Root, 0o755))
		},
		"mounted over": func(t *testing.T, w *World) { Mounted(t, w.Root, "1m") },
	} {
		t.Run(name, func(t *testing.T) {
			w := New(t)
			t.Cleanup(w.Kill)
			w.Put("a.txt", "old\n")
			w.Put("b.txt", "old\n")
			w.Start()
			e := w.Opens()
			write := Writes("a.txt", "new\n")
			w.Plays(append(write[:len(write)-1:len(write)-1], Piece("now"), fmt.Sprintf(`{"fake":"wait","path":%q}`, filepath.Join(w.Dir, "go")), Piece("later"), Succeeds(""))...)
			turn := e.Asks(nil)
			e.Says("now")
			away(t, w)
			require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "go"), nil, 0o644))
			ended := e.Ends(turn.ID)
			require.True(t, ended.Status.Final())
			var list struct{ Diffs []*sessions.Diff }
			_ = e.Call("diff/list", Obj{"workspace": w.Root}, &list) // an error or what is left, but an answer
			// What is elsewhere does not notice.
			other := filepath.Join(w.Dir, "other")
			require.NoError(t, os.Mkdir(other, 0o755))
			e.Must("workspace/trust", Obj{"workspace": other, "trusted": true}, nil)
			w.Plays(InitLine, Succeeds(""))
			next := e.Asks(Obj{"workspace": other})
			var done struct{ Turn *sessions.Turn }
			e.Must("turn/wait", Obj{"turnId": next.ID}, &done)
			require.Equal(t, sessions.TurnCompleted, done.Turn.Status)
			e.Must("session/read", Obj{"sessionId": turn.SessionID}, nil)
			Audit(t, e.All())
			w.Stop()
			w.Start()
			w.Joins().Must("session/list", Obj{}, nil)
		})
	}
}

// fillsDisk fills the disk that the database is on, and returns what it is full of.
func (w *World) fillsDisk() string {
	w.T.Helper()
	filler := filepath.Join(w.Dir, "state", "filler")
	f, err := os.Create(filler)
	require.NoError(w.T, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(w.T, err, syscall.ENOSPC)
	require.NoError(w.T, f.Close())
	return filler
}

// TestEndOnAFullDisk ends a daemon whose disk is full while a turn runs: it ends within 10 s, also where the agent takes no
// signal, and says what it could not store; the next daemon has all that was stored, and each turn has an end.
func TestEndOnAFullDisk(t *testing.T) {
	t.Parallel()
	const limit = 10 * time.Second // a promise
	long := strings.Repeat("0123456789abcdef", 16<<10)
	for name, c := range map[string]struct {
		agent []string
		ends  func(w *World) string // returns what is said
	}{
		"a signal": {[]string{`{"fake":"hang"}`}, func(w *World) string {
			w.Stop()
			return w.Log.String()
		}},
		"a signal and a deaf agent": {[]string{`{"fake":"ignore-signals"}`, `{"fake":"hang"}`}, func(w *World) string {
			w.Stop()
			return w.Log.String()
		}},
		"cursord stop": {[]string{`{"fake":"hang"}`}, func(w *World) string {
			_, says, status := w.Cursord("stop", "--force")
			require.Zero(w.T, status, says)
			<-w.Ended
			w.Cmd = nil
			require.Contains(w.T, w.Log.String(), "not stored when the daemon ended: 1 session, 1 turn, ")
			return says
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(t)
			Mounted(t, filepath.Join(w.Dir, "state"), "8m")
			t.Cleanup(w.Kill) // before the disk goes
			w.Start()
			e := w.Opens()
			w.Plays(append([]string{InitLine, Piece("before"), Waits("go"), Piece(long)}, c.agent...)...)
			turn := e.Asks(nil)
			e.Says("before")
			filler := w.fillsDisk()
			w.Put("../go", "")
			e.Message("error", "no space left")
			began := time.Now()
			says := c.ends(w)
			require.Less(t, time.Since(began), limit)
			require.Contains(t, says, "no space left for the database")
			require.Regexp(t, `(not stored when the daemon ended: |the daemon ends and cannot store )1 session, 1 turn, \d items?: `, says)
			require.NoError(t, os.Remove(filler))
			w.Start()
			again := w.Joins()
			again.Must("workspace/subscribe", Obj{"workspace": w.Root, "after": 0}, nil)
			require.Equal(t, sessions.TurnInterrupted, again.Ends(turn.ID).Status)
		})
	}
}

// TestLittleAddressSpace starts a daemon that may not map as much as it would.
func TestLittleAddressSpace(t *testing.T) {
	t.Parallel()
	if RaceDetector {
		t.Skip("the race detector needs more")
	}
	w := New(t)
	w.Within = []string{"sh", "-c", `ulimit -v 2621440 && exec "$@"`, "sh"}
	w.Start()
	e := w.Opens()
	w.Plays(InitLine, Piece(strings.Repeat("0123456789abcdef", 64<<10)), Succeeds(""))
	for range 3 {
		require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	}
	Audit(t, e.All())
}

// TestStatusTellsMemory has the status say what memory the daemon takes at present, as the system sees it.
func TestStatusTellsMemory(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	e := w.Opens()
	require.Eventually(t, func() bool {
		var status api.Status
		e.Must("daemon/status", nil, &status)
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", status.PID))
		require.NoError(t, err)
		_, line, _ := strings.Cut(string(b), "VmRSS:")
		var kb uint64
		_, err = fmt.Sscan(line, &kb)
		require.NoError(t, err)
		return status.MemoryBytes > kb<<10*9/10 && status.MemoryBytes < kb<<10*11/10
	}, Patience, Patience/1000)
}
