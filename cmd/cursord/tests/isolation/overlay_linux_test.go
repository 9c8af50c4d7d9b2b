package isolation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// overlays makes a world whose configuration allows overlays.
func overlays(t *testing.T) *world.World {
	w := world.New(t)
	w.Overlays = true
	return w
}

// onOverlay begins an isolated session that has played these lines, and skips the test where the system has no overlays.
func onOverlay(t *testing.T, w *world.World, lines ...string) (*world.Editor, *sessions.Session) {
	t.Helper()
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	w.Plays(lines...)
	e.Ok(s)
	if c := theCopy(e); c.Kind != "overlay" {
		t.Skipf("no overlay: %+v", c)
	}
	return e, s
}

// theCopy waits until the workspace's only copy is listed.
func theCopy(e *world.Editor) (c api.CopyInfo) {
	require.Eventually(e.T, func() bool {
		list := copyList(e)
		if len(list) == 1 {
			c = list[0]
		}
		return len(list) == 1
	}, world.Patience, world.Patience/1000)
	return c
}

// seeing lists the processes that see something mounted at a path.
func seeing(t *testing.T, at string) (list []string) {
	all, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, name := range all {
		if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), " "+at+" ") {
			list = append(list, name)
		}
	}
	return list
}

// TestAnAgentInAnOverlay looks at what the agent's commands may do and see, and at what is left of their namespace.
func TestAnAgentInAnOverlay(t *testing.T) {
	t.Parallel()
	w := overlays(t)
	w.PutAll(world.Tree{"f": "f\n", "d/g": "g\n"})
	at := []string{`{"fake":"write","path":"` + w.Path("../at") + `","text":""}`, `{"fake":"wait","path":"` + w.Path("../go") + `"}`}
	e, s := onOverlay(t, w, world.Lines(world.Shells("1", "grep Cap /proc/self/status > caps; ls -A "+filepath.Join(w.Dir, "state")+" > state; pwd -P > pwd; umount . 2>&1 | head -c 9 > umounted"))...)
	for line := range strings.Lines(w.Copied(s, "caps")) {
		require.Regexp(t, `^Cap\w+:\t0+\n$`, line)
	}
	require.Equal(t, "images\n", w.Copied(s, "state"), "what the daemon has")
	require.Equal(t, w.Root+"\n", w.Copied(s, "pwd"))
	require.NotEmpty(t, w.Copied(s, "umounted"))
	require.Empty(t, seeing(t, w.Root), "nothing is mounted between turns")

	w.Plays(world.Lines(world.Shells("2", "echo agent >> f"), at)...)
	turn := e.Asks(world.Obj{"sessionId": s.ID})
	require.Eventually(t, func() bool { return w.Get("../at") != "(absent)" }, world.Patience, world.Patience/1000)
	require.NotEmpty(t, seeing(t, w.Root))
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Eventually(t, func() bool { return len(seeing(t, w.Root)) == 0 }, world.Patience, world.Patience/1000)

	require.NoError(t, os.Remove(w.Path("../at")))
	require.NoError(t, os.Remove(w.Path("../go")))
	w.Plays(world.Lines(world.Shells("3", "echo more >> f"), at)...)
	e.Asks(world.Obj{"sessionId": s.ID})
	require.Eventually(t, func() bool { return w.Get("../at") != "(absent)" }, world.Patience, world.Patience/1000)
	w.Kill()
	w.Start() // ends what the killed daemon has left
	require.Eventually(t, func() bool { return len(seeing(t, w.Root)) == 0 }, world.Patience, world.Patience/1000)
	require.Equal(t, "f\nagent\nmore\n", w.Copied(s, "f"))
	w.RequireTree(world.Tree{"f": "f\n"})
	e = w.Opens()
	var status struct {
		Isolation struct{ Kind, Reason string }
	}
	e.Must("agent/status", world.Obj{}, &status)
	require.Equal(t, "overlay", status.Isolation.Kind)
	require.Empty(t, status.Isolation.Reason)
}

