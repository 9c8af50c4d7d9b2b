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
	w := newWorld(t)
	plan := filepath.Join(w.dir, "commits")
	w.put("../commits", "")
	w.put("a.txt", "old\n")
	w.start(undertest.CommitFault + "=" + plan)
	e := w.opens()
	write := writes("a.txt", "new\n")
	w.plays(append([]string{initLine, piece("before"), waits("go1"), piece("meanwhile"), waits("go2")}, write[1:]...)...)
	turn := e.asks(nil)
	e.says("before")
	w.put("../commits", "EIO")
	w.put("../go1", "")
	e.says("meanwhile")
	e.message("error", "the database takes no changes")
	late := w.opensWithoutTrust()
	late.message("error", "the database takes no changes")
	refused := e.fails("turn/start", obj{"workspace": w.ws, "prompt": "another"})
	require.Equal(t, -32020, refused.Code)
	require.Equal(t, -32020, e.fails("daemon/gc", obj{}).Code)
	var status api.Status
	e.must("daemon/status", nil, &status)
	require.Contains(t, status.Storage.Trouble, "input/output error")
	require.Positive(t, status.Storage.Waiting)
	require.Contains(t, w.cursordOK("status"), "takes no changes: ")
	w.put("../go2", "")
	require.Eventually(t, func() bool { return w.get("a.txt") == "new\n" }, patience, patience/1000)
	w.put("../commits", "")
	e.message("info", "takes changes again")
	late.message("info", "takes changes again")
	require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
	require.Equal(t, []string{"beforemeanwhile"}, e.said(turn.ID, sessions.ItemAssistant))
	require.Len(t, e.diffs(), 1)
	status = api.Status{}
	e.must("daemon/status", nil, &status)
	require.Empty(t, status.Storage.Trouble)
	last := e.turn(nil)
	require.Equal(t, sessions.TurnCompleted, last.Status)
	audit(t, e.all())
	w.kill()
	w.start(undertest.CommitFault + "=" + plan)
	again := w.joins()
	again.must("workspace/subscribe", obj{"workspace": w.ws, "after": 0}, nil)
	again.ends(last.ID)
	require.Equal(t, newest(e.all()), newest(again.all()))
}

// TestRoomIsSeenAtOnce makes room on a full disk, again and again, and asks for something at once: it is served.
func TestRoomIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../commits", "")
	w.put("a.txt", "old\n")
	w.start(undertest.CommitFault + "=" + filepath.Join(w.dir, "commits"))
	e := w.opens()
	w.plays(writes("a.txt", "new\n")...)
	first := e.turn(nil)
	w.plays(initLine, succeeds(""))
	for _, ask := range []struct {
		method string
		params obj
	}{
		{"turn/start", obj{"workspace": w.ws, "prompt": "another"}},
		{"session/create", obj{"workspace": w.ws, "title": "another"}},
		{"session/update", obj{"sessionId": first.SessionID, "title": "other"}},
		{"workspace/trust", obj{"workspace": w.ws, "trusted": true}},
		{"diff/reject", obj{"workspace": w.ws, "all": true}},
		{"diff/undo", obj{"workspace": w.ws}},
		{"diff/redo", obj{"workspace": w.ws}},
		{"daemon/gc", obj{}},
	} {
		w.put("../commits", "ENOSPC")
		// What fails for the first time waits, and is answered when that is known; then nothing is tried for a while.
		for range 6 {
			require.Equal(t, -32020, e.fails("session/update", obj{"sessionId": first.SessionID, "title": "full"}).Code)
		}
		require.Equal(t, -32020, e.fails(ask.method, ask.params).Code)
		w.put("../commits", "")
		e.must(ask.method, ask.params, nil)
	}
	require.Equal(t, "old\n", w.get("a.txt"))
}

