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

// shells are script lines by which the agent runs a shell command.
func shells(call, command string) []string {
	args := fmt.Sprintf(`"args":{"command":%q,"workingDirectory":""}`, "x")
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{%s}}}`, call, args),
		execs(command),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{%s,"result":{"success":{"command":"x","exitCode":0,"stdout":""}}}}}`, call, args),
	}
}

// git runs git in the workspace.
func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.ws, append(w.env(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "git %s: %s", args, out)
	return string(out)
}

// commits makes the workspace a repository that has all its files.
func (w *world) commits() {
	w.t.Helper()
	w.git("init", "-q")
	w.git("config", "user.name", "a")
	w.git("config", "user.email", "a@b")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
}

// files returns all files below a folder of the workspace with their contents and times.
func (w *world) files(dir string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(w.path(dir), func(path string, e os.DirEntry, err error) error {
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

// notices are what a turn tells people.
func (e *editor) notices(turn string) string {
	return strings.Join(e.said(turn, sessions.ItemNotice), "\n")
}

// TestShellChanges has an agent change files by a command that names none of them.
func TestShellChanges(t *testing.T) {
	t.Parallel()
	commits := func(w *world) { w.commits() }
	for _, c := range []struct {
		name    string
		before  tree
		prepare func(*world)
		command string
		after   tree // what differs
		dirty   bool // the command may write the repository
	}{
		{
			name: "sed", prepare: commits, before: tree{"a": "one\ntwo\n", "d/b": "one\n", "c": "x\n"},
			command: "sed -i s/one/ONE/ a d/b", after: tree{"a": "ONE\ntwo\n", "d/b": "ONE\n"},
		},
		{
			name: "files made, moved and removed", prepare: commits, before: tree{"a": "a\n", "b": "b\n", "d/c": "c\n"},
			command: "mv a e; rm b; mkdir -p new/er; echo n > new/er/n; mv d f",
			after:   tree{"a": "(absent)", "e": "a\n", "b": "(absent)", "new/er/n": "n\n", "d/c": "(absent)", "f/c": "c\n"},
		},
		{
			name: "the same without git", before: tree{"a": "a\n", "b": "b\n", "d/c": "c\n", "k": "k\n"},
			command: "mv a e; rm b; mkdir -p new/er; echo n > new/er/n; mv d f; echo more >> k",
			after: tree{
				"a": "(absent)", "e": "a\n", "b": "(absent)", "new/er/n": "n\n", "d/c": "(absent)", "f/c": "c\n", "k": "k\nmore\n",
			},
		},
		{
			name: "what was not committed", before: tree{"a": "a\n", "b": "b\n"},
			prepare: func(w *world) {
				w.commits()
				w.put("a", "mine\n")
				w.put("new", "also mine\n")
				w.put("staged", "s\n")
				w.git("add", "staged")
			},
			command: "echo x >> a; echo x >> new; rm staged", after: tree{"a": "mine\nx\n", "new": "also mine\nx\n", "staged": "(absent)"},
		},
		{
			name: "git stash", before: tree{"a": "a\n", "b": "b\n"}, dirty: true,
			prepare: func(w *world) {
				w.commits()
				w.put("a", "mine\n")
				w.put("new", "also mine\n")
			},
			command: "git stash -u", after: tree{"a": "a\n", "new": "(absent)"},
		},
		{
			name: "git commit", prepare: commits, before: tree{"a": "a\n"}, dirty: true,
			command: "echo b >> a; git commit -qam second", after: tree{"a": "a\nb\n"},
		},
		{
			name: "git checkout", before: tree{"a": "a\n", "b": "b\n", "d/gone": "g\n"}, dirty: true,
			prepare: func(w *world) {
				w.commits()
				w.git("checkout", "-q", "-b", "other")
				w.put("a", "other\n")
				w.put("n", "new\n")
				w.git("rm", "-q", "d/gone")
				w.git("add", "-A")
				w.git("commit", "-q", "-m", "other")
				w.git("checkout", "-q", "-")
			},
			command: "git checkout -q other", after: tree{"a": "other\n", "n": "new\n", "d/gone": "(absent)"},
		},
		{
			name: "line ends that git converts", before: tree{"a": "a\nb\n", "b": "b\n"},
			prepare: func(w *world) {
				w.commits()
				w.git("config", "core.autocrlf", "true")
				require.NoError(w.t, os.Remove(w.path("a")))
				w.git("checkout", "a")
				require.Equal(w.t, "a\r\nb\r\n", w.get("a"))
			},
			command: `printf 'a\r\nB\r\n' > a; touch b`, after: tree{"a": "a\r\nB\r\n"},
		},
		{
			name: "odd names", prepare: commits, before: tree{"a \"q\"\n\tü": "a\n", "-x": "x\n", "sp ace/[a]*": "b\n", ":(top)c": "c\n"},
			command: `for f in a* ./-x sp*/* :*; do echo x >> "$f"; done`,
			after:   tree{"a \"q\"\n\tü": "a\nx\n", "-x": "x\nx\n", "sp ace/[a]*": "b\nx\n", ":(top)c": "c\nx\n"},
		},
		{
			name: "nothing but times and ignored files", before: tree{".gitignore": "*.o\n/build/\n", "a": "a\n", "x.o": "x\n"},
			prepare: commits, command: "touch a; echo y > x.o; echo z > z.o; mkdir build; echo 1 > build/1; cp -p a c; rm c", after: tree{},
		},
		{
			name: "what is no longer ignored was there", before: tree{".gitignore": "*.o\n", "a": "a\n", "x.o": "x\n"},
			prepare: commits, command: "rm .gitignore; echo n > n.o", after: tree{".gitignore": "(absent)", "n.o": "n\n"},
		},
		{
			name:    "moves beside a change of what is ignored",
			before:  tree{".gitignore": "*.o\n", "a": "a\n", "d/b": "b\n", "d/in/c": "c\n", "d/x.o": "x\n", "e": "e\n"},
			prepare: commits, command: "echo '*.tmp' >> .gitignore; mv a a2; mv d d2; mv e e2; echo more >> e2; mkdir out; touch out/1.tmp",
			after: tree{
				".gitignore": "*.o\n*.tmp\n", "a": "(absent)", "a2": "a\n", "d/b": "(absent)", "d2/b": "b\n", "d/in/c": "(absent)", "d2/in/c": "c\n",
				"e": "(absent)", "e2": "e\nmore\n", "out/1.tmp": "",
			},
		},
		{
			name: "a folder of a repository", before: tree{"d/a": "a\n"},
			prepare: func(w *world) {
				top := w.ws
				w.put("other", "o\n")
				w.commits()
				w.ws = filepath.Join(top, "d")
				require.NoError(w.t, os.Rename(filepath.Join(top, "d", "a"), filepath.Join(top, "d", "b")))
				require.NoError(w.t, os.Rename(filepath.Join(top, "d", "b"), filepath.Join(top, "d", "a")))
			},
			command: "echo x >> a; echo y >> ../other", after: tree{"a": "a\nx\n"},
		},
		{
			name: "a pipe, a broken link and a folder that nobody may read", prepare: commits, before: tree{"a": "a\n", "d/b": "b\n"},
			command: "mkfifo p; ln -s nowhere l; echo x >> a; mkdir u; chmod 0 u", after: tree{"a": "a\nx\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.putAll(c.before)
			if c.prepare != nil {
				c.prepare(w)
			}
			before := tree{}
			for path := range c.after {
				before[path] = w.get(path)
			}
			repo := filepath.Join(w.ws, ".git")
			hasRepo := exec.Command("test", "-d", repo).Run() == nil
			var was map[string]string
			if hasRepo {
				was = w.files(".git")
			}
			w.plays(lines(shells("s", c.command))...)
			w.start()
			e := w.opens()
			turn := e.turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			if hasRepo && !c.dirty {
				require.Equal(t, was, w.files(".git"))
			}
			w.requireTree(c.after)
			found := e.diffs()
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
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(before)
			require.NoDirExists(t, w.path("new"))
			require.NoDirExists(t, w.path("f"))
			os.Chmod(w.path("u"), 0o700)
		})
	}
}

// tool are script lines by which another tool than the shell does something.
func tool(call, key string, does ...string) []string {
	start := fmt.Sprintf(`{"type":"tool_call","subtype":"started","timestamp_ms":{{now_ms}},"call_id":%q,"tool_call":{%q:{"args":{}}}}`, call, key)
	end := fmt.Sprintf(`{"type":"tool_call","subtype":"completed","timestamp_ms":{{now_ms}},"call_id":%q,"tool_call":{%q:{"args":{},"result":{"success":{}}}}}`, call, key)
	return append(append([]string{start}, does...), end)
}

func execs(command string) string {
	argv, _ := json.Marshal([]string{"sh", "-c", command})
	return fmt.Sprintf(`{"fake":"exec","argv":%s}`, argv)
}

// waits has the agent wait until the test makes a file, outside of the workspace.
func waits(name string) string { return fmt.Sprintf(`{"fake":"wait","path":"../%s"}`, name) }

// vias lists how the sources of a diff's hunks came about.
func vias(d *sessions.Diff) (all []string) {
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
	huge(t)
	const n = 300
	w := newWorld(t)
	w.putAll(tree{
		".gitignore": "/out/\n", "lines": numbered(40, nil), "d/lines": numbered(40, nil), "moved": "to move\n", "dir/in/it": "in it\n",
		"gone": "gone\n", "dir2/gone": "gone too\n", "run.sh": "#!/bin/sh\n", "link": "a file\n", "mine": "committed\n", "same": "same\n",
	})
	for i := range n {
		w.put(fmt.Sprintf("src/%d/f.go", i), fmt.Sprintf("a  %d\n", i))
	}
	w.commits()
	w.put("mine", "not committed\n")
	w.put("new and mine", "not committed either\n")
	content := func() map[string]string {
		all := map[string]string{}
		require.NoError(t, filepath.WalkDir(w.ws, func(path string, e os.DirEntry, err error) error {
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
	w.plays(lines(
		shells("0", "git stash -q -u"),
		shells("1", "sed -i '3s/^/x /; 30d' lines d/lines; mv moved elsewhere; mv dir dir3; rm -r gone dir2; chmod +x run.sh"),
		shells("2", "rm link; ln -s lines link; ln -s nowhere new-link; mkdir -p very/deep; echo new > very/deep/file; touch same"),
		shells("3", "sed -i 's/a  /a /' src/*/f.go"),
		shells("4", "mkdir out; cd out; seq 20000 | xargs touch; cd ..; "+gitState+" > ../gitstate"))...)
	w.start()
	e := w.opens()
	turn := e.turn(nil)
	require.Empty(t, e.notices(turn.ID))
	kinds := map[string]string{}
	for path, d := range e.diffs() {
		require.Equal(t, "known", d.Baseline, path)
		if !strings.HasPrefix(path, "src/") {
			kinds[path] = string(d.Kind)
		} else {
			require.Equal(t, []string{"shell"}, vias(d))
		}
	}
	require.Len(t, e.diffs(), n+len(kinds))
	require.Equal(t, map[string]string{
		"mine": "modified", "new and mine": "deleted", "lines": "modified", "d/lines": "modified", "elsewhere": "renamed",
		"dir3/in/it": "renamed", "gone": "deleted", "dir2/gone": "deleted", "run.sh": "mode", "link": "symlink", "new-link": "symlink",
		"very/deep/file": "created",
	}, kinds)
	after := content()
	for path := range kinds {
		out := e.decides("diff/reject", obj{"path": path})
		require.Empty(t, out.Skipped, path)
	}
	out := e.decides("diff/reject", obj{"turnId": turn.ID})
	require.Equal(t, n, out.Applied)
	require.Empty(t, e.diffs())
	require.Equal(t, before, content())
	for range len(kinds) + 1 {
		e.must("diff/undo", obj{"workspace": w.ws}, nil)
	}
	require.Equal(t, after, content())
	require.FileExists(t, w.path("out/20000"))
	state := exec.Command("sh", "-c", gitState)
	state.Dir = w.ws
	now, err := state.Output()
	require.NoError(t, err)
	require.Equal(t, w.get("../gitstate"), string(now), "only the commands have written the repository")
}

func TestShellManyChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plays(lines(shells("b", `i=0; while [ $i -lt 2100 ]; do echo $i > $i; i=$((i+1)); done`))...)
	w.start()
	e := w.opens()
	turn := e.turn(nil)
	require.Equal(t, 2000, len(e.diffs()))
	require.Contains(t, e.notices(turn.ID), "100 changed file(s) are not listed for review")
}

// TestHugeShellFiles writes more bytes than are taken at a time, and a file that is too large for any review.
func TestHugeShellFiles(t *testing.T) {
	huge(t)
	w := newWorld(t)
	w.plays(lines(shells("b", "truncate -s 40M a; truncate -s 40M b; truncate -s 80M c; echo d >d"))...)
	w.start()
	e := w.opens()
	turn := e.turn(nil)
	require.Equal(t, []string{"a", "d"}, sorted(keys(e.diffs())))
	require.Contains(t, e.notices(turn.ID), "2 changed file(s) are not listed for review: at most 2000 files and 64 MiB")
}

// TestOtherUnannounced has changes by other calls than shell commands, and by none that is open.
func TestOtherUnannounced(t *testing.T) {
	t.Parallel()
	pause := []string{`{"fake":"sleep","ms":250}`}
	w := newWorld(t)
	w.putAll(tree{"a": "a\n", "b": "b\n", "c": "c\n", "d": "d\n"})
	w.plays(lines(
		tool("1", "mcpToolCall", execs("echo x >> a")), pause,
		tool("2", "taskToolCall", execs("echo x >> b")), pause,
		tool("3", "frobnicateToolCall", execs("echo x >> c")),
		[]string{execs("sleep 0.2; echo x >> d")})...)
	w.start()
	e := w.opens()
	turn := e.turn(nil)
	found := e.diffs()
	for i, path := range []string{"a", "b", "c"} {
		require.Equal(t, []string{"tool"}, vias(found[path]))
		require.Equal(t, sessions.ItemID(turn.ID, i), found[path].Hunks[0].Sources[0].ItemID)
	}
	require.NotContains(t, found, "d", "a person may have made it, and nothing says that the agent did")

	// Nor is anything listed of a turn that only reads and edits.
	w.plays(lines(edits("e", "a", "a\nx\n", "a\ny\n"), tool("r", "readToolCall", execs("echo y >> c; echo n > n")))...)
	e.turn(nil)
	require.NotContains(t, e.diffs(), "n")

	// Nor one whose command was refused.
	w.plays(`{"type":"tool_call","subtype":"started","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"x"}}}}`,
		execs("echo m > m"),
		`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"result":{"rejected":{"command":"x","reason":""}}}}}`, done)
	e.turn(nil)
	require.NotContains(t, e.diffs(), "m")
}

// TestShellThatDoesNotEnd is a command that runs when the turn is cancelled, and an agent that dies.
func TestShellThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", "a\n")
	start := shells("s", "")[0]
	w.plays(start, execs("echo x >> a; touch ../ready"), `{"fake":"hang"}`)
	w.start()
	e := w.opens()
	turn := e.asks(nil)
	require.Eventually(t, func() bool { _, err := os.Stat(w.path("../ready")); return err == nil }, patience, patience/1000)
	e.must("turn/cancel", obj{"turnId": turn.ID}, nil)
	require.Equal(t, sessions.TurnCancelled, e.ends(turn.ID).Status)
	require.Equal(t, []string{"shell"}, vias(e.diffs()["a"]))
	require.Equal(t, sessions.ItemID(turn.ID, 0), e.diffs()["a"].Hunks[0].Sources[0].ItemID)
	e.decides("diff/reject", obj{"all": true})

	w.plays(start, execs("echo x >> a"), `{"fake":"exit","code":3}`)
	require.Equal(t, sessions.TurnFailed, e.turn(nil).Status)
	require.Equal(t, []string{"shell"}, vias(e.diffs()["a"]))
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"a": "a\n"})
}

// TestUserAndShell has a person save files before, between and beside an agent's commands.
func TestUserAndShell(t *testing.T) {
	t.Parallel()
	for _, repo := range []bool{false, true} {
		t.Run(map[bool]string{true: "git", false: "no git"}[repo], func(t *testing.T) {
			w := newWorld(t)
			v := numbered(20, nil)
			w.putAll(tree{"a": v, "b": v, "c": v, "both": v})
			if repo {
				w.commits()
			}
			pause := `{"fake":"sleep","ms":500}` // longer than a busy machine is late
			one, two := shells("1", "sed -i 's/^line 3$/three/' a both"), shells("2", "sed -i 's/^line 15$/fifteen/' a both")
			w.plays(lines(
				[]string{`{"type":"assistant","message":{"content":[{"type":"text","text":"one"}]}}`, waits("1"), pause},
				one[:1], []string{pause}, one[1:], // what a person saved is seen before the command writes over it
				[]string{pause, `{"type":"assistant","message":{"content":[{"type":"text","text":"two"}]}}`, waits("2"), pause},
				two[:1], []string{pause}, two[1:])...)
			w.start()
			e := w.opens()
			turn := e.asks(nil)
			said := func(n int) {
				e.until("text", func(told) bool { return len(e.said(turn.ID, sessions.ItemAssistant)) == n })
			}
			said(1)
			w.put("b", "mine\n"+v)
			w.put("both", "mine\n"+v)
			w.put("mine", "m\n")
			w.put("../1", "")
			said(2)
			w.put("c", "mine\n"+v)
			w.put("both", w.get("both")+"mine too\n")
			w.put("../2", "")
			e.ends(turn.ID)
			found := e.diffs()
			require.Len(t, found, 2)
			require.Equal(t, []string{"shell", "shell"}, vias(found["a"]))
			require.Equal(t, []string{"shell", "shell"}, vias(found["both"]))
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(tree{"a": v, "b": "mine\n" + v, "c": "mine\n" + v, "both": "mine\n" + v + "mine too\n", "mine": "m\n"})
		})
	}
}

// TestEditsAndShells mixes both on one file, over two turns.
func TestEditsAndShells(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v0 := numbered(30, nil)
	v1 := numbered(30, map[int]string{5: "five\n"})
	v2 := numbered(30, map[int]string{5: "five\n", 25: "25\n"})
	w.put("f", v0)
	w.put("g", "g\n")
	w.commits()
	pause := []string{`{"fake":"sleep","ms":250}`}
	w.plays(lines(
		edits("e", "f", v0, v1), pause, shells("s", "sed -i 's/^line 25$/25/' f; echo x >> g"),
		edits("h", "h", "(absent)", "h\n"), shells("t", "rm h; echo x >> g"))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	found := e.diffs()
	require.Equal(t, []string{"edit", "shell"}, vias(found["f"]))
	require.Equal(t, []string{"f", "g"}, sorted(keys(found)))
	e.decides("diff/accept", obj{"all": true})
	w.requireTree(tree{"f": v2, "g": "g\nx\nx\n"})

	// Between the turns a person writes to a file that is reviewed no more.
	w.put("f", "mine\n"+v2)
	w.plays(lines(shells("s", "sed -i s/five/FIVE/ f"))...)
	e.turn(nil)
	require.Len(t, e.diffs(), 1)
	require.Len(t, e.diffs()["f"].Hunks, 1)
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "mine\n" + v2})
}

func keys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

func TestShellAtHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../a", "a\n")
	w.ws = w.dir
	w.plays(lines(edits("e", "b", "(absent)", "b\n"), shells("s", "echo x >> a"), shells("t", "echo x >> a"))...)
	w.start()
	e := w.opens()
	turn := e.turn(nil)
	require.Equal(t, []string{"b"}, keys(e.diffs()))
	require.Equal(t, []string{"What commands change in this workspace is not looked for: the home directory is in it."},
		e.said(turn.ID, sessions.ItemNotice))
}

func TestShellNameThatIsNoText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := w.path("a\xff")
	if err := os.WriteFile(name, []byte("a\n"), 0o644); err != nil {
		t.Skip("the file system takes no such names")
	}
	w.commits()
	w.plays(lines(shells("s", "for f in a*; do echo x >> $f; done; echo b > b"))...)
	w.start()
	e := w.opens()
	turn := e.turn(nil)
	require.Equal(t, []string{"b"}, keys(e.diffs()))
	require.Equal(t, "1 change(s) cannot be reviewed: a\uFFFD: its name is not UTF-8", e.notices(turn.ID))
}