// TestFoldersInAnOverlay replaces, removes and makes folders, and takes all that back.
func TestFoldersInAnOverlay(t *testing.T) {
	t.Parallel()
	w := overlays(t)
	w.PutAll(world.Tree{"d/a": "a\n", "d/b": "b\n", "d/e/f": "f\n", "gone/x": "x\n", "file": "file\n", "dir/in": "in\n"})
	w.Commits()
	was := w.Whole(w.Root)
	e, s := onOverlay(t, w, world.Lines(world.Shells("1", "rm -r d; mkdir d; echo a > d/a; echo new > d/n; rm -r gone; rm file; mkdir file; echo y > file/x; rm -r dir; echo dir > dir"))...)
	require.Equal(t, was, w.Whole(w.Root))
	kinds := map[string]sessions.DiffKind{}
	for path, d := range e.Diffs() {
		kinds[path] = d.Kind
	}
	require.Equal(t, map[string]sessions.DiffKind{
		"d/b": "deleted", "d/e/f": "deleted", "d/n": "created", "gone/x": "deleted", "file": "deleted", "file/x": "created", "dir": "created", "dir/in": "deleted",
	}, kinds)
	// What is as it was in a folder that was replaced shows what a person does there.
	w.Plays(world.Done)
	e.Ok(s)
	w.Put("d/a", "mine\n")
	require.Equal(t, "mine\n", w.Copied(s, "d/a"))
	require.Len(t, e.Diffs(), 8)
	w.Put("d/a", "a\n")

	e.Decides("diff/accept", world.Obj{"path": "d/b"})
	require.NoFileExists(t, w.Path("d/b"))
	e.Ok(s) // what both sides have is no longer the agent's
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "(absent)", w.Copied(s, "d/b"))
	require.Equal(t, was, w.Whole(w.Root))
	out := e.Decides("diff/reject", world.Obj{"all": true})
	require.Empty(t, out.Skipped)
	require.Equal(t, was, w.Whole(w.Root))
	require.Equal(t, was, w.Whole(w.Seen(s)))
}

// TestUndoOfAnAcceptInAnOverlay takes accepts back after a turn has found that both sides are equal.
func TestUndoOfAnAcceptInAnOverlay(t *testing.T) {
	t.Parallel()
	w := overlays(t)
	before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent\n"})
	w.PutAll(world.Tree{"f": before, "was": "moved\n"})
	w.Commits()
	e, s := onOverlay(t, w, world.Lines(world.Shells("1", "sed -i 's/^line 5$/agent/' f; mv was now; echo n > new"))...)
	whole := w.Whole(w.Seen(s))
	pending := len(e.Diffs())
	out := e.Decides("diff/accept", world.Obj{"all": true})
	require.Empty(t, out.Skipped)
	require.Equal(t, whole, w.Whole(w.Root))
	w.Plays(world.Done)
	e.Ok(s)
	left, err := os.ReadDir(filepath.Join(w.FolderOf(s), "upper"))
	require.NoError(t, err)
	require.Empty(t, left, "nothing is the agent's alone")
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Len(t, e.Diffs(), pending)
	w.RequireTree(world.Tree{"f": before, "was": "moved\n", "now": "(absent)", "new": "(absent)"})
	require.Equal(t, whole, w.Whole(w.Seen(s)))
	e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
	require.Empty(t, e.Diffs())
	w.RequireTree(world.Tree{"f": after, "was": "(absent)", "now": "moved\n", "new": "n\n"})
}

