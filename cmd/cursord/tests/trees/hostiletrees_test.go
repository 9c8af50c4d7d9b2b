//go:build unix

package trees

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// everythingOf lists the contents of the workspace, of every kind.
func everythingOf(w *world.World) []string {
	w.T.Helper()
	var all []string
	require.NoError(w.T, filepath.WalkDir(w.Root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(w.Root, path)
		info, infoErr := os.Lstat(path)
		switch {
		case d.Name() == ".git":
			return fs.SkipDir
		case err != nil || infoErr != nil:
			all = append(all, name+" unreadable")
		case info.Mode().IsRegular():
			data, _ := os.ReadFile(path)
			all = append(all, fmt.Sprintf("%s %o %q", name, info.Mode().Perm(), data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			all = append(all, name+" -> "+target)
		case name != ".":
			all = append(all, fmt.Sprint(name, " ", info.Mode()))
		}
		return nil
	}))
	return all
}

// TestHostileTrees: commands make links, pipes and other special files. Nothing hangs, reviewable files are listed and come
// back, notices name the others, and nothing outside is touched.
func TestHostileTrees(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 251)
	for _, c := range []struct {
		name, before, does string
		listed             []string // "path: summary"
		notices            []string // parts of the notices
		left               string   // a command that turns the tree from before into the tree after a reject
	}{
		{
			"links of all kinds are made", "echo f >f; mkdir d; echo g >d/g",
			"ln -s f l1; ln -s d l2; ln -s ../outside l3; ln -s nowhere l4; ln -s l6 l5; ln -s l5 l6; ln -s . l7; ln -s /dev/zero l8",
			[]string{
				"l1: symlink f: file0", "l2: symlink d: file0", "l3: symlink ../outside: file0", "l4: symlink nowhere: file0",
				"l5: symlink l6: file0", "l6: symlink l5: file0", "l7: symlink .: file0", "l8: symlink /dev/zero: file0",
			}, nil, "",
		},
		{
			"files are changed through links", "echo f >f; mkdir d; echo g >d/g; ln -s f l1; ln -s d l2; ln -s ../outside l3; ln -s l4 l4",
			"echo x >>l1; echo x >>l2/g; echo x >>l3/secret; echo x >>l4 || true", []string{"d/g: modified: text2", "f: modified: text2"}, nil, "",
		},
		{
			"folders become links and links folders", "mkdir d e; echo g >d/g; echo h >e/h; ln -s d l", "rm -r d; ln -s ../outside d; rm l; mkdir l; echo n >l/n",
			[]string{"d/g: deleted: file1", "d: symlink ../outside: file0", "l/n: created: file1", "l: symlink d: file0"}, nil, "",
		},
		{
			"pipes and devices are made", "echo f >f; echo g >g", "mkfifo p; rm f; mkfifo f; (mknod c c 1 5 || true) 2>/dev/null; echo x >>g",
			[]string{"g: modified: text2"}, []string{"f: it is not a regular file"}, "",
		},
		{
			"a socket and a pipe are replaced", "mkfifo p; echo g >g", "rm p; echo now >p; rm s; echo now >s; echo x >>g",
			[]string{"g: modified: text2", "p: created: file1", "s: created: file1"}, nil, "rm p",
		},
		{
			"hard links", "echo one >a; ln a b; echo two >c", "echo x >>a; ln c d; ln a e",
			[]string{"a: modified: text2", "b: modified: text2", "d: created: file1", "e: created: file2"}, nil, "",
		},
		{
			"names", "echo 1 >'new\nline'; echo 2 >'\"q\"'; echo 3 >' sp '; echo 4 >-dash; echo 5 >" + long + ".txt; echo 6 >'a*?[b]'; echo 7 >'é'; echo 8 >'\\back'",
			"for f in *; do echo x >>\"./$f\"; done; echo 9 >'tab\tname'; echo 10 >\"-n\"; echo 11 >x" + long,
			[]string{
				" sp : modified: text2", "\"q\": modified: text2", "-dash: modified: text2", "-n: created: file1", "\\back: modified: text2",
				"a*?[b]: modified: text2", "new\nline: modified: text2", long + ".txt: modified: text2", "tab\tname: created: file1",
				"x" + long + ": created: file1", "é: modified: text2",
			}, nil, "",
		},
		{
			"names that differ in case", "echo 1 >readme; echo 2 >File; echo 3 >d", "mv readme README; echo x >>README; mv File file; mv d D",
			[]string{"D: renamed d: file0", "README: renamed readme: file0,text2", "file: renamed File: file0"}, nil, "",
		},
		{
			"a folder in the place of a file", "echo f >f; mkdir -p d/e; echo g >d/e/g", "rm f; mkdir f; echo n >f/n; rm -r d; echo now >d",
			[]string{"d/e/g: deleted: file1", "d: created: file1", "f/n: created: file1", "f: deleted: file1"}, nil, "",
		},
		{
			"modes", "echo 1 >a; echo 2 >b; chmod 600 b; mkdir d; echo 3 >d/c", "chmod 400 a; chmod 4755 b; chmod 0 d",
			[]string{"a: mode 100644 100400: file0", "b: mode 100600 100755: file0"}, nil, "chmod 4600 b; chmod 0 d",
		},
		{
			"the .git of the workspace, or what looks so", "echo 1 >a", "mkdir -p in/.git; echo x >in/.git/config; echo x >in/f; echo x >>a",
			[]string{"a: modified: text2", "in/f: created: file1"}, nil, "mkdir -p in/.git; echo x >in/.git/config",
		},
	} {
		for _, repo := range []bool{true, false} {
			t.Run(c.name+map[bool]string{true: ", git"}[repo], func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("../outside/secret", "secret\n")
				w.Makes("umask 022; " + c.before)
				w.Rests()
				if strings.Contains(c.name, "socket") {
					s, err := net.Listen("unix", w.Path("s"))
					require.NoError(t, err)
					defer s.Close()
				}
				if repo {
					w.Commits()
				}
				before := everythingOf(w)
				w.Plays(world.Lines(world.Shells("s", "umask 022; "+c.does))...)
				w.Start()
				e := w.Opens()
				turn := e.Turn(nil)
				require.Equal(t, sessions.TurnCompleted, turn.Status)
				var found []string
				for path, d := range e.Diffs() {
					require.Equal(t, "known", d.Baseline, path)
					found = append(found, path+": "+world.Summary(d))
				}
				require.Equal(t, c.listed, world.Sorted(found))
				after := everythingOf(w)
				told := e.Notices(turn.ID)
				for _, part := range c.notices {
					require.Contains(t, told, part)
				}
				if c.notices == nil {
					require.Empty(t, told)
				}
				out := e.Decides("diff/reject", world.Obj{"all": true})
				require.Empty(t, out.Skipped)
				if c.left != "" {
					now := everythingOf(w)
					w.Makes("rm -rf ../again; mkdir ../again; cd ../again; umask 022; " + c.before + "; " + c.left)
					w.Root, before = w.Path("../again"), nil
					before = everythingOf(w)
					w.Root = w.Path("../ws")
					require.Equal(t, before, now)
				} else if c.notices == nil {
					require.Equal(t, before, everythingOf(w))
				}
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				require.Equal(t, after, everythingOf(w))
				if !strings.Contains(c.name, "through links") {
					require.Equal(t, "secret\n", w.Get("../outside/secret"))
				}
				w.Makes("chmod -R u+rwX .")
			})
		}
	}
}

