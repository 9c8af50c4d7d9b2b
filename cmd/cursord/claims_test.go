package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// A filterWorld is a repository with a filter that notes when it runs.
func filterWorld(t *testing.T, where string) (w *world, top string) {
	w = newWorld(t)
	w.put("../bin/rot", "#!/bin/sh\necho \"$@\" >> "+w.path("../ran")+"\nexec tr a-zA-Z n-za-mN-ZA-M\n")
	require.NoError(t, os.Chmod(w.path("../bin/rot"), 0o755))
	if where == "within" {
		w.putAll(tree{"x": "x\n"})
		w.commits()
		top = "in/"
	}
	w.putAll(tree{top + ".gitattributes": "*.txt filter=rot\n"})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w.put(top+name+".txt", "hello\n")
		w.ages(top + name + ".txt")
	}
	w.gitIn(top, "init", "-q")
	w.filters(top, "")
	w.gitIn(top, "add", "-A")
	w.gitIn(top, "commit", "-q", "-m", "x")
	require.NoError(t, os.Remove(w.path("../ran")))
	return w, top
}

// ages makes files older than the index that they come to, so that git need not look into them, and the daemon asks git for
// what they held.
func (w *world) ages(names ...string) {
	w.t.Helper()
	old := time.Now().Add(-time.Hour)
	for _, name := range names {
		require.NoError(w.t, os.Chtimes(w.path(name), old, old))
	}
}

// filters configures the filter; more is put behind its commands.
func (w *world) filters(top, more string) {
	w.gitIn(top, "config", "filter.rot.clean", w.path("../bin/rot")+" clean"+more)
	w.gitIn(top, "config", "filter.rot.smudge", w.path("../bin/rot")+" smudge"+more)
}

// changes has a command of the agent change a file, and returns its diff and what the turn says.
func (e *editor) changes(path string) (*sessions.Diff, string) {
	e.t.Helper()
	e.w.plays(lines(shells("s", "echo x >> "+path))...)
	turn := e.turn(nil)
	require.Equal(e.t, sessions.TurnCompleted, turn.Status)
	return e.diffs()[path], e.notices(turn.ID)
}

// TestFiltersAreTrusted has filters of a repository that stood there before the first turn count, those that have come
// since not, and those again that a person trusts; also after a restart.
func TestFiltersAreTrusted(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"root", "within"} {
		t.Run(where, func(t *testing.T) {
			w, top := filterWorld(t, where)
			w.start()
			e := w.opens()
			d, said := e.changes(top + "a.txt")
			require.Equal(t, "known", d.Baseline)
			require.NotContains(t, said, "filter.")
			require.FileExists(t, w.path("../ran"), "a filter that was there counts")

			require.NoError(t, os.Remove(w.path("../ran")))
			w.filters(top, " changed")
			_, said = e.changes(top + "b.txt")
			require.NoFileExists(t, w.path("../ran"), "a filter that has come does not")
			require.Contains(t, said, "filter.rot.smudge = ")
			require.Contains(t, said, "changed")
			require.Contains(t, said, "cursord trust")

			w.stop()
			w.start()
			e = w.opensWithoutTrust()
			_, said = e.changes(top + "c.txt")
			require.NoFileExists(t, w.path("../ran"), "nor after a restart")
			require.Contains(t, said, "filter.rot.smudge = ")

			w.stop()
			w.start()
			e = w.opens() // which trusts what the new daemon has not seen yet
			d, said = e.changes(top + "d.txt")
			require.Equal(t, "known", d.Baseline)
			require.NotContains(t, said, "filter.")
			require.FileExists(t, w.path("../ran"), "but when a person has trusted it")

			w.stop()
			w.start()
			e = w.opensWithoutTrust()
			require.NoError(t, os.Remove(w.path("../ran")))
			d, said = e.changes(top + "e.txt")
			require.Equal(t, "known", d.Baseline)
			require.NotContains(t, said, "filter.")
			require.FileExists(t, w.path("../ran"), "which is kept")
		})
	}
}

