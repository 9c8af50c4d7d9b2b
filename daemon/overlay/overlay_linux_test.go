package overlay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const (
	barVar    = "CURSORD_TEST_OVERLAY_BAR"    // the process tries whether there is a namespace to mount in
	keeperVar = "CURSORD_TEST_OVERLAY_KEEPER" // the process mounts below this folder, enters another one, and waits
)

func TestMain(m *testing.M) {
	Helper()
	switch {
	case os.Getenv(barVar) != "":
		if err := unix.Mount("tmpfs", os.Getenv(barVar), "tmpfs", 0, "size=4k"); err != nil {
			fmt.Fprintln(os.Stderr, "mount:", err)
			os.Exit(1)
		}
		os.Exit(0)
	case os.Getenv(keeperVar) != "":
		keep(os.Getenv(keeperVar))
	}
	os.Exit(m.Run())
}

// A world is a layout in folders of its own.
type world struct {
	t testing.TB
	Layout
	tree *Tree
}

// newWorld skips the test where the system refuses what an overlay needs, by other means than those that are tested.
func newWorld(t testing.TB) *world {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, Layout: Layout{Lower: base + "/pond", Upper: base + "/state/upper", Work: base + "/state/work", At: base + "/pond"}}
	for _, dir := range []string{w.Lower, w.Upper, w.Work} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	t.Cleanup(func() { require.NoError(t, RemoveAll(base)) })
	if known, err := os.ReadFile("/proc/filesystems"); err != nil || !bytes.Contains(known, []byte("\toverlay\n")) {
		t.Skip("this kernel knows no overlay")
	}
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip(err)
	}
	if err := unix.Setxattr(w.Upper, "user.cursord.test", []byte("y"), 0); err != nil {
		t.Skip("the file system of temporary files keeps no attributes: ", err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), barVar+"="+w.Work)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("this system gives no namespace to mount in: %v: %s", err, out)
	}
	return w
}