// TestTheRepositoryInAnOverlay: an agent commits and stages for itself, and sees what a person commits.
func TestTheRepositoryInAnOverlay(t *testing.T) {
	t.Parallel()
	w := overlays(t)
	w.PutAll(world.Tree{"f": "f\n", "g": "g\n"})
	w.Commits()
	head, status := w.Git("rev-parse", "HEAD"), w.Git("status", "--porcelain")
	const git = "git -c user.name=Agent -c user.email=a@example.org "
	e, s := onOverlay(t, w, world.Lines(world.Shells("1", "echo agent >> f; "+git+"commit -qam apart; "+git+"branch own; "+git+"rev-parse HEAD > id; "+git+"status --porcelain > status"))...)
	require.Equal(t, head, w.Git("rev-parse", "HEAD"))
	require.Equal(t, status, w.Git("status", "--porcelain"))
	require.Empty(t, w.Git("branch", "--list", "own"))
	require.Equal(t, "?? id\n?? status\n", w.Copied(s, "status"))
	own := strings.TrimSpace(w.Copied(s, "id"))

	w.Put("g", "mine\n")
	w.Git("commit", "-qam", "mine")
	w.Plays(world.Lines(world.Shells("2", "git log --format=%s > log; git log -1 --format=%s own >> log; git log -1 --format=%s refs/cursord/kept/"+own+" >> log; git status --porcelain > status"))...)
	e.Ok(s)
	require.Equal(t, "mine\nfirst\napart\napart\n", w.Copied(s, "log"))
	require.Equal(t, " M f\n?? id\n?? log\n?? status\n", w.Copied(s, "status"))
	require.Equal(t, 1, len(e.Diffs()["f"].Hunks))
	e.Decides("diff/accept", world.Obj{"path": "f"})
	w.RequireTree(world.Tree{"f": "f\nagent\n", "g": "mine\n"})
}

// TestNoOverlay has what makes that a session gets a copy.
func TestNoOverlay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		make       func(t *testing.T, w *world.World)
	}{
		{"a folder of a repository", "is a folder of the repository in", func(t *testing.T, w *world.World) {
			cmd := exec.Command("git", "init", "-q", w.Dir)
			require.NoError(t, cmd.Run())
		}},
		{"a linked work tree", "is kept in", func(t *testing.T, w *world.World) {
			w.Commits()
			w.Git("branch", "-q", "other")
			root := w.Path("../repo")
			require.NoError(t, os.Rename(w.Root, root))
			out, err := exec.Command("git", "-C", root, "worktree", "add", "-q", w.Root, "other").CombinedOutput()
			require.NoError(t, err, "%s", out)
		}},
		{"a file of another", "belongs to another user or group", func(t *testing.T, w *world.World) {
			if os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			require.NoError(t, os.Chown(w.Path("f"), 4242, 4242))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := overlays(t)
			w.PutAll(world.Tree{"f": "f\n", "g": "g\n"})
			tt.make(t, w)
			w.Plays(world.Lines(world.Shells("1", "echo agent >> g"))...)
			w.Start()
			e := w.Opens()
			s := e.Isolates()
			e.Ok(s)
			c := theCopy(e)
			require.Equal(t, "copy", c.Kind)
			if !strings.Contains(c.Reason, "this system mounts no overlay") {
				require.Contains(t, c.Reason, tt.want)
			}
			_, said, status := w.Cursord("workspaces")
			require.Zero(t, status)
			require.Contains(t, said, "has a copy and no overlay")
			require.Contains(t, e.Diffs(), "g")
			w.RequireTree(world.Tree{"g": "g\n"})
		})
	}
}

// TestOwnersThatChange has a file of another user in the workspace of an overlay, which cannot change it.
func TestOwnersThatChange(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	w := overlays(t)
	w.PutAll(world.Tree{"f": "f\n", "g": "g\n"})
	w.Commits()
	e, s := onOverlay(t, w, world.Lines(world.Shells("1", "echo agent >> g"))...)
	listed := func(kind, reason string) {
		t.Helper()
		require.Eventually(t, func() bool {
			c := theCopy(e)
			return c.Kind == kind && strings.Contains(c.Reason, reason) && (reason != "" || c.Reason == "")
		}, world.Patience, world.Patience/1000, "%+v", theCopy(e))
	}
	require.NoError(t, os.Chown(w.Path("f"), 4242, 4242))
	w.Plays(world.Lines(world.Shells("2", "echo more >> g"))...)
	e.Ok(s)
	listed("overlay", "belongs to another user or group")
	require.Equal(t, "g\nagent\nmore\n", w.Copied(s, "g"), "what the agent has stays")
	_, said, status := w.Cursord("workspaces")
	require.Zero(t, status)
	require.Contains(t, said, "stays on an overlay only until its changes are decided")
	require.NoError(t, os.Chown(w.Path("f"), 0, os.Getgid()))
	w.Plays(world.Done)
	e.Ok(s)
	listed("overlay", "")

	require.NoError(t, os.Chown(w.Path("f"), 4242, 4242))
	e.Decides("diff/accept", world.Obj{"all": true})
	w.Plays(world.Lines(world.Shells("3", "echo copied >> f"))...)
	e.Ok(s)
	listed("copy", "belongs to another user or group")
	require.Contains(t, e.Diffs(), "f")
	w.RequireTree(world.Tree{"f": "f\n", "g": "g\nagent\nmore\n"})
}

