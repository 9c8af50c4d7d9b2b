package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// Shells are script lines by which the agent runs a shell command.
func Shells(call, command string) []string {
	args := fmt.Sprintf(`"args":{"command":%q,"workingDirectory":""}`, "x")
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{%s}}}`, call, args),
		Execs(command),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{%s,"result":{"success":{"command":"x","exitCode":0,"stdout":""}}}}}`, call, args),
	}
}

// Git runs Git in the workspace.
func (w *World) Git(args ...string) string {
	w.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.Root, append(w.Env(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	require.NoError(w.T, err, "git %s: %s", args, out)
	return string(out)
}

// Commits makes the workspace a repository that has all its files.
func (w *World) Commits() {
	w.T.Helper()
	w.Git("init", "-q")
	w.Git("config", "user.name", "a")
	w.Git("config", "user.email", "a@b")
	w.Git("add", "-A")
	w.Git("commit", "-q", "-m", "first")
}

// files returns all files below a folder of the workspace with their contents and times.
func (w *World) files(dir string) map[string]string {
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

// Notices are what a turn tells people.
func (e *Editor) Notices(turn string) string {
	return strings.Join(e.Said(turn, sessions.ItemNotice), "\n")
}

// TestShellChanges has an agent change files by a command that names none of them.
func TestShellChanges(t *testing.T) {
	t.Parallel()
	commits := func(w *World) { w.Commits() }
	for _, c := range []struct {
		name    string
		before  Tree
		prepare func(*World)
		command string
		after   Tree // what differs
		dirty   bool // the command may write the repository
	}{
		{
			name: "sed", prepare: commits, before: Tree{"a": "one\ntwo\n", "d/b": "one\n", "c": "x\n"},
			command: "sed -i s/one/ONE/ a d/b", after: Tree{"a": "ONE\ntwo\n", "d/b": "ONE\n"},
		},
		{
			name: "files made, moved and removed", prepare: commits, before: Tree{"a": "a\n", "b": "b\n", "d/c": "c\n"},
			command: "mv a e; rm b; mkdir -p new/er; echo n > new/er/n; mv d f",
			after:   Tree{"a": "(absent)", "e": "a\n", "b": "(absent)", "new/er/n": "n\n", "d/c": "(absent)", "f/c": "c\n"},
		},
		{
			name: "the same without git", before: Tree{"a": "a\n", "b": "b\n", "d/c": "c\n", "k": "k\n"},
			command: "mv a e; rm b; mkdir -p new/er; echo n > new/er/n; mv d f; echo more >> k",
			after: Tree{
				"a": "(absent)", "e": "a\n", "b": "(absent)", "new/er/n": "n\n", "d/c": "(absent)", "f/c": "c\n", "k": "k\nmore\n",
			},
		},
		{
			name: "what was not committed", before: Tree{"a": "a\n", "b": "b\n"},
			prepare: func(w *World) {
				w.Commits()
				w.Put("a", "mine\n")
				w.Put("new", "also mine\n")
				w.Put("staged", "s\n")
				w.Git("add", "staged")
			},
			command: "echo x >> a; echo x >> new; rm staged", after: Tree{"a": "mine\nx\n", "new": "also mine\nx\n", "staged": "(absent)"},
		},
		{
			name: "git stash", before: Tree{"a": "a\n", "b": "b\n"}, dirty: true,
			prepare: func(w *World) {
				w.Commits()
				w.Put("a", "mine\n")
				w.Put("new", "also mine\n")
			},
			command: "git stash -u", after: Tree{"a": "a\n", "new": "(absent)"},
		},
		{
			name: "git commit", prepare: commits, before: Tree{"a": "a\n"}, dirty: true,
			command: "echo b >> a; git commit -qam second", after: Tree{"a": "a\nb\n"},
		},
		{
			name: "git checkout", before: Tree{"a": "a\n", "b": "b\n", "d/gone": "g\n"}, dirty: true,
			prepare: func(w *World) {
				w.Commits()
				w.Git("checkout", "-q", "-b", "other")
				w.Put("a", "other\n")
				w.Put("n", "new\n")
				w.Git("rm", "-q", "d/gone")
				w.Git("add", "-A")
				w.Git("commit", "-q", "-m", "other")
				w.Git("checkout", "-q", "-")
			},
			command: "git checkout -q other", after: Tree{"a": "other\n", "n": "new\n", "d/gone": "(absent)"},
		},
		{
			name: "line ends that git converts", before: Tree{"a": "a\nb\n", "b": "b\n"},
			prepare: func(w *World) {
				w.Commits()
				w.Git("config", "core.autocrlf", "true")
				require.NoError(w.T, os.Remove(w.Path("a")))
				w.Git("checkout", "a")
				require.Equal(w.T, "a\r\nb\r\n", w.Get("a"))
			},
			command: `printf 'a\r\nB\r\n' > a; touch b`, after: Tree{"a": "a\r\nB\r\n"},
		},
		{
			name: "odd names", prepare: commits, before: Tree{"a \"q\"\n\tü": "a\n", "-x": "x\n", "sp ace/[a]*": "b\n", ":(top)c": "c\n"},
			command: `for f in a* ./-x sp*/* :*; do echo x >> "$f"; done`,
			after:   Tree{"a \"q\"\n\tü": "a\nx\n", "-x": "x\nx\n", "sp ace/[a]*": "b\nx\n", ":(top)c": "c\nx\n"},
		},
		{
			name: "nothing but times and ignored files", before: Tree{".gitignore": "*.o\n/build/\n", "a": "a\n", "x.o": "x\n"},
			prepare: commits, command: "touch a; echo y > x.o; echo z > z.o; mkdir build; echo 1 > build/1; cp -p a c; rm c", after: Tree{},
		},
		{
			name: "what is no longer ignored was there", before: Tree{".gitignore": "*.o\n", "a": "a\n", "x.o": "x\n"},
			prepare: commits, command: "rm .gitignore; echo n > n.o", after: Tree{".gitignore": "(absent)", "n.o": "n\n"},
		},
		{
			name:    "moves beside a change of what is ignored",
			before:  Tree{".gitignore": "*.o\n", "a": "a\n", "d/b": "b\n", "d/in/c": "c\n", "d/x.o": "x\n", "e": "e\n"},
			prepare: commits, command: "echo '*.tmp' >> .gitignore; mv a a2; mv d d2; mv e e2; echo more >> e2; mkdir out; touch out/1.tmp",
			after: Tree{
				".gitignore": "*.o\n*.tmp\n", "a": "(absent)", "a2": "a\n", "d/b": "(absent)", "d2/b": "b\n", "d/in/c": "(absent)", "d2/in/c": "c\n",
				"e": "(absent)", "e2": "e\nmore\n", "out/1.tmp": "",
			},
		},
		{
			name: "a folder of a repository", before: Tree{"d/a": "a\n"},
			prepare: func(w *World) {
				top := w.Root
				w.Put("other", "o\n")
				w.Commits()
				w.Root = filepath.Join(top, "d")
				require.NoError(w.T, os.Rename(filepath.Join(top, "d", "a"), filepath.Join(top, "d", "b")))
				require.NoError(w.T, os.Rename(filepath.Join(top, "d", "b"), filepath.Join(top, "d", "a")))
			},
			command: "echo x >> a; echo y >> ../other", after: Tree{"a": "a\nx\n"},
		},
		{
			name: "a pipe, a broken link and a folder that nobody may read", prepare: commits, before: Tree{"a": "a\n", "d/b": "b\n"},
			command: "mkfifo p; ln -s nowhere l; echo x >> a; mkdir u; chmod 0 u", after: Tree{"a": "a\nx\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := New(t)
			w.PutAll(c.before)
			if c.prepare != nil {
				c.prepare(w)
			}
			before := Tree{}
			for path := range c.after {
				before[path] = w.Get(path)
			}
			repo := filepath.Join(w.Root, ".git")
			hasRepo := exec.Command("test", "-d", repo).Run() == nil
			var was map[string]string
			if hasRepo {
				was = w.files(".git")
			}
			w.Plays(Lines(Shells("s", c.command))...)
			w.Start()
			e := w.Opens()
			turn := e.Turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			if hasRepo && !c.dirty {
				require.Equal(t, was, w.files(".git"))
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
			e.Decides("diff/reject", Obj{"all": true})
			w.RequireTree(before)
			require.NoDirExists(t, w.Path("new"))
			require.NoDirExists(t, w.Path("f"))
			os.Chmod(w.Path("u"), 0o700)
		})
	}
}

// tool are script lines by which another tool than the shell does something.
func tool(call, key string, does ...string) []string {
	start := fmt.Sprintf(`{"type":"tool_call","subtype":"started","timestamp_ms":{{now_ms}},"call_id":%q,"tool_call":{%q:{"args":{}}}}`, call, key)
	end := fmt.Sprintf(`{"type":"tool_call","subtype":"completed","timestamp_ms":{{now_ms}},"call_id":%q,"tool_call":{%q:{"args":{},"result":{"success":{}}}}}`, call, key)
	return append(append([]string{start}, does...), end)
}

func Execs(command string) string {
	argv, _ := json.Marshal([]string{"sh", "-c", command})
	return fmt.Sprintf(`{"fake":"exec","argv":%s}`, argv)
}

// Waits has the agent wait until the test makes a file, outside of the workspace.
func Waits(name string) string { return fmt.Sprintf(`{"fake":"wait","path":"../%s"}`, name) }

// Vias lists how the sources of a diff's hunks came about.
func Vias(d *sessions.Diff) (all []string) {
	if d == nil {
		return []string{"not listed"}
	}
	for _, h := range d.Hunks {
		for _, s := range h.Sources {
			all = append(all, string(s.Via))
		}
	}
	return all
}

// TestHugeShellTurn is a turn of many commands of many kinds, with a formatter and a build among them.
func TestHugeShellTurn(t *testing.T) {
	TooLargeForRace(t)
	const n = 300
	w := New(t)
	w.PutAll(Tree{
		".gitignore": "/out/\n", "lines": Numbered(40, nil), "d/lines": Numbered(40, nil), "moved": "to move\n", "dir/in/it": "in it\n",
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
	w.Plays(Lines(
		Shells("0", "git stash -q -u"),
		Shells("1", "sed -i '3s/^/x /; 30d' lines d/lines; mv moved elsewhere; mv dir dir3; rm -r gone dir2; chmod +x run.sh"),
		Shells("2", "rm link; ln -s lines link; ln -s nowhere new-link; mkdir -p very/deep; echo new > very/deep/file; touch same"),
		Shells("3", "sed -i 's/a  /a /' src/*/f.go"),
		Shells("4", "mkdir out; cd out; seq 20000 | xargs touch; cd ..; "+gitState+" > ../gitstate"))...)
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
			require.Equal(t, []string{"shell"}, Vias(d))
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
		out := e.Decides("diff/reject", Obj{"path": path})
		require.Empty(t, out.Skipped, path)
	}
	out := e.Decides("diff/reject", Obj{"turnId": turn.ID})
	require.Equal(t, n, out.Applied)
	require.Empty(t, e.Diffs())
	require.Equal(t, before, content())
	for range len(kinds) + 1 {
		e.Must("diff/undo", Obj{"workspace": w.Root}, nil)
	}
	require.Equal(t, after, content())
	require.FileExists(t, w.Path("out/20000"))
	state := exec.Command("sh", "-c", gitState)
	state.Dir = w.Root
	now, err := state.Output()
	require.NoError(t, err)
	require.Equal(t, w.Get("../gitstate"), string(now), "only the commands have written the repository")
}

func TestShellManyChanges(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Plays(Lines(Shells("b", `i=0; while [ $i -lt 2100 ]; do echo $i > $i; i=$((i+1)); done`))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, 2000, len(e.Diffs()))
	require.Contains(t, e.Notices(turn.ID), "100 changed file(s) are not listed for review")
}

// TestHugeShellFiles writes more bytes than are taken at a time, and a file that is too large for any review.
func TestHugeShellFiles(t *testing.T) {
	TooLargeForRace(t)
	w := New(t)
	w.Plays(Lines(Shells("b", "truncate -s 40M a; truncate -s 40M b; truncate -s 80M c; echo d >d"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, []string{"a", "d"}, Sorted(Keys(e.Diffs())))
	require.Contains(t, e.Notices(turn.ID), "2 changed file(s) are not listed for review: at most 2000 files and 64 MiB")
}

// TestOtherUnannounced has changes by other calls than shell commands, and by none that is open.
func TestOtherUnannounced(t *testing.T) {
	t.Parallel()
	pause := []string{`{"fake":"sleep","ms":250}`}
	w := New(t)
	w.PutAll(Tree{"a": "a\n", "b": "b\n", "c": "c\n", "d": "d\n"})
	w.Plays(Lines(
		tool("1", "mcpToolCall", Execs("echo x >> a")), pause,
		tool("2", "taskToolCall", Execs("echo x >> b")), pause,
		tool("3", "frobnicateToolCall", Execs("echo x >> c")),
		[]string{Execs("sleep 0.2; echo x >> d")})...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	found := e.Diffs()
	for i, path := range []string{"a", "b", "c"} {
		require.Equal(t, []string{"tool"}, Vias(found[path]))
		require.Equal(t, sessions.ItemID(turn.ID, i), found[path].Hunks[0].Sources[0].ItemID)
	}
	require.NotContains(t, found, "d", "a person may have made it, and nothing says that the agent did")

	// Nor is anything listed of a turn that only reads and edits.
	w.Plays(Lines(Edits("e", "a", "a\nx\n", "a\ny\n"), tool("r", "readToolCall", Execs("echo y >> c; echo n > n")))...)
	e.Turn(nil)
	require.NotContains(t, e.Diffs(), "n")

	// Nor one whose command was refused.
	w.Plays(`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"x"}}}}`,
		Execs("echo m > m"),
		`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"result":{"rejected":{"command":"x","reason":""}}}}}`, Done)
	e.Turn(nil)
	require.NotContains(t, e.Diffs(), "m")
}

// TestShellThatDoesNotEnd is a command that runs when the turn is cancelled, and an agent that dies.
func TestShellThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Put("a", "a\n")
	start := Shells("s", "")[0]
	w.Plays(start, Execs("echo x >> a; touch ../ready"), `{"fake":"hang"}`)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	require.Eventually(t, func() bool { _, err := os.Stat(w.Path("../ready")); return err == nil }, Patience, Patience/1000)
	e.Must("turn/cancel", Obj{"turnId": turn.ID}, nil)
	require.Equal(t, sessions.TurnCancelled, e.Ends(turn.ID).Status)
	require.Equal(t, []string{"shell"}, Vias(e.Diffs()["a"]))
	require.Equal(t, sessions.ItemID(turn.ID, 0), e.Diffs()["a"].Hunks[0].Sources[0].ItemID)
	e.Decides("diff/reject", Obj{"all": true})

	w.Plays(start, Execs("echo x >> a"), `{"fake":"exit","code":3}`)
	require.Equal(t, sessions.TurnFailed, e.Turn(nil).Status)
	require.Equal(t, []string{"shell"}, Vias(e.Diffs()["a"]))
	e.Decides("diff/reject", Obj{"all": true})
	w.RequireTree(Tree{"a": "a\n"})
}

// TestUserAndShell has a person save files before, between and beside an agent's commands.
func TestUserAndShell(t *testing.T) {
	t.Parallel()
	for _, repo := range []bool{false, true} {
		t.Run(map[bool]string{true: "git", false: "no git"}[repo], func(t *testing.T) {
			w := New(t)
			v := Numbered(20, nil)
			w.PutAll(Tree{"a": v, "b": v, "c": v, "both": v})
			if repo {
				w.Commits()
			}
			pause := `{"fake":"sleep","ms":500}` // longer than a busy machine is late
			one, two := Shells("1", "sed -i 's/^line 3$/three/' a both"), Shells("2", "sed -i 's/^line 15$/fifteen/' a both")
			w.Plays(Lines(
				[]string{`{"type":"assistant","message":{"content":[{"type":"text","text":"one"}]}}`, Waits("1"), pause},
				one[:1], []string{pause}, one[1:], // what a person saved is seen before the command writes over it
				[]string{pause, `{"type":"assistant","message":{"content":[{"type":"text","text":"two"}]}}`, Waits("2"), pause},
				two[:1], []string{pause}, two[1:])...)
			w.Start()
			e := w.Opens()
			turn := e.Asks(nil)
			said := func(n int) {
				e.Until("text", func(Notification) bool { return len(e.Said(turn.ID, sessions.ItemAssistant)) == n })
			}
			said(1)
			w.Put("b", "mine\n"+v)
			w.Put("both", "mine\n"+v)
			w.Put("mine", "m\n")
			w.Put("../1", "")
			said(2)
			w.Put("c", "mine\n"+v)
			w.Put("both", w.Get("both")+"mine too\n")
			w.Put("../2", "")
			e.Ends(turn.ID)
			found := e.Diffs()
			require.Len(t, found, 2)
			require.Equal(t, []string{"shell", "shell"}, Vias(found["a"]))
			require.Equal(t, []string{"shell", "shell"}, Vias(found["both"]))
			e.Decides("diff/reject", Obj{"all": true})
			w.RequireTree(Tree{"a": v, "b": "mine\n" + v, "c": "mine\n" + v, "both": "mine\n" + v + "mine too\n", "mine": "m\n"})
		})
	}
}

// TestEditsAndShells mixes both on one file, over two turns.
func TestEditsAndShells(t *testing.T) {
	t.Parallel()
	w := New(t)
	v0 := Numbered(30, nil)
	v1 := Numbered(30, map[int]string{5: "five\n"})
	v2 := Numbered(30, map[int]string{5: "five\n", 25: "25\n"})
	w.Put("f", v0)
	w.Put("g", "g\n")
	w.Commits()
	pause := []string{`{"fake":"sleep","ms":250}`}
	w.Plays(Lines(
		Edits("e", "f", v0, v1), pause, Shells("s", "sed -i 's/^line 25$/25/' f; echo x >> g"),
		Edits("h", "h", "(absent)", "h\n"), Shells("t", "rm h; echo x >> g"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	found := e.Diffs()
	require.Equal(t, []string{"edit", "shell"}, Vias(found["f"]))
	require.Equal(t, []string{"f", "g"}, Sorted(Keys(found)))
	e.Decides("diff/accept", Obj{"all": true})
	w.RequireTree(Tree{"f": v2, "g": "g\nx\nx\n"})

	// Between the turns a person writes to a file that is reviewed no more.
	w.Put("f", "mine\n"+v2)
	w.Plays(Lines(Shells("s", "sed -i s/five/FIVE/ f"))...)
	e.Turn(nil)
	require.Len(t, e.Diffs(), 1)
	require.Len(t, e.Diffs()["f"].Hunks, 1)
	e.Decides("diff/reject", Obj{"all": true})
	w.RequireTree(Tree{"f": "mine\n" + v2})
}

func Keys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

func TestShellAtHome(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Put("../a", "a\n")
	w.Root = w.Dir
	w.Plays(Lines(Edits("e", "b", "(absent)", "b\n"), Shells("s", "echo x >> a"), Shells("t", "echo x >> a"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, []string{"b"}, Keys(e.Diffs()))
	require.Equal(t, []string{"What commands change in this workspace is not looked for: the home directory is in it."},
		e.Said(turn.ID, sessions.ItemNotice))
}

func TestShellNameThatIsNoText(t *testing.T) {
	t.Parallel()
	w := New(t)
	name := w.Path("a\xff")
	if err := os.WriteFile(name, []byte("a\n"), 0o644); err != nil {
		t.Skip("the file system takes no such names")
	}
	w.Commits()
	w.Plays(Lines(Shells("s", "for f in a*; do echo x >> $f; done; echo b > b"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, []string{"b"}, Keys(e.Diffs()))
	require.Equal(t, "1 change(s) cannot be reviewed: a\uFFFD: its name is not UTF-8", e.Notices(turn.ID))
}

// TestShellLinks has commands take links away and put them in the place of files and folders.
func TestShellLinks(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.PutAll(Tree{"f": "f\n", "d/f": "d\n", "g": "g\n", "../out/f": "out\n"})
	require.NoError(t, os.Symlink("f", w.Path("l")))
	require.NoError(t, os.Symlink("f", w.Path("m")))
	w.Commits()
	w.Plays(Lines(Shells("s", "rm l; rm m; echo m > m; rm g; ln -s f g; rm -r d; ln -s ../out d; echo x >> f"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	found := e.Diffs()
	require.Equal(t, "deleted", string(found["d/f"].Kind), "what is behind a link is not the workspace's")
	require.Equal(t, "modified", string(found["f"].Kind))
	if d := found["m"]; d.Kind != "symlink" {
		require.Equal(t, "unknown", d.Baseline)
	}
	e.Decides("diff/reject", Obj{"all": true})
	w.RequireTree(Tree{"f": "f\n", "../out/f": "out\n"})
}

// TestANewFileWithTheNumberOfADeletedOne has a command delete a file, and a person make another at once, which most file systems
// give the number of the deleted one: the deletion is listed all the same.
func TestANewFileWithTheNumberOfADeletedOne(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Put("f", "a\nb\n")
	w.Commits()
	script := Shells("s", "rm f")
	w.Plays(Lines(script, []string{Execs("sleep 0.05; echo mine > g")})...) // not in the tick of the file system's clock in which the command ends
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Contains(t, e.Diffs(), "f")
	e.Decides("diff/reject", Obj{"all": true})
	w.RequireTree(Tree{"f": "a\nb\n", "g": "mine\n"})
}