func (w *world) put(name, content string) {
	full := filepath.Join(w.Lower, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(w.t, os.WriteFile(full, []byte(content), 0o644))
}

func (w *world) mount() *Tree {
	tree, err := Mount(w.t.Context(), w.Layout)
	require.NoError(w.t, err)
	w.tree = tree
	w.t.Cleanup(func() { tree.Close() })
	return tree
}

// sh runs a script in the tree and returns what it prints.
func (w *world) sh(script string) string {
	out, err := w.try(script)
	require.NoError(w.t, err, "%s", out)
	return out
}

func (w *world) try(script string) (string, error) {
	cmd := exec.Command("/bin/sh", "-ec", script)
	require.NoError(w.t, w.tree.Enter(cmd))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// fails runs a script in the tree, which has to fail.
func (w *world) fails(script string) string {
	out, err := w.try(script)
	require.Error(w.t, err, "%s: %s", script, out)
	return out
}

// listed describes all that is in a folder.
func listed(t *testing.T, dir string) string {
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(dir+"/.", func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		require.NoError(t, err)
		if rel == "." {
			return nil
		}
		fmt.Fprintf(&b, "%s %v", rel, info.Mode())
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			require.NoError(t, err)
			b.WriteString(" -> " + target)
		} else if d.Type().IsRegular() {
			if data, err := os.ReadFile(p); err == nil {
				fmt.Fprintf(&b, " %q", data)
			}
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}

func (w *world) changes() string {
	list, err := Changes(w.t.Context(), w.Upper)
	require.NoError(w.t, err)
	return fmt.Sprint(list)
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script, want string }{
		{"nothing", "cat f d/g && test -x d", "[]"},
		{"an edit in place", "echo two >> f", "[{f written}]"},
		{"an edit by renaming", "echo two > .f && mv .f f", "[{f written}]"},
		{"a mode", "chmod 755 d/g", "[{d folder} {d/g written}]"},
		{"a removal", "rm d/g", "[{d folder} {d/g removed}]"},
		{"a removed folder", "rm -r d", "[{d removed}]"},
		{"a new folder", "mkdir -p n/m && echo n > n/m/o", "[{n folder} {n/m folder} {n/m/o written}]"},
		{"a folder replaced by another", "rm -r d && mkdir d && echo x > d/x", "[{d replaced} {d/x written}]"},
		{"a folder replaced by a file", "rm -r d && echo x > d", "[{d written}]"},
		{"a file replaced by a folder", "rm f && mkdir f && echo x > f/x", "[{f replaced} {f/x written}]"},
		{"a file made and removed", "echo x > x && rm x", "[]"},
		{"a moved file", "mv f e", "[{e written} {f removed}]"},
		{"a moved folder", "mv d e", "[{d removed} {e folder} {e/g written} {e/l written}]"},
		{"a link", "rm d/l && ln -s ../d/g d/l", "[{d folder} {d/l written}]"},
		{"a file that nobody may read", "chmod 600 none && echo x >> none", "[{none written}]"},
		{"a FIFO", "mkfifo p", "[{p written}]"},
		{"odd names", `echo x > 'a,b:c\ d'`, `[{a,b:c\ d written}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("f", "one\n")
			w.put("d/g", "one\n")
			w.put("none", "none\n")
			require.NoError(t, os.Symlink("../f", filepath.Join(w.Lower, "d/l")))
			plain := filepath.Join(t.TempDir(), "plain")
			require.NoError(t, exec.Command("cp", "-a", w.Lower, plain).Run())
			for _, dir := range []string{w.Lower, plain} {
				require.NoError(t, os.Chmod(filepath.Join(dir, "none"), 0))
			}
			before := listed(t, w.Lower)
			w.mount()
			w.sh(tt.script)
			cmd := exec.Command("/bin/sh", "-ec", tt.script)
			cmd.Dir = plain
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, listed(t, plain), listed(t, w.tree.Root()), "as in a plain folder")
			require.Equal(t, before, listed(t, w.Lower), "the lower folder stays")
			require.NoError(t, w.tree.Close())
			require.Equal(t, tt.want, w.changes())
			w.mount()
			require.Equal(t, listed(t, plain), listed(t, w.tree.Root()), "the next mount goes on")
		})
	}
}

func TestTheTreeIsAtThePathOfTheLowerFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("d/f", "one\n")
	require.NoError(t, os.Symlink(filepath.Join(w.Lower, "d"), filepath.Join(w.Lower, "link")))
	w.mount()
	require.Equal(t, w.At+"\n"+w.At+"\n", w.sh(`pwd -P; echo "$PWD"`))
	w.sh("echo two > " + w.Lower + "/d/f; echo three > link/h")
	require.Equal(t, "two\nthree\n", w.sh("cat d/f d/h"))
	data, err := os.ReadFile(filepath.Join(w.Lower, "d/f"))
	require.NoError(t, err)
	require.Equal(t, "one\n", string(data))
	require.NoFileExists(t, filepath.Join(w.Lower, "d/h"))

	cmd := exec.Command("/bin/pwd", "-P")
	cmd.Dir = filepath.Join(w.At, "d")
	require.NoError(t, w.tree.Enter(cmd))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, w.At+"/d\n", string(out))
}

func TestThePresentProcessReadsAndWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("d/f", "one\n")
	w.put("d/g", "one\n")
	w.mount()
	w.sh("echo two > d/f")
	root, err := os.OpenRoot(w.tree.Root())
	require.NoError(t, err)
	defer root.Close()
	data, err := root.ReadFile("d/f")
	require.NoError(t, err)
	require.Equal(t, "two\n", string(data))
	require.NoError(t, root.WriteFile("d/new", []byte("three\n"), 0o600))
	require.NoError(t, unix.Renameat2(unix.AT_FDCWD, w.tree.Root()+"/d/new", unix.AT_FDCWD, w.tree.Root()+"/d/f", unix.RENAME_EXCHANGE))
	require.NoError(t, root.Remove("d/g"))
	require.Equal(t, "three\ntwo\n", w.sh("test ! -e d/g; cat d/f d/new"))
	require.Equal(t, "d drwxr-xr-x\nd/f -rw-r--r-- \"one\\n\"\nd/g -rw-r--r-- \"one\\n\"\n", listed(t, w.Lower))
}

func TestNoCapabilityWithin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "one\n")
	w.mount()
	const status = "grep -E '^Cap|^NoNewPrivs' /proc/self/status"
	lines := strings.Split(strings.TrimSpace(w.sh(status)), "\n")
	require.Len(t, lines, 6)
	for _, line := range lines[:5] {
		require.Regexp(t, `^Cap(Inh|Prm|Eff|Bnd|Amb):\t0+$`, line)
	}
	require.Equal(t, "NoNewPrivs:\t1", lines[5])
	require.Equal(t, "0\n", w.sh("findmnt -no OPTIONS / | grep -vc nosuid || true"), "programs get no privileges from their files")
	for _, script := range []string{"umount .", "mount -t tmpfs tmpfs .", "mount --bind / .", "chroot . true", "umount /proc"} {
		w.fails(script)
	}
	require.Equal(t, "0\n", w.sh("ls /proc | grep -cx "+strconv.Itoa(os.Getpid())+" || true"), "other processes do not show")
	w.fails("kill -0 " + strconv.Itoa(os.Getpid()))
	// The capabilities of a namespace that the process makes are over what it makes there.
	require.Contains(t, w.sh("unshare -Ur "+status), "NoNewPrivs:\t1\n")
	for _, script := range []string{"umount " + w.At, "umount /proc", "mount -o remount,bind,suid /", "nsenter -t 1 -m true", "nsenter -t 1 -U true", "mknod x c 1 3",
		"chown 12345 f"} {
		w.fails("cd /; unshare -Urm sh -c 'cd " + w.At + "; " + script + "'")
	}
	// A sandbox of the agent's own works, and has its capabilities over what it makes itself only.
	require.Equal(t, "two\n", w.sh("unshare -Urm sh -c 'echo two > f; mount -t tmpfs tmpfs . && cd . && test ! -e $PWD/f'; cat f"))
	w.fails("unshare -Urm sh -c 'cd / && umount " + w.At + "'")
	w.fails("cat " + w.tree.Root() + "/f") // the descriptors of the process that has mounted
}

func TestHiddenFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "one\n")
	state := filepath.Dir(w.Upper)
	require.NoError(t, os.WriteFile(filepath.Join(state, "store"), []byte("secret\n"), 0o600))
	w.Hide = []string{state}
	w.mount()
	w.sh("echo two > f; rm -f gone")
	require.Empty(t, w.sh("ls -A "+state))
	w.fails("echo x > " + state + "/x")
	require.FileExists(t, filepath.Join(state, "store"))
	require.Equal(t, "[{f written}]", w.changes())
}

func TestTheLowerFolderShowsThrough(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"edited", "swapped", "removed", "both", "d/f"} {
		w.put(name, "one\n")
	}
	w.mount()
	w.sh("cat edited swapped removed d/f > /dev/null; test ! -e late; echo agent > both; ls d")
	w.put("edited", "two\n")
	w.put(".swapped", "two\n")
	require.NoError(t, os.Rename(filepath.Join(w.Lower, ".swapped"), filepath.Join(w.Lower, "swapped")))
	require.NoError(t, os.Remove(filepath.Join(w.Lower, "removed")))
	w.put("both", "person\n")
	w.put("d/new", "new\n")
	w.put("late", "late\n")
	require.Equal(t, "two\nagent\nnew\n", w.sh("cat edited both d/new"))
	shown, err := os.ReadFile(w.tree.Root() + "/swapped")
	require.NoError(t, err)
	require.Equal(t, string(shown)+"agent\n", w.sh("echo agent >> swapped; cat swapped"), "what shows is what is written to")
	require.NoError(t, w.tree.Close())
	require.Equal(t, "[{both written} {swapped written}]", w.changes())
	require.NoError(t, os.Remove(filepath.Join(w.Upper, "swapped")))
	w.mount()
	require.Equal(t, "two\ntwo\nlate\nagent\n", w.sh("cat edited swapped late both; test ! -e removed"), "the next mount shows all")
	require.Equal(t, "[{both written}]", w.changes())
}

func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	w := newWorld(t)
	w.put("own", "one\n")
	for name, ids := range map[string][2]int{"user": {4242, os.Getgid()}, "group": {0, 4242}} {
		w.put(name, "one\n")
		full := filepath.Join(w.Lower, name)
		require.NoError(t, os.Chown(full, ids[0], ids[1]))
		require.NoError(t, os.Chmod(full, 0o666))
		info, err := os.Lstat(full)
		require.NoError(t, err)
		require.False(t, Changeable(info), name)
	}
	info, err := os.Lstat(filepath.Join(w.Lower, "own"))
	require.NoError(t, err)
	require.True(t, Changeable(info))
	w.mount()
	w.sh("echo two > own; cat user group")
	for _, name := range []string{"user", "group"} {
		require.Contains(t, w.fails("echo two >> "+name), "too large")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		change  func(w *world)
		want    string
		refused bool
	}{
		{"a relative path", func(w *world) { w.Upper = "upper" }, "absolute", false},
		{"a path with ..", func(w *world) { w.Work = w.Work + "/../x" }, "absolute", false},
		{"the upper folder in the lower one", func(w *world) { w.Upper = w.Lower + "/u" }, "lies in", false},
		{"the tree in a hidden folder", func(w *world) { w.Hide = []string{filepath.Dir(w.At)} }, "hidden", false},
		{"no lower folder", func(w *world) { w.Lower += "/none"; w.At = w.Lower }, "no such file", true},
		{"no folder to mount at", func(w *world) { w.At += "/none" }, "no such file", true},
		{"a file to mount at", func(w *world) { w.put("f", ""); w.At += "/f" }, "not a directory", true},
		{"two file systems", func(w *world) { w.Work = "/proc/self/task" }, "cannot mount", true},
		{"no folder to hide", func(w *world) { w.Hide = []string{w.Upper + "/none"} }, "no such file", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.change(w)
			tree, err := Mount(t.Context(), w.Layout)
			require.ErrorContains(t, err, tt.want)
			require.Nil(t, tree)
			require.Equal(t, tt.refused, errors.Is(err, ErrRefused), "%v", err)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Mount(ctx, newWorld(t).Layout)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAnotherFileSystemInTheLowerFolder(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	for line := range strings.Lines(string(list)) {
		if at := strings.Fields(line)[4]; strings.Count(at, "/") > 1 {
			require.ErrorContains(t, nothingWithin(filepath.Dir(at)), "another file system")
			require.NoError(t, nothingWithin(at+"-none"))
		}
	}
	require.Equal(t, "/a b\\c", unescaped(`/a\040b\134c`))
	require.Equal(t, `/a\9`, unescaped(`/a\9`))
}

func TestEnterRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tree := w.mount()
	require.Error(t, tree.Enter(&exec.Cmd{Path: "sh"}))
	require.Error(t, tree.Enter(&exec.Cmd{Path: "/bin/sh", Dir: filepath.Dir(w.At)}))
	require.Error(t, tree.Enter(exec.Command("there-is-no-such-program")))
	require.NoError(t, tree.Close())
	require.ErrorIs(t, tree.Enter(exec.Command("/bin/true")), fs.ErrClosed)
	require.NoError(t, tree.Close())
	_, err := os.ReadDir(tree.Root())
	require.ErrorIs(t, err, fs.ErrNotExist)
}