// TestRunTrustsOnce has "run --trust" not trust again what an agent has put into the configuration since.
func TestRunTrustsOnce(t *testing.T) {
	t.Parallel()
	w, _ := filterWorld(t, "root")
	w.start()
	run := func(path string) {
		w.plays(lines(shells("s", "echo x >> "+path))...)
		cmd := exec.Command("cursord", "run", "--trust", "do it")
		cmd.Dir, cmd.Env = w.ws, w.env()
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	run("a.txt")
	require.FileExists(t, w.path("../ran"))
	require.NoError(t, os.Remove(w.path("../ran")))
	w.filters("", " changed")
	run("b.txt")
	require.NoFileExists(t, w.path("../ran"))
}

// TestFiltersInTheWorkspace has a filter whose program an agent can write never run, although it was there before.
func TestFiltersInTheWorkspace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, command string }{
		{"relative", "./tools/evil"}, {"absolute", "%s/tools/evil"}, {"by the shell", "cd %s; tools/evil"}, {"by PATH", "evil"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.putAll(tree{"tools/evil": "#!/bin/sh\ncat\n", ".gitattributes": "*.txt filter=evil\n", "a.txt": "a\n"})
			require.NoError(t, os.Chmod(w.path("tools/evil"), 0o755))
			command := c.command
			if command != "evil" && command[0] != '.' {
				command = fmt.Sprintf(command, w.ws)
			}
			w.ages("a.txt")
			w.commits()
			w.git("config", "filter.evil.smudge", command)
			w.start("PATH=" + w.path("tools") + ":" + os.Getenv("PATH"))
			e := w.opens()
			w.plays(lines(edits("e", "tools/evil", "#!/bin/sh\ncat\n", "#!/bin/sh\ntouch "+w.path("../mark")+"\ncat\n"), shells("s", "echo x >> a.txt"))...)
			require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
			require.Equal(t, "known", e.diffs()["a.txt"].Baseline)
			require.NoFileExists(t, w.path("../mark"))
		})
	}
}

// TestOldGit has a git that reads configurations whatever is done, and one that converts nothing.
func TestOldGit(t *testing.T) {
	t.Parallel()
	for version, says := range map[string]string{"2.4.12": "2.5", "2.10.5": "2.11", "2.11.0": ""} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			git, err := exec.LookPath("git")
			require.NoError(t, err)
			w.put("../bin/git", fmt.Sprintf("#!/bin/sh\ncase \"$*\" in\n--version) echo git version %s;;\n*--filters*) exit 129;;\n*) echo \"$*\" >> %s; exec %s \"$@\";;\nesac\n", version, w.path("../asked"), git))
			require.NoError(t, os.Chmod(w.path("../bin/git"), 0o755))
			w.putAll(tree{"a.txt": "a\n"})
			w.ages("a.txt")
			w.commits()
			w.start("PATH=" + w.path("../bin") + ":" + os.Getenv("PATH"))
			e := w.opens()
			d, said := e.changes("a.txt")
			require.Equal(t, "known", d.Baseline)
			if says == "" {
				require.Empty(t, said)
			} else {
				require.Contains(t, said, says)
			}
			if version == "2.4.12" {
				require.NoFileExists(t, w.path("../asked"))
			}
		})
	}
}

// TestPlantsBetweenTurns has a claim that comes between turns told by log/message.
func TestPlantsBetweenTurns(t *testing.T) {
	t.Parallel()
	w, _ := filterWorld(t, "root")
	w.start()
	e := w.opens()
	e.changes("a.txt")
	w.filters("", " changed")
	w.git("commit", "-q", "--allow-empty", "-m", "looks at the head")
	e.until("a message", func(n told) bool {
		return n.Method == "log/message" && strings.Contains(n.Message, "filter.rot.smudge")
	})
}
