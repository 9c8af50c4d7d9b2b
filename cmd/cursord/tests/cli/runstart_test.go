//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// trusted lists the trusted workspaces.
func trusted(e *world.Editor) (list []string) {
	e.T.Helper()
	var known rpc.WorkspaceList
	e.Must("workspace/list", nil, &known)
	for _, w := range known.Workspaces {
		if w.Trusted {
			list = append(list, w.Workspace)
		}
	}
	return list
}

// TestRunTrustsLast checks that a turn refused for another reason leaves nothing trusted.
func TestRunTrustsLast(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	lib := filepath.Join(w.Dir, "lib")
	require.NoError(t, os.Mkdir(lib, 0o700))
	w.Put("../config.toml", "sandbox = \"enabled\"\n")
	w.Start()
	e := w.Joins()
	_, said, status := w.Cursord("run", "--trust", "--force", "--add-dir", lib, "hi")
	require.Equal(t, world.StatusFailed, status)
	require.Contains(t, said, `cursord: --force: cannot be combined with sandbox "enabled"`)
	require.Empty(t, trusted(e))

	// This mistake shows only after the check of trust: an added folder may not contain the workspace of a copy.
	deep := filepath.Join(w.Dir, "deep", "ws")
	require.NoError(t, os.MkdirAll(deep, 0o700))
	cmd := w.Command("run", "--trust", "--isolation", "copy", "--add-dir", filepath.Dir(deep), "hi")
	cmd.Dir = deep
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "--add-dir: "+filepath.Dir(deep)+" contains the workspace")
	require.Empty(t, trusted(e))

	_, said, status = w.Cursord("run", "--add-dir", lib, "hi")
	require.Equal(t, world.StatusFailed, status)
	require.Contains(t, said, "is not trusted")
	_, said, status = w.Cursord("run", "--trust", "--add-dir", lib, "hi")
	require.Zero(t, status, said)
	require.ElementsMatch(t, []string{w.Root, lib}, trusted(e))
	_, said, status = w.Cursord("run", "--trust", "--force", "hi")
	require.Equal(t, world.StatusFailed, status, said)
	require.ElementsMatch(t, []string{w.Root, lib}, trusted(e), "what was trusted before stays so")
}

// TestWrongFlagsOfRun checks that wrong flags are refused in terms of the command line, before a daemon starts.
func TestWrongFlagsOfRun(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("not.png", "text")
	large, err := os.Create(w.Path("large.png"))
	require.NoError(t, err)
	_, err = large.WriteString(world.PNGBytes)
	require.NoError(t, err)
	require.NoError(t, large.Truncate(21<<20))
	require.NoError(t, large.Close())
	tests := map[string][]string{
		`--sandbox is "foo"; it must be enabled or disabled`:                                 {"--sandbox", "foo"},
		"--force runs every command, and --auto-review":                                      {"--force", "--auto-review"},
		"--image: " + w.Path("none.png") + " cannot be opened":                               {"--image", "none.png"},
		"--image: " + w.Path("not.png") + " is no image":                                     {"--image", "not.png"},
		"--image: the image " + w.Path("large.png") + " has 22020096 bytes; the limit is 20": {"--image", "large.png"},
		"--add-dir: ../nowhere is not there":                                                 {"--add-dir", "../nowhere"},
		"--add-dir: not.png is no folder":                                                    {"--add-dir", "not.png"},
	}
	if runtime.GOOS == "linux" { // other systems refuse such names
		require.NoError(t, os.WriteFile(w.Path("n\xff.png"), []byte(world.PNGBytes), 0o600))
		tests[`--image: the name "n\xff.png" is not UTF-8`] = []string{"--image", "n\xff.png"}
	}
	for says, flags := range tests {
		_, said, status := w.Cursord(append(append([]string{"run"}, flags...), "-")...)
		require.NotZero(t, status)
		require.Contains(t, said, says)
		require.NoFileExists(t, filepath.Join(w.Dir, "state", "cursord.db"), "no daemon was started")
	}
}

// TestRunSaysWhatItWaitsFor starts a run while another turn of the workspace runs.
func TestRunSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--json"}} {
		w := world.New(t)
		w.Plays(world.InitLine, `{"fake":"wait","path":"`+w.Path("../go")+`"}`, world.Succeeds("done"))
		w.Start()
		e := w.Opens()
		var first struct{ Turn *sessions.Turn }
		e.Must("turn/start", world.Obj{"workspace": w.Root, "prompt": "the first one"}, &first)
		run := w.Command(append(append([]string{"run"}, flags...), "second")...)
		var out bytes.Buffer
		errOut, err := os.Create(filepath.Join(w.Dir, "said"))
		require.NoError(t, err)
		defer errOut.Close()
		said := func() string { return w.Get("../said") }
		run.Stdout, run.Stderr = &out, errOut
		require.NoError(t, run.Start())
		says := `waiting for the turn "the first one" of session ` + first.Turn.SessionID
		require.Eventually(t, func() bool { return strings.Contains(said(), says) }, world.Patience, 20*time.Millisecond)
		w.Put("../go", "")
		require.NoError(t, run.Wait(), said())
		require.Equal(t, 1, strings.Count(said(), "waiting for the turn"))
	}
}