// TestRunSaysWhyNothingIsStored has the disk fail while "cursord run" follows a turn, which does not end before it is stored.
func TestRunSaysWhyNothingIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../commits", "")
	w.start(undertest.CommitFault + "=" + filepath.Join(w.dir, "commits"))
	w.plays(initLine, piece("all"), waits("go"), succeeds(""))
	run := exec.Command("cursord", "run", "--trust", "do it")
	run.Env, run.Dir = w.env(), w.ws
	out, err := run.StdoutPipe()
	require.NoError(t, err)
	told, err := run.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	text := make([]byte, len("all"))
	_, err = io.ReadFull(out, text)
	require.NoError(t, err)
	w.put("../commits", "EIO")
	w.put("../go", "")
	lines := bufio.NewReader(told)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "cursord: the database takes no changes")
	w.put("../commits", "")
	line, err = lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "takes changes again")
	require.NoError(t, run.Wait())
}

// opensWithoutTrust connects an editor that subscribes to the workspace.
func (w *world) opensWithoutTrust() *editor {
	e := w.joins()
	e.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	return e
}

// TestCommitsAreSlow has each commit take half a second: what the agent says comes before it is stored.
func TestCommitsAreSlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../commits", "")
	w.start(undertest.CommitFault + "=" + filepath.Join(w.dir, "commits"))
	e := w.opens()
	w.plays(initLine, piece("one"), waits("go"), piece("two"), succeeds(""))
	turn := e.asks(nil)
	e.says("one")
	w.put("../commits", "500ms")
	w.put("../go", "")
	e.says("two")
	require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
	w.put("../commits", "")
	var status api.Status
	e.must("daemon/status", nil, &status)
	require.GreaterOrEqual(t, status.Lag.CommitMS.Worst, 500.0)
	require.Empty(t, status.Storage.Trouble)
	audit(t, e.all())
}

// mounted mounts a small disk of its own at a folder, until the test ends.
func mounted(t *testing.T, dir, size string) {
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
	w := newWorld(t)
	mounted(t, filepath.Join(w.dir, "state"), "8m")
	t.Cleanup(w.kill) // before the disk goes
	w.start()
	e := w.opens()
	long := strings.Repeat("0123456789abcdef", 16<<10)
	w.plays(initLine, piece("before"), waits("go1"), piece(long), piece("meanwhile"), waits("go2"), succeeds(""))
	turn := e.asks(nil)
	e.says("before")
	filler := w.fillsDisk()
	w.put("../go1", "")
	e.message("error", "no space left")
	require.Equal(t, -32020, e.fails("turn/start", obj{"workspace": w.ws, "prompt": "another"}).Code)
	doctor, _, code := w.cursord("doctor")
	require.Equal(t, 1, code)
	require.Contains(t, doctor, "problem: the database takes no changes: ")
	_, says, code := w.cursord("backup", filepath.Join(w.dir, "state", "b.db"))
	require.Equal(t, 1, code)
	require.Contains(t, says, "no space left")
	require.NoFileExists(t, filepath.Join(w.dir, "state", "b.db.partial"))
	require.NoError(t, os.Remove(filler))
	e.message("info", "takes changes again")
	w.put("../go2", "")
	require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
	require.Equal(t, []string{"before" + long + "meanwhile"}, e.said(turn.ID, sessions.ItemAssistant))
	audit(t, e.all())
	w.kill()
	w.start()
	again := w.joins()
	again.must("workspace/subscribe", obj{"workspace": w.ws, "after": 0}, nil)
	require.Equal(t, sessions.TurnCompleted, again.ends(turn.ID).Status)
}

