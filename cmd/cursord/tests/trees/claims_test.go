//go:build unix

package trees

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// filterWorld makes a repository whose filter records each of its runs in ../ran.
func filterWorld(t *testing.T, where string) (w *world.World, top string) {
	w = world.New(t)
	w.Put("../bin/rot", "#!/bin/sh\necho \"$@\" >> "+w.Path("../ran")+"\nexec tr a-zA-Z n-za-mN-ZA-M\n")
	require.NoError(t, os.Chmod(w.Path("../bin/rot"), 0o755))
	if where == "within" {
		w.PutAll(world.Tree{"x": "x\n"})
		w.Commits()
		top = "in/"
	}
	w.PutAll(world.Tree{top + ".gitattributes": "*.txt filter=rot\n"})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w.Put(top+name+".txt", "hello\n")
		w.Ages(top + name + ".txt")
	}
	w.GitIn(top, "init", "-q")
	filters(w, top, "")
	w.GitIn(top, "add", "-A")
	w.GitIn(top, "commit", "-q", "-m", "x")
	require.NoError(t, os.Remove(w.Path("../ran")))
	return w, top
}

// filters configures the filter; more is appended to its commands.
func filters(w *world.World, top, more string) {
	w.GitIn(top, "config", "filter.rot.clean", w.Path("../bin/rot")+" clean"+more)
	w.GitIn(top, "config", "filter.rot.smudge", w.Path("../bin/rot")+" smudge"+more)
}

// changes lets a command of the agent change a file, and returns the file's diff and the turn's notices.
func changes(e *world.Editor, path string) (*sessions.Diff, string) {
	e.T.Helper()
	e.World.Plays(world.Lines(world.Shells("s", "echo x >> "+path))...)
	turn := e.Turn(nil)
	require.Equal(e.T, sessions.TurnCompleted, turn.Status)
	return e.Diffs()[path], e.Notices(turn.ID)
}

// TestFiltersAreTrusted: a filter that was configured before the first turn is used, a later one is not, and one that a
// person trusts is used again. The same holds after a restart.
func TestFiltersAreTrusted(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"root", "within"} {
		t.Run(where, func(t *testing.T) {
			w, top := filterWorld(t, where)
			w.Start()
			e := w.Opens()
			d, said := changes(e, top+"a.txt")
			require.Equal(t, "known", d.Baseline)
			require.NotContains(t, said, "filter.")
			require.FileExists(t, w.Path("../ran"), "a filter that was there counts")

			require.NoError(t, os.Remove(w.Path("../ran")))
			filters(w, top, " changed")
			_, said = changes(e, top+"b.txt")
			require.NoFileExists(t, w.Path("../ran"), "a filter that has come does not")
			require.Contains(t, said, "filter.rot.smudge = ")
			require.Contains(t, said, "changed")
			require.Contains(t, said, "cursord trust")

			w.Stop()
			w.Start()
			e = w.OpensWithoutTrust()
			_, said = changes(e, top+"c.txt")
			require.NoFileExists(t, w.Path("../ran"), "nor after a restart")
			require.Contains(t, said, "filter.rot.smudge = ")

			w.Stop()
			w.Start()
			e = w.Opens() // trusts the configuration that this daemon has not seen yet
			d, said = changes(e, top+"d.txt")
			require.Equal(t, "known", d.Baseline)
			require.NotContains(t, said, "filter.")
			require.FileExists(t, w.Path("../ran"), "but when a person has trusted it")

			w.Stop()
			w.Start()
			e = w.OpensWithoutTrust()
			require.NoError(t, os.Remove(w.Path("../ran")))
			d, said = changes(e, top+"e.txt")
			require.Equal(t, "known", d.Baseline)
			require.NotContains(t, said, "filter.")
			require.FileExists(t, w.Path("../ran"), "which is kept")
		})
	}
}

