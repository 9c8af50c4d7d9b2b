//go:build unix

package authorship

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestSavesThatNothingWatches: before a command changes them, a person saves files where nothing is watched: in a folder that the person has just made, or
// anywhere if the system has no watches left. No reject takes a line of theirs, and what the command alone has made in a folder of its own is rejected.
func TestSavesThatNothingWatches(t *testing.T) {
	t.Parallel()
	const mine = "mine 1\nmine 2\nmine 3\n"
	for name, limit := range map[string]string{
		"watched": "", "no watchers": "echo 0 >/proc/sys/user/max_inotify_instances", "few watches": "echo 1 >/proc/sys/user/max_inotify_watches",
	} {
		for _, command := range []string{"touch $f", "echo agent >>$f", "sed -i 2s/mine/agents/ $f", "chmod +x $f", "cp $f copy && mv copy $f"} {
			t.Run(name+" "+command, func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				if limit != "" {
					w.Limits(t, limit)
				}
				w.PutAll(world.Tree{"old.txt": "mine 1\nmine 2\n", "sub/a": "a\n"})
				files := []string{"new.txt", "made/new.txt", "sub/new.txt", "old.txt"}
				run := "mkdir own; echo agent >own/f; for f in " + strings.Join(files, " ") + "; do " + command + "; done"
				w.Plays(world.Lines([]string{`{"fake":"write","path":"../held","text":""}`, world.Waits("go"), `{"fake":"sleep","ms":300}`}, world.Shells("s", run))...)
				w.Start()
				e := w.Opens()
				turn := e.Asks(world.Obj{"prompt": "x"})
				w.Exists("../held")
				for _, file := range files {
					w.Put(file, mine)
				}
				w.Put("../go", "")
				e.Ends(turn.ID)
				e.Decides("diff/reject", world.Obj{"all": true})
				for _, file := range files {
					for line := range strings.Lines(mine) {
						if !strings.Contains(command, "sed") || !strings.Contains(line, "2") {
							require.Contains(t, w.Get(file), line, "%s\n%s", file, w.CursordOK("diff"))
						}
					}
				}
				if limit == "" {
					require.NoFileExists(t, w.Path("own/f"), "it is surely the command's")
				}
			})
		}
	}
}

// TestCommandsInFoldersOfTheAgent: what a command makes in a folder that a call before it has made, or moved, or that was there and held no file, is surely the agent's.
func TestCommandsInFoldersOfTheAgent(t *testing.T) {
	t.Parallel()
	for name, first := range map[string][]string{
		"an edit":    world.Edits("c", "made/a", "(absent)", "agent\n"),
		"a command":  world.Shells("c", "mkdir made"),
		"deep":       world.Shells("c", "mkdir -p made/x/y; mkdir made/z"),
		"moved":      world.Shells("c", "mv sub made"),
		"empty":      world.Shells("c", "rmdir made/none; ls"),
		"ignored":    world.Shells("c", "echo 2 >made/a.log"),
		"moved away": world.Shells("c", "mv sub x && mkdir -p made/x/y && rm -r x"),
	} {
		for _, then := range []string{"echo 1 >made/b", "mkdir -p made/x/y; echo 1 >made/x/y/b", "mkdir -p made/new; touch made/new/b"} {
			t.Run(name+" "+then, func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.PutAll(world.Tree{"sub/a": "a\n"})
				switch name {
				case "empty":
					require.NoError(t, os.MkdirAll(w.Path("made/x/y"), 0o755))
				case "ignored":
					w.PutAll(world.Tree{"made/a.log": "1\n", ".gitignore": "*.log\n"})
				}
				if strings.HasSuffix(then, "y/b") || strings.HasSuffix(then, "new/b") {
					w.Git("init", "-q")
				}
				w.Plays(world.Lines(first, world.Shells("s", then))...)
				w.Start()
				e := w.Opens()
				e.Turn(nil)
				found := 0
				for path, d := range e.Diffs() {
					if strings.HasSuffix(path, "/b") {
						found++
						require.Equal(t, []string{"shell"}, world.Vias(d), path)
					}
				}
				require.Equal(t, 1, found)
			})
		}
	}
}