// TestReadOnlyState has the daemon say why it cannot start, to its clients too.
func TestReadOnlyState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := filepath.Join(w.dir, "state")
	mounted(t, state, "20m")
	w.start()
	w.stop()
	require.NoError(t, unix.Mount("", state, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	for _, args := range [][]string{{"status"}, {"serve"}} {
		_, says, code := w.cursord(args...)
		require.Equal(t, 1, code, "%v", args)
		require.Contains(t, says, "read-only file system", "%v", args)
		require.Contains(t, says, "CURSORD_STATE_DIR", "%v", args)
	}
	require.NoError(t, unix.Mount("", state, "", unix.MS_REMOUNT, ""))
	w.start()
}

// shell is a command that runs another in its place, after something that a shell does.
func shell(first string) []string { return []string{"sh", "-c", first + ` && exec "$@"`, "sh"} }

// TestFewDescriptors lets clients take all descriptors that the daemon has: who is there is served on, turns end with
// words or as they should, and all is well when the clients have gone.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.within = shell("ulimit -n 48")
	w.put("a.txt", "old\n")
	w.start()
	e := w.opens()
	var crowd []net.Conn
	for range 80 {
		c, err := net.Dial("unix", w.socket())
		require.NoError(t, err)
		crowd = append(crowd, c)
	}
	w.plays(writes("a.txt", "new\n")...)
	for range 3 {
		turn := e.turn(nil)
		if turn.Status != sessions.TurnCompleted {
			require.Equal(t, sessions.TurnFailed, turn.Status)
			require.NotEmpty(t, turn.Error.Message)
		}
	}
	for _, c := range crowd {
		require.NoError(t, c.Close())
	}
	for turn := e.turn(nil); turn.Status != sessions.TurnCompleted; turn = e.turn(nil) {
		require.Contains(t, turn.Error.Message, "too many open files") // of a connection that is not seen to be closed yet
	}
	w.joins().must("workspace/list", nil, nil)
	audit(t, e.all())
}

// TestManyQueued queues 200 turns: they are cancelled, interrupted and run, each with one end.
func TestManyQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	w.plays(initLine, waits("go"), succeeds(""))
	queue := func(n int) (ids []string) {
		for range n {
			ids = append(ids, e.asks(nil).ID)
		}
		return ids
	}
	first := queue(200)
	var status api.Status
	e.must("daemon/status", nil, &status)
	require.Equal(t, api.TurnCounts{Running: 1, Queued: 199}, status.Turns)
	for _, id := range first[10:] {
		e.must("turn/cancel", obj{"turnId": id}, nil)
	}
	for _, id := range first[10:] {
		require.Equal(t, sessions.TurnCancelled, e.ends(id).Status)
	}
	w.put("../go", "")
	for _, id := range first[:10] {
		require.Equal(t, sessions.TurnCompleted, e.ends(id).Status)
	}
	require.NoError(t, os.Remove(w.path("../go")))
	second := queue(200)
	w.kill()
	w.start()
	e = w.joins()
	e.must("workspace/subscribe", obj{"workspace": w.ws, "after": 0}, nil)
	for _, id := range second {
		require.Equal(t, sessions.TurnInterrupted, e.ends(id).Status)
	}
	audit(t, e.all())
}

// TestWorkspaceGoesDuringATurn deletes or moves a workspace while a turn runs in it, and mounts something over it.
func TestWorkspaceGoesDuringATurn(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(t *testing.T, w *world){
		"deleted": func(t *testing.T, w *world) { require.NoError(t, os.RemoveAll(w.ws)) },
		"moved":   func(t *testing.T, w *world) { require.NoError(t, os.Rename(w.ws, w.ws+"2")) },
		"replaced": func(t *testing.T, w *world) {
			require.NoError(t, os.Rename(w.ws, w.ws+"2"))
			require.NoError(t, os.Mkdir(w.ws, 0o755))
		},
		"mounted over": func(t *testing.T, w *world) { mounted(t, w.ws, "1m") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			t.Cleanup(w.kill)
			w.put("a.txt", "old\n")
			w.put("b.txt", "old\n")
			w.start()
			e := w.opens()
			write := writes("a.txt", "new\n")
			w.plays(append(write[:len(write)-1:len(write)-1], piece("now"), fmt.Sprintf(`{"fake":"wait","path":%q}`, filepath.Join(w.dir, "go")), piece("later"), succeeds(""))...)
			turn := e.asks(nil)
			e.says("now")
			away(t, w)
			require.NoError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o644))
			ended := e.ends(turn.ID)
			require.True(t, ended.Status.Final())
			var list struct{ Diffs []*sessions.Diff }
			_ = e.call("diff/list", obj{"workspace": w.ws}, &list) // an error or what is left, but an answer
			// What is elsewhere does not notice.
			other := filepath.Join(w.dir, "other")
			require.NoError(t, os.Mkdir(other, 0o755))
			e.must("workspace/trust", obj{"workspace": other, "trusted": true}, nil)
			w.plays(initLine, succeeds(""))
			next := e.asks(obj{"workspace": other})
			var done struct{ Turn *sessions.Turn }
			e.must("turn/wait", obj{"turnId": next.ID}, &done)
			require.Equal(t, sessions.TurnCompleted, done.Turn.Status)
			e.must("session/read", obj{"sessionId": turn.SessionID}, nil)
			audit(t, e.all())
			w.stop()
			w.start()
			w.joins().must("session/list", obj{}, nil)
		})
	}
}

