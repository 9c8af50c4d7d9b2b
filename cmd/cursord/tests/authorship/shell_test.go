//go:build unix

package authorship

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// files returns all files below a folder of the workspace with their contents and times.
func files(w *world.World, dir string) map[string]string {
	w.T.Helper()
	all := map[string]string{}
	require.NoError(w.T, filepath.WalkDir(w.Path(dir), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		info, _ := e.Info()
		all[path] = fmt.Sprint(info.ModTime(), info.Mode(), " ", string(b))
		return err
	}))
	return all
}

// TestShellChanges has an agent change files by a command that names none of them.
func TestShellChanges(t *testing.T) {
	t.Parallel()
	commits := func(w *world.World) { w.Commits() }
	for _, c := range []struct {
		name    string
		before  world.Tree
		prepare func(*world.World)
		command string
		after   world.Tree // the files that differ
		dirty   bool       // the command may write the repository
	}{
		{
			name: "sed", prepare: commits, before: world.Tree{"a": "one\ntwo\n", "d/b": "one\n", "c": "x\n"},
			command: "sed -i s/one/ONE/ a d/b", after: world.Tree{"a": "ONE\ntwo\n", "d/b": "ONE\n"},
		},
		{
			name: "files made, moved and removed", prepare: commits, before: world.Tree{"a": "a\n", "b": "b\n", "d/c": "c\n"},
			command: "mv a e; rm b; mkdir -p new/er; echo n > new/er/n; mv d f",
			after:   world.Tree{"a": "(absent)", "e": "a\n", "b": "(absent)", "new/er/n": "n\n", "d/c": "(absent)", "f/c": "c\n"},
		},
		{
			name: "the same without git", before: world.Tree{"a": "a\n", "b": "b\n", "d/c": "c\n", "k": "k\n"},
			command: "mv a e; rm b; mkdir -p new/er; echo n > new/er/n; mv d f; echo more >> k",
			after: world.Tree{
				"a": "(absent)", "e": "a\n", "b": "(absent)", "new/er/n": "n\n", "d/c": "(absent)", "f/c": "c\n", "k": "k\nmore\n",
			},
		},
		{
			name: "what was not committed", before: world.Tree{"a": "a\n", "b": "b\n"},
			prepare: func(w *world.World) {
				w.Commits()
				w.Put("a", "mine\n")
				w.Put("new", "also mine\n")
				w.Put("staged", "s\n")
				w.Git("add", "staged")
			},
			command: "echo x >> a; echo x >> new; rm staged", after: world.Tree{"a": "mine\nx\n", "new": "also mine\nx\n", "staged": "(absent)"},
		},
		{
			name: "git stash", before: world.Tree{"a": "a\n", "b": "b\n"}, dirty: true,
			prepare: func(w *world.World) {
				w.Commits()
				w.Put("a", "mine\n")
				w.Put("new", "also mine\n")
			},
			command: "git stash -u", after: world.Tree{"a": "a\n", "new": "(absent)"},
		},
		{
			name: "git commit", prepare: commits, before: world.Tree{"a": "a\n"}, dirty: true,
			command: "echo b >> a; git commit -qam second", after: world.Tree{"a": "a\nb\n"},
		},
		{
			name: "git checkout", before: world.Tree{"a": "a\n", "b": "b\n", "d/gone": "g\n"}, dirty: true,
			prepare: func(w *world.World) {
				w.Commits()
				w.Git("checkout", "-q", "-b", "other")
				w.Put("a", "other\n")
				w.Put("n", "new\n")
				w.Git("rm", "-q", "d/gone")
				w.Git("add", "-A")
				w.Git("commit", "-q", "-m", "other")
				w.Git("checkout", "-q", "-")
			},
			command: "git checkout -q other", after: world.Tree{"a": "other\n", "n": "new\n", "d/gone": "(absent)"},
		},
		{
			name: "line ends that git converts", before: world.Tree{"a": "a\nb\n", "b": "b\n"},
			prepare: func(w *world.World) {
				w.Commits()
				w.Git("config", "core.autocrlf", "true")
				require.NoError(w.T, os.Remove(w.Path("a")))
				w.Git("checkout", "a")
				require.Equal(w.T, "a\r\nb\r\n", w.Get("a"))
			},
			command: `printf 'a\r\nB\r\n' > a; touch b`, after: world.Tree{"a": "a\r\nB\r\n"},
		},
		{
			name: "odd names", prepare: commits, before: world.Tree{"a \"q\"\n\tü": "a\n", "-x": "x\n", "sp ace/[a]*": "b\n", ":(top)c": "c\n"},
			command: `for f in a* ./-x sp*/* :*; do echo x >> "$f"; done`,
			after:   world.Tree{"a \"q\"\n\tü": "a\nx\n", "-x": "x\nx\n", "sp ace/[a]*": "b\nx\n", ":(top)c": "c\nx\n"},
		},
		{
			name: "nothing but times and ignored files", before: world.Tree{".gitignore": "*.o\n/build/\n", "a": "a\n", "x.o": "x\n"},
			prepare: commits, command: "touch a; echo y > x.o; echo z > z.o; mkdir build; echo 1 > build/1; cp -p a c; rm c", after: world.Tree{},
		},
		{
			name: "what is no longer ignored was there", before: world.Tree{".gitignore": "*.o\n", "a": "a\n", "x.o": "x\n"},
			prepare: commits, command: "rm .gitignore; echo n > n.o", after: world.Tree{".gitignore": "(absent)", "n.o": "n\n"},
		},
		{
			name:    "moves beside a change of what is ignored",
			before:  world.Tree{".gitignore": "*.o\n", "a": "a\n", "d/b": "b\n", "d/in/c": "c\n", "d/x.o": "x\n", "e": "e\n"},
			prepare: commits, command: "echo '*.tmp' >> .gitignore; mv a a2; mv d d2; mv e e2; echo more >> e2; mkdir out; touch out/1.tmp",
			after: world.Tree{
				".gitignore": "*.o\n*.tmp\n", "a": "(absent)", "a2": "a\n", "d/b": "(absent)", "d2/b": "b\n", "d/in/c": "(absent)", "d2/in/c": "c\n",
				"e": "(absent)", "e2": "e\nmore\n", "out/1.tmp": "",
			},
		},
		{
			name: "a folder of a repository", before: world.Tree{"d/a": "a\n"},
			prepare: func(w *world.World) {
				top := w.Root
				w.Put("other", "o\n")
				w.Commits()
				w.Root = filepath.Join(top, "d")
				require.NoError(w.T, os.Rename(filepath.Join(top, "d", "a"), filepath.Join(top, "d", "b")))
				require.NoError(w.T, os.Rename(filepath.Join(top, "d", "b"), filepath.Join(top, "d", "a")))
			},
			command: "echo x >> a; echo y >> ../other", after: world.Tree{"a": "a\nx\n"},
		},
		{
			name: "a pipe, a broken link and a folder that nobody may read", prepare: commits, before: world.Tree{"a": "a\n", "d/b": "b\n"},
			command: "mkfifo p; ln -s nowhere l; echo x >> a; mkdir u; chmod 0 u", after: world.Tree{"a": "a\nx\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.PutAll(c.before)
			if c.prepare != nil {
				c.prepare(w)
			}
			before := world.Tree{}
			for path := range c.after {
				before[path] = w.Get(path)
			}
			repo := filepath.Join(w.Root, ".git")
			hasRepo := exec.Command("test", "-d", repo).Run() == nil
			var was map[string]string
			if hasRepo {
				was = files(w, ".git")
			}
			w.Plays(world.Lines(world.Shells("s", c.command))...)
			w.Start()
			e := w.Opens()
			turn := e.Turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			if hasRepo && !c.dirty {
				require.Equal(t, was, files(w, ".git"))
			}
			w.RequireTree(c.after)
			found := e.Diffs()
			for path, d := range found {
				if d.Kind == "symlink" {
					delete(found, path)
					continue
				}
				require.Contains(t, c.after, path)
				require.Equal(t, "known", d.Baseline, path)
				for _, h := range d.Hunks {
					for _, s := range h.Sources {
						require.Equal(t, sessions.ViaShell, s.Via, path)
						require.Equal(t, sessions.ItemID(turn.ID, 0), s.ItemID, path)
					}
				}
			}
			listed := map[string]bool{}
			for path, d := range found {
				listed[path], listed[d.OldPath] = true, true
			}
			for path := range c.after {
				require.True(t, listed[path], path)
			}
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(before)
			require.NoDirExists(t, w.Path("new"))
			require.NoDirExists(t, w.Path("f"))
			os.Chmod(w.Path("u"), 0o700)
		})
	}
}

