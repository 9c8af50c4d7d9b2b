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
	argv, _ := json.Marshal([]string{"sh", "-c", command})
	args := fmt.Sprintf(`"args":{"command":%q,"workingDirectory":""}`, "x")
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":{"shellToolCall":{%s}}}`, call, args),
		fmt.Sprintf(`{"fake":"exec","argv":%s}`, argv),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"tool_call":{"shellToolCall":{%s,"result":{"success":{"command":"x","exitCode":0,"stdout":""}}}}}`, call, args),
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
						require.Equal(t, "shell", s.Via, path)
						require.Equal(t, sessions.ItemID(turn.ID, 0), s.ItemID, path)
					}
				}
			}
			for path := range c.after {
				require.Contains(t, found, path)
			}
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(before)
			require.NoDirExists(t, w.path("new"))
			require.NoDirExists(t, w.path("f"))
			os.Chmod(w.path("u"), 0o700)
		})
	}
}