// fillsDisk fills the disk that the database is on, and returns what it is full of.
func (w *world) fillsDisk() string {
	w.t.Helper()
	filler := filepath.Join(w.dir, "state", "filler")
	f, err := os.Create(filler)
	require.NoError(w.t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(w.t, err, syscall.ENOSPC)
	require.NoError(w.t, f.Close())
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
		ends  func(w *world) string // returns what is said
	}{
		"a signal": {[]string{`{"fake":"hang"}`}, func(w *world) string {
			w.stop()
			return w.log.String()
		}},
		"a signal and a deaf agent": {[]string{`{"fake":"ignore-signals"}`, `{"fake":"hang"}`}, func(w *world) string {
			w.stop()
			return w.log.String()
		}},
		"cursord stop": {[]string{`{"fake":"hang"}`}, func(w *world) string {
			_, says, status := w.cursord("stop", "--force")
			require.Zero(w.t, status, says)
			<-w.ended
			w.cmd = nil
			require.Contains(w.t, w.log.String(), "not stored when the daemon ended: 1 session, 1 turn, ")
			return says
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mounted(t, filepath.Join(w.dir, "state"), "8m")
			t.Cleanup(w.kill) // before the disk goes
			w.start()
			e := w.opens()
			w.plays(append([]string{initLine, piece("before"), waits("go"), piece(long)}, c.agent...)...)
			turn := e.asks(nil)
			e.says("before")
			filler := w.fillsDisk()
			w.put("../go", "")
			e.message("error", "no space left")
			began := time.Now()
			says := c.ends(w)
			require.Less(t, time.Since(began), limit)
			require.Contains(t, says, "no space left for the database")
			require.Regexp(t, `(not stored when the daemon ended: |the daemon ends and cannot store )1 session, 1 turn, \d items?: `, says)
			require.NoError(t, os.Remove(filler))
			w.start()
			again := w.joins()
			again.must("workspace/subscribe", obj{"workspace": w.ws, "after": 0}, nil)
			require.Equal(t, sessions.TurnInterrupted, again.ends(turn.ID).Status)
		})
	}
}

// TestLittleAddressSpace starts a daemon that may not map as much as it would.
func TestLittleAddressSpace(t *testing.T) {
	t.Parallel()
	if raceDetector {
		t.Skip("the race detector needs more")
	}
	w := newWorld(t)
	w.within = []string{"sh", "-c", `ulimit -v 2621440 && exec "$@"`, "sh"}
	w.start()
	e := w.opens()
	w.plays(initLine, piece(strings.Repeat("0123456789abcdef", 64<<10)), succeeds(""))
	for range 3 {
		require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
	}
	audit(t, e.all())
}

// TestStatusTellsMemory has the status say what memory the daemon takes at present, as the system sees it.
func TestStatusTellsMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	require.Eventually(t, func() bool {
		var status api.Status
		e.must("daemon/status", nil, &status)
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", status.PID))
		require.NoError(t, err)
		_, line, _ := strings.Cut(string(b), "VmRSS:")
		var kb uint64
		_, err = fmt.Sscan(line, &kb)
		require.NoError(t, err)
		return status.MemoryBytes > kb<<10*9/10 && status.MemoryBytes < kb<<10*11/10
	}, patience, patience/1000)
}