// TestASubmoduleThatOnlyTheAgentHas: git says nothing about files in a submodule that the work tree has not checked out.
func TestASubmoduleThatOnlyTheAgentHas(t *testing.T) {
	t.Parallel()
	w := overlays(t)
	w.PutAll(world.Tree{"f": "f\n", ".gitignore": "*.log\n"})
	w.Commits()
	w.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(w.Git("rev-parse", "HEAD"))+",sub")
	e, s := onOverlay(t, w, world.Lines(world.Shells("1", "mkdir -p sub; echo x > sub/x; echo l > l.log; echo agent >> f"))...)
	w.Plays(world.Done)
	e.Ok(s)
	require.Contains(t, e.Diffs(), "f")
	require.NotContains(t, e.Diffs(), "l.log")
}

// TestIgnoredFilesInAnOverlay: what git ignores is the agent's own and no change. Rules that the agent makes hide no more than what is many.
func TestIgnoredFilesInAnOverlay(t *testing.T) {
	t.Parallel()
	w := overlays(t)
	w.PutAll(world.Tree{".gitignore": "*.log\n", "f": "f\n", "old.log": "old\n"})
	w.Commits()
	e, s := onOverlay(t, w, world.Lines(world.Shells("1", "echo new > old.log; echo x > made.log; echo 'out/\n' >> .gitignore; mkdir out; for i in $(seq 1 200); do echo $i > out/$i; done"))...)
	found := e.Diffs()
	require.Contains(t, found, ".gitignore")
	require.NotContains(t, found, "old.log")
	require.NotContains(t, found, "made.log")
	require.Len(t, found, 51, "50 of those that only the agent's rule hides")
	require.Equal(t, "new\n", w.Copied(s, "old.log"))
	w.RequireTree(world.Tree{"old.log": "old\n", "made.log": "(absent)"})
	e.Until("a word on the rest", func(n world.Notification) bool {
		return n.Item != nil && n.Item.Kind == sessions.ItemNotice && strings.Contains(n.Item.Text, "150 files that this turn's ignore rules hide")
	})
}

// TestOverlaysOfAnOrdinaryUser runs tests as a user without privileges, where they were run by root.
func TestOverlaysOfAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("the tests run as an ordinary user already")
	}
	const uid = 54321
	dir, err := os.MkdirTemp("", "o")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := exec.LookPath("cursord")
	require.NoError(t, err)
	for from, to := range map[string]string{fmt.Sprintf("/proc/%d/exe", os.Getpid()): "tests", program: "cursord"} {
		require.NoError(t, exec.Command("cp", from, filepath.Join(dir, to)).Run())
	}
	require.NoError(t, os.Mkdir(dir+"/tmp", 0o700))
	for _, name := range []string{dir, dir + "/tests", dir + "/cursord", dir + "/tmp"} {
		require.NoError(t, os.Chown(name, uid, uid))
	}
	sources, err := os.Getwd()
	require.NoError(t, err)
	cmd := exec.Command(dir+"/tests", "-test.v", "-test.run=^(TestAnAgentInAnOverlay|TestFoldersInAnOverlay|TestUndoOfAnAcceptInAnOverlay|TestIsolatedTurnLeavesTheWorkTree)$")
	cmd.Dir = sources
	cmd.Env = append(os.Environ(), "TMPDIR="+dir+"/tmp", "HOME="+dir, "CURSORD_TEST_PROGRAM="+dir+"/cursord")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("an ordinary user does not reach the folder of the tests: ", err)
	}
	require.NoError(t, err, "%s", out)
	t.Log(string(out))
}