// tool returns the script of a call of another tool than the shell.
func tool(call, key string, does ...string) []string {
	start := fmt.Sprintf(`{"type":"tool_call","subtype":"started","timestamp_ms":{{now_ms}},"call_id":%q,"tool_call":{%q:{"args":{}}}}`, call, key)
	end := fmt.Sprintf(`{"type":"tool_call","subtype":"completed","timestamp_ms":{{now_ms}},"call_id":%q,"tool_call":{%q:{"args":{},"result":{"success":{}}}}}`, call, key)
	return append(append([]string{start}, does...), end)
}

// TestHugeShellTurn is a turn of many commands of many kinds, with a formatter and a build among them.
func TestHugeShellTurn(t *testing.T) {
	world.TooLargeForRace(t)
	const n = 300
	w := world.New(t)
	w.Huge = true
	w.PutAll(world.Tree{
		".gitignore": "/out/\n", "lines": world.Numbered(40, nil), "d/lines": world.Numbered(40, nil), "moved": "to move\n", "dir/in/it": "in it\n",
		"gone": "gone\n", "dir2/gone": "gone too\n", "run.sh": "#!/bin/sh\n", "link": "a file\n", "mine": "committed\n", "same": "same\n",
	})
	for i := range n {
		w.Put(fmt.Sprintf("src/%d/f.go", i), fmt.Sprintf("a  %d\n", i))
	}
	w.Commits()
	w.Put("mine", "not committed\n")
	w.Put("new and mine", "not committed either\n")
	content := func() map[string]string {
		all := map[string]string{}
		require.NoError(t, filepath.WalkDir(w.Root, func(path string, e os.DirEntry, err error) error {
			switch info, _ := e.Info(); {
			case e.Name() == ".git" || e.Name() == "out":
				return filepath.SkipDir
			case e.IsDir():
				all[path] = "folder"
			case e.Type()&os.ModeSymlink != 0:
				target, _ := os.Readlink(path)
				all[path] = "to " + target
			default:
				data, _ := os.ReadFile(path)
				all[path] = fmt.Sprint(info.Mode(), string(data))
			}
			return err
		}))
		return all
	}
	before := content()
	const gitState = "(find .git -printf '%p %i %T@ %C@ %m %s\\n'; find .git -type f -exec sha256sum {} +) | sort"
	// A change within the lag of the file system's clock behind a command's start may be a person's. The second command is quick.
	w.Plays(world.Lines(
		world.Shells("0", "git stash -q -u"),
		world.Shells("1", "sed -i '3s/^/x /; 30d' lines d/lines; mv moved elsewhere; mv dir dir3; rm -r gone dir2; chmod +x run.sh"),
		world.Shells("2", "sleep 0.1; rm link; ln -s lines link; ln -s nowhere new-link; mkdir -p very/deep; echo new > very/deep/file; touch same"),
		world.Shells("3", "sed -i 's/a  /a /' src/*/f.go"),
		world.Shells("4", "mkdir out; cd out; seq 5000 | xargs touch"),
		world.Shells("5", gitState+" > ../gitstate"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Empty(t, e.Notices(turn.ID))
	kinds := map[string]string{}
	for path, d := range e.Diffs() {
		require.Equal(t, "known", d.Baseline, path)
		if !strings.HasPrefix(path, "src/") {
			kinds[path] = string(d.Kind)
		} else {
			require.Equal(t, []string{"shell"}, world.Vias(d))
		}
	}
	require.Len(t, e.Diffs(), n+len(kinds))
	require.Equal(t, map[string]string{
		"mine": "modified", "new and mine": "deleted", "lines": "modified", "d/lines": "modified", "elsewhere": "renamed",
		"dir3/in/it": "renamed", "gone": "deleted", "dir2/gone": "deleted", "run.sh": "mode", "link": "symlink", "new-link": "symlink",
		"very/deep/file": "created",
	}, kinds)
	after := content()
	for path := range kinds {
		out := e.Decides("diff/reject", world.Obj{"path": path})
		require.Empty(t, out.Skipped, path)
	}
	out := e.Decides("diff/reject", world.Obj{"turnId": turn.ID})
	require.Equal(t, n, out.Applied)
	require.Empty(t, e.Diffs())
	require.Equal(t, before, content())
	for range len(kinds) + 1 {
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	}
	require.Equal(t, after, content())
	require.FileExists(t, w.Path("out/5000"))
	state := exec.Command("sh", "-c", gitState)
	state.Dir = w.Root
	now, err := state.Output()
	require.NoError(t, err)
	require.Equal(t, w.Get("../gitstate"), string(now), "only the commands have written the repository")
}

// TestShellManyChanges has a command make more files than one look takes. Each is listed or counted as left out. A busy
// machine takes them in several looks; TestDecoysTakeNoPlace tests the bound itself.
func TestShellManyChanges(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(world.Lines(world.Shells("b", `i=0; while [ $i -lt 2100 ]; do echo $i > $i; i=$((i+1)); done`))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	listed := len(e.Diffs())
	require.GreaterOrEqual(t, listed, 2000)
	require.Equal(t, 2100, listed+leftOut(e, turn.ID))
}

// leftOut returns the number of files that a turn's notices count and do not list.
func leftOut(e *world.Editor, turn string) (all int) {
	for _, said := range regexp.MustCompile(`not listed for review: (\d+) changed files?;`).FindAllStringSubmatch(e.Notices(turn), -1) {
		n, _ := strconv.Atoi(said[1])
		all += n
	}
	return all
}

// TestHugeShellFiles writes more bytes than one look takes, and a file that is too large for any review. A busy machine looks twice.
func TestHugeShellFiles(t *testing.T) {
	world.TooLargeForRace(t)
	w := world.New(t)
	w.Huge = true
	w.Plays(world.Lines(world.Shells("b", "mkdir ../x; cd ../x; truncate -s 40M a b; truncate -s 80M c; echo d >d; mv ../x ../ws"))...) // at once, for one look
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	listed := e.Diffs()
	require.Subset(t, world.Keys(listed), []string{"x/a", "x/d"})
	require.NotContains(t, listed, "x/c")
	require.Equal(t, 4, len(listed)+leftOut(e, turn.ID))
	require.Contains(t, e.Notices(turn.ID), "; the limit is 2000 files and 64 MiB")
}

// TestOtherUnannounced has changes by calls of other tools than the shell, and changes while no call is open.
func TestOtherUnannounced(t *testing.T) {
	t.Parallel()
	pause := []string{`{"fake":"sleep","ms":250}`}
	w := world.New(t)
	w.PutAll(world.Tree{"a": "a\n", "b": "b\n", "c": "c\n", "d": "d\n"})
	w.Plays(world.Lines(
		tool("1", "mcpToolCall", world.Execs("echo x >> a")), pause,
		tool("2", "taskToolCall", world.Execs("echo x >> b")), pause,
		tool("3", "frobnicateToolCall", world.Execs("echo x >> c")), []string{world.Waits("looked")},
		[]string{world.Execs("echo x >> d")})...)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	e.Until("the look at the third call's end", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Path == "c" })
	w.Put("../looked", "")
	e.Ends(turn.ID)
	found := e.Diffs()
	for i, path := range []string{"a", "b", "c"} {
		require.Equal(t, []string{"tool"}, world.Vias(found[path]))
		require.Equal(t, sessions.ItemID(turn.ID, i), found[path].Hunks[0].Sources[0].ItemID)
	}
	require.NotContains(t, found, "d", "a person may have made it, and nothing says that the agent did")

	// A turn that only reads and edits lists nothing else.
	w.Plays(world.Lines(world.Edits("e", "a", "a\nx\n", "a\ny\n"), tool("r", "readToolCall", world.Execs("echo y >> c; echo n > n")))...)
	e.Turn(nil)
	require.NotContains(t, e.Diffs(), "n")

	// A turn whose command was refused lists nothing.
	w.Plays(`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"x"}}}}`,
		world.Execs("echo m > m"),
		`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"result":{"rejected":{"command":"x","reason":""}}}}}`, world.Done)
	e.Turn(nil)
	require.NotContains(t, e.Diffs(), "m")
}

// TestShellThatDoesNotEnd is a command that runs when the turn is cancelled, and an agent that dies.
func TestShellThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a", "a\n")
	start := world.Shells("s", "")[0]
	w.Plays(start, world.Execs("echo x >> a; touch ../ready"), `{"fake":"hang"}`)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	require.Eventually(t, func() bool { _, err := os.Stat(w.Path("../ready")); return err == nil }, world.Patience, world.Patience/1000)
	e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
	require.Equal(t, sessions.TurnCancelled, e.Ends(turn.ID).Status)
	require.Equal(t, []string{"shell"}, world.Vias(e.Diffs()["a"]))
	require.Equal(t, sessions.ItemID(turn.ID, 0), e.Diffs()["a"].Hunks[0].Sources[0].ItemID)
	e.Decides("diff/reject", world.Obj{"all": true})

	w.Plays(start, world.Execs("echo x >> a"), `{"fake":"exit","code":3}`)
	require.Equal(t, sessions.TurnFailed, e.Turn(nil).Status)
	require.Equal(t, []string{"shell"}, world.Vias(e.Diffs()["a"]))
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"a": "a\n"})
}
