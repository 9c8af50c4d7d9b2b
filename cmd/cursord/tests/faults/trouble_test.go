//go:build linux

package faults

import (
	"bufio"
	"io"
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
	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestCommitsFail has the disk fail in the middle of a turn: the turn goes on, clients get a warning, nothing new begins,
// and everything is stored once that is possible.
func TestCommitsFail(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	plan := filepath.Join(w.Dir, "commits")
	w.Put("../commits", "")
	w.Put("a.txt", "old\n")
	w.Start(undertest.CommitFault + "=" + plan)
	e := w.Opens()
	write := world.Writes("a.txt", "new\n")
	w.Plays(append([]string{world.InitLine, world.Piece("before"), world.Waits("go1"), world.Piece("meanwhile"), world.Waits("go2")}, write[1:]...)...)
	turn := e.Asks(nil)
	e.Says("before")
	w.Put("../commits", "EIO")
	w.Put("../go1", "")
	e.Says("meanwhile")
	e.Message("error", "the database takes no changes")
	late := w.OpensWithoutTrust()
	late.Message("error", "the database takes no changes")
	refused := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "another"})
	require.Equal(t, -32020, refused.Code)
	require.Equal(t, -32020, e.Fails("daemon/gc", world.Obj{}).Code)
	var status api.Status
	e.Must("daemon/status", nil, &status)
	require.Contains(t, status.Storage.Trouble, "input/output error")
	require.Positive(t, status.Storage.Waiting)
	require.Contains(t, w.CursordOK("status"), "takes no changes: ")
	w.Put("../go2", "")
	require.Eventually(t, func() bool { return w.Get("a.txt") == "new\n" }, world.Patience, world.Patience/1000)
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
	world.Audit(t, e.All())
	w.Kill()
	w.Start(undertest.CommitFault + "=" + plan)
	again := w.Joins()
	again.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
	again.Ends(last.ID)
	require.Equal(t, world.Newest(e.All()), world.Newest(again.All()))
}

// TestRoomIsSeenAtOnce makes room on a full disk, again and again. The next request is served at once.
func TestRoomIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../commits", "")
	w.Put("a.txt", "old\n")
	w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
	e := w.Opens()
	w.Plays(world.Writes("a.txt", "new\n")...)
	first := e.Turn(nil)
	w.Plays(world.InitLine, world.Succeeds(""))
	for _, ask := range []struct {
		method string
		params world.Obj
	}{
		{"turn/start", world.Obj{"workspace": w.Root, "prompt": "another"}},
		{"session/create", world.Obj{"workspace": w.Root, "title": "another"}},
		{"session/update", world.Obj{"sessionId": first.SessionID, "title": "other"}},
		{"workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}},
		{"diff/reject", world.Obj{"workspace": w.Root, "all": true}},
		{"diff/undo", world.Obj{"workspace": w.Root}},
		{"diff/redo", world.Obj{"workspace": w.Root}},
		{"daemon/gc", world.Obj{}},
	} {
		w.Put("../commits", "ENOSPC")
		// The first commit that fails makes its request wait for the result. Later requests fail at once for a while.
		for range 6 {
			require.Equal(t, -32020, e.Fails("session/update", world.Obj{"sessionId": first.SessionID, "title": "full"}).Code)
		}
		require.Equal(t, -32020, e.Fails(ask.method, ask.params).Code)
		w.Put("../commits", "")
		e.Must(ask.method, ask.params, nil)
	}
	require.Equal(t, "old\n", w.Get("a.txt"))
}

// TestRunSaysWhyNothingIsStored has the disk fail while "cursord run" follows a turn. The turn does not end before it is
// stored.
func TestRunSaysWhyNothingIsStored(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../commits", "")
	w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
	w.Plays(world.InitLine, world.Piece("all"), world.Waits("go"), world.Succeeds(""))
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

// TestCommitsAreSlow has each commit take half a second: the agent's text reaches clients before it is stored.
func TestCommitsAreSlow(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../commits", "")
	w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
	e := w.Opens()
	w.Plays(world.InitLine, world.Piece("one"), world.Waits("go"), world.Piece("two"), world.Succeeds(""))
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
	world.Audit(t, e.All())
}

// TestFullDisk fills the database's disk in the middle of a turn, and makes room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	world.Mounted(t, filepath.Join(w.Dir, "state"), "8m")
	t.Cleanup(w.Kill) // before the disk is unmounted
	w.Start()
	e := w.Opens()
	long := strings.Repeat("0123456789abcdef", 16<<10)
	w.Plays(world.InitLine, world.Piece("before"), world.Waits("go1"), world.Piece(long), world.Piece("meanwhile"), world.Waits("go2"), world.Succeeds(""))
	turn := e.Asks(nil)
	e.Says("before")
	filler := fillsDisk(w)
	w.Put("../go1", "")
	e.Message("error", "no space left")
	require.Equal(t, -32020, e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "another"}).Code)
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
	world.Audit(t, e.All())
	w.Kill()
	w.Start()
	again := w.Joins()
	again.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
	require.Equal(t, sessions.TurnCompleted, again.Ends(turn.ID).Status)
}

// TestReadOnlyState: a daemon that cannot start says why, also to clients.
func TestReadOnlyState(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	state := filepath.Join(w.Dir, "state")
	world.Mounted(t, state, "20m")
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

// fillsDisk fills the database's disk and returns the file that fills it.
func fillsDisk(w *world.World) string {
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

// TestEndOnAFullDisk ends a daemon whose disk is full while a turn runs. It ends within 10 s, even if the agent ignores
// signals, and says what it could not store. The next daemon has everything that was stored, and each turn has an end.
func TestEndOnAFullDisk(t *testing.T) {
	t.Parallel()
	const limit = 10 * time.Second // promised in README
	long := strings.Repeat("0123456789abcdef", 16<<10)
	for name, c := range map[string]struct {
		agent []string
		ends  func(w *world.World) string // end ends the daemon and returns its output
	}{
		"a signal": {[]string{`{"fake":"hang"}`}, func(w *world.World) string {
			w.Stop()
			return w.Log.String()
		}},
		"a signal and a deaf agent": {[]string{`{"fake":"ignore-signals"}`, `{"fake":"hang"}`}, func(w *world.World) string {
			w.Stop()
			return w.Log.String()
		}},
		"cursord stop": {[]string{`{"fake":"hang"}`}, func(w *world.World) string {
			_, says, status := w.Cursord("stop", "--force")
			require.Zero(w.T, status, says)
			<-w.Ended
			w.Cmd = nil
			require.Contains(w.T, w.Log.String(), "not stored when the daemon ended: 1 session, 1 turn, ")
			return says
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			world.Mounted(t, filepath.Join(w.Dir, "state"), "8m")
			t.Cleanup(w.Kill) // before the disk is unmounted
			w.Start()
			e := w.Opens()
			w.Plays(append([]string{world.InitLine, world.Piece("before"), world.Waits("go"), world.Piece(long)}, c.agent...)...)
			turn := e.Asks(nil)
			e.Says("before")
			filler := fillsDisk(w)
			w.Put("../go", "")
			e.Message("error", "no space left")
			began := time.Now()
			says := c.ends(w)
			require.Less(t, time.Since(began), limit)
			require.Contains(t, says, "no space left for the database")
			require.Regexp(t, `(not stored when the daemon ended: |the daemon is ending and cannot store )(1 session, 1 turn, )?\d items?: `, says)
			require.NoError(t, os.Remove(filler))
			w.Start()
			again := w.Joins()
			again.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
			require.Equal(t, sessions.TurnInterrupted, again.Ends(turn.ID).Status)
		})
	}
}