// TestPathsThatAreTooLong moves a file to a path that is too long for the system.
func TestPathsThatAreTooLong(t *testing.T) {
	t.Parallel()
	for _, repo := range []bool{true, false} {
		w := world.New(t)
		long := strings.Repeat(strings.Repeat("n", 251)+"/", 12)
		w.PutAll(world.Tree{"a": "a\n", "short/" + long + "f": "f\n", "deep/" + long + "f": "f\n"})
		if repo {
			w.Commits()
		}
		w.Plays(world.Lines(world.Shells("s", "mv short deep/*/*/*/*/*/*/*/*/*/*/*/*; echo x >>a"))...)
		w.Start()
		e := w.Opens()
		require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
		found := e.Diffs()
		require.Len(t, found, 2)
		require.Contains(t, found, "a")
		require.EqualValues(t, "deleted", found["short/"+long+"f"].Kind)
		e.Decides("diff/reject", world.Obj{"all": true})
		require.True(t, w.Get("short/"+long+"f") == "f\n" && w.Get("a") == "a\n")
	}
}

// TestWorkspaceGoes moves, deletes or replaces the workspace during a turn in it.
func TestWorkspaceGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, does string
		left       world.Tree // files in the workspace and beside it
	}{
		{"moved", "echo x >>f; mv ../ws ../elsewhere", world.Tree{"../elsewhere/f": "f\nx\n", "../elsewhere/g": "g\n"}},
		{"deleted", "rm -r ../ws", world.Tree{"f": "(absent)"}},
		{"replaced", "mv ../ws ../elsewhere; mkdir ../ws; echo other >../ws/f", world.Tree{"../elsewhere/f": "f\n"}},
		{"replaced by a file", "mv ../ws ../elsewhere; echo file >../ws", world.Tree{"../elsewhere/f": "f\n"}},
		{"replaced by a link", "mv ../ws ../elsewhere; ln -s elsewhere ../ws; echo x >>../ws/f", world.Tree{"../elsewhere/f": "f\nx\n"}},
	} {
		for _, repo := range []bool{true, false} {
			t.Run(c.name+map[bool]string{true: ", git"}[repo], func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.PutAll(world.Tree{"f": "f\n", "g": "g\n", "h": "h\n"})
				if repo {
					w.Commits()
				}
				w.Plays(world.Lines(world.Edits("e", "h", "h\n", "H\n"), world.Shells("s", c.does))...)
				w.Start()
				e := w.Opens()
				turn := e.Turn(nil)
				require.True(t, turn.Status.Final())
				for path, text := range c.left {
					if info, err := os.Stat(w.Root); err == nil && info.IsDir() || strings.HasPrefix(path, "../e") {
						require.Equal(t, text, w.Get(path), path)
					}
				}
				var out struct{ Diffs []*sessions.Diff }
				err := e.Call("diff/list", world.Obj{"workspace": w.Root}, &out)
				if err == nil {
					_ = e.Call("diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil)
				}
				// The daemon serves on, and the workspace works again once it is back.
				makesIn(w, "..", "rm -rf ws; if [ -d elsewhere ]; then mv elsewhere ws; else mkdir ws; fi")
				w.Plays(world.Lines(world.Shells("s", "echo y >>g"))...)
				require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
				require.Contains(t, e.Diffs(), "g")
			})
		}
	}
}

// makesIn runs a command as Makes does, but in a folder beside the workspace.
func makesIn(w *world.World, dir, command string) {
	w.T.Helper()
	defer func(ws string) { w.Root = ws }(w.Root)
	w.Root = w.Path(dir)
	w.Makes(command)
}