// TestShellLinks has commands take links away and put them in the place of files and folders.
func TestShellLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"f": "f\n", "d/f": "d\n", "g": "g\n", "../out/f": "out\n"})
	require.NoError(t, os.Symlink("f", w.path("l")))
	require.NoError(t, os.Symlink("f", w.path("m")))
	w.commits()
	w.plays(lines(shells("s", "rm l; rm m; echo m > m; rm g; ln -s f g; rm -r d; ln -s ../out d; echo x >> f"))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	found := e.diffs()
	require.Equal(t, "deleted", string(found["d/f"].Kind), "what is behind a link is not the workspace's")
	require.Equal(t, "modified", string(found["f"].Kind))
	if d := found["m"]; d.Kind != "symlink" {
		require.Equal(t, "unknown", d.Baseline)
	}
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "f\n", "../out/f": "out\n"})
}

// TestANewFileWithTheNumberOfADeletedOne has a command delete a file, and a person make another at once, which most file systems
// give the number of the deleted one: the deletion is listed all the same.
func TestANewFileWithTheNumberOfADeletedOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "a\nb\n")
	w.commits()
	script := shells("s", "rm f")
	w.plays(lines(script, []string{execs("sleep 0.05; echo mine > g")})...) // not in the tick of the file system's clock in which the command ends
	w.start()
	e := w.opens()
	e.turn(nil)
	require.Contains(t, e.diffs(), "f")
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "a\nb\n", "g": "mine\n"})
}