// TestRunTrustsOnce: "run --trust" does not trust a configuration that has changed since the first run.
func TestRunTrustsOnce(t *testing.T) {
	t.Parallel()
	w, _ := filterWorld(t, "root")
	w.Start()
	run := func(path string) {
		w.Plays(world.Lines(world.Shells("s", "echo x >> "+path))...)
		cmd := exec.Command("cursord", "run", "--trust", "do it")
		cmd.Dir, cmd.Env = w.Root, w.Env()
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	run("a.txt")
	require.FileExists(t, w.Path("../ran"))
	require.NoError(t, os.Remove(w.Path("../ran")))
	filters(w, "", " changed")
	run("b.txt")
	require.NoFileExists(t, w.Path("../ran"))
}

// TestFiltersInTheWorkspace: a filter whose program the agent can write never runs, although it was configured before.
func TestFiltersInTheWorkspace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, command string }{
		{"relative", "./tools/evil"}, {"absolute", "%s/tools/evil"}, {"by the shell", "cd %s; tools/evil"}, {"by PATH", "evil"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t)
			w.PutAll(world.Tree{"tools/evil": "#!/bin/sh\ncat\n", ".gitattributes": "*.txt filter=evil\n", "a.txt": "a\n"})
			require.NoError(t, os.Chmod(w.Path("tools/evil"), 0o755))
			command := c.command
			if command != "evil" && command[0] != '.' {
				command = fmt.Sprintf(command, w.Root)
			}
			w.Ages("a.txt")
			w.Commits()
			w.Git("config", "filter.evil.smudge", command)
			w.Start("PATH=" + w.Path("tools") + ":" + os.Getenv("PATH"))
			e := w.Opens()
			w.Plays(world.Lines(world.Edits("e", "tools/evil", "#!/bin/sh\ncat\n", "#!/bin/sh\ntouch "+w.Path("../mark")+"\ncat\n"), world.Shells("s", "echo x >> a.txt"))...)
			require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
			require.Equal(t, "known", e.Diffs()["a.txt"].Baseline)
			require.NoFileExists(t, w.Path("../mark"))
		})
	}
}

// TestOldGit: git before 2.5 is never asked; before 2.11, contents are read without conversion. A notice says so.
func TestOldGit(t *testing.T) {
	t.Parallel()
	for version, says := range map[string]string{"2.4.12": "2.5", "2.10.5": "2.11", "2.11.0": ""} {
		t.Run(version, func(t *testing.T) {
			w := world.New(t)
			git, err := exec.LookPath("git")
			require.NoError(t, err)
			w.Put("../bin/git", fmt.Sprintf("#!/bin/sh\ncase \"$*\" in\n--version) echo git version %s;;\n*--filters*) exit 129;;\n*) echo \"$*\" >> %s; exec %s \"$@\";;\nesac\n", version, w.Path("../asked"), git))
			require.NoError(t, os.Chmod(w.Path("../bin/git"), 0o755))
			w.PutAll(world.Tree{"a.txt": "a\n"})
			w.Ages("a.txt")
			w.Commits()
			w.Start("PATH=" + w.Path("../bin") + ":" + os.Getenv("PATH"))
			e := w.Opens()
			d, said := changes(e, "a.txt")
			require.Equal(t, "known", d.Baseline)
			if says == "" {
				require.Empty(t, said)
			} else {
				require.Contains(t, said, says)
			}
			if version == "2.4.12" {
				require.NoFileExists(t, w.Path("../asked"))
			}
		})
	}
}

// TestPlantsBetweenTurns: a log/message reports a filter that is configured between turns.
func TestPlantsBetweenTurns(t *testing.T) {
	t.Parallel()
	w, _ := filterWorld(t, "root")
	w.Start()
	e := w.Opens()
	changes(e, "a.txt")
	filters(w, "", " changed")
	w.Git("commit", "-q", "--allow-empty", "-m", "looks at the head")
	e.Until("a message", func(n world.Notification) bool {
		return n.Method == "log/message" && strings.Contains(n.Message, "filter.rot.smudge")
	})
}
