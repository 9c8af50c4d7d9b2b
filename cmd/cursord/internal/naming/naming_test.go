package naming

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestChoose has a row for each thing that a name may be.
func TestChoose(t *testing.T) {
	t.Parallel()
	here := []candidate{{"01ABC", "one"}, {"01ABD", "two\nlines"}}
	all := append([]candidate{{"01AXX", "elsewhere"}, {"02", "\x1b[2J"}}, here...)
	for name, want := range map[string]string{
		"01ABC": "01ABC", "01abd": "01ABD", "01AX": "01AXX", "0": "", "01AB": "", "02": "02", "03": "03", "": "", "01ABCD": "01ABCD",
	} {
		got, err := choose("session", name, here, all)
		if want == "" && name != "" {
			require.Error(t, err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	_, err := choose("session", "0", nil, all)
	require.EqualError(t, err, `"0" fits 4 sessions: say which`)
	got, err := choose("session", "01A", here[:1], all)
	require.NoError(t, err)
	require.Equal(t, "01ABC", got, "what is here goes before what is elsewhere")
}

// TestHunks takes an id with both numbers as it is: what was decided never means another hunk.
func TestHunks(t *testing.T) {
	t.Parallel()
	diffs := []*sessions.Diff{{Path: "a", Hunks: []sessions.Hunk{{ID: "12.10"}, {ID: "12.3"}}}, {Path: "b", Hunks: []sessions.Hunk{{ID: "13.1"}}}}
	got, err := Hunks([]string{"12.10", "12.1", "13.", "9.", "12.3"}, diffs)
	require.NoError(t, err)
	require.Equal(t, []string{"12.10", "12.1", "13.1", "9.", "12.3"}, got)
	_, err = Hunks([]string{"12."}, diffs)
	require.EqualError(t, err, `"12." fits 2 hunks: say which`)
	for _, half := range []string{"12", "13", "1", "9"} {
		_, err = Hunks([]string{half}, diffs)
		require.ErrorContains(t, err, `"`+half+`" is half of a hunk's id`)
	}
}

// TestShortest is no longer than it must be.
func TestShortest(t *testing.T) {
	t.Parallel()
	ids := []string{"01ABCDEFGHJKL", "01ABCDEFGHJKM", "01ABCDEF0", "02", "03ABCDEFGHJKL", "03ABCDEFGHJKL"}
	short := Shortest(ids)
	require.Equal(t, map[string]string{
		ids[0]: ids[0], ids[1]: ids[1], ids[2]: "01ABCDEF0", "02": "02", ids[4]: "03ABCDEF",
	}, short)
}

// TestLateness reads places alone.
func TestLateness(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"@1": 1, "@20": 20, "01A": 0, "": 0} {
		place, late, err := lateness(name)
		require.NoError(t, err, name)
		require.Equal(t, want, place)
		require.Equal(t, want > 0, late)
	}
	for _, name := range []string{"@0", "@", "@-1", "@x", "@1.5"} {
		_, _, err := lateness(name)
		require.ErrorContains(t, err, "@1 is the latest", name)
	}
}

// TestTheRootIsNobodysWorkspace: the root and the home folder, though known, are not the workspace of directories below them.
func TestTheRootIsNobodysWorkspace(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	home, repo := filepath.Join(top, "home"), filepath.Join(top, "repo")
	require.NoError(t, os.MkdirAll(filepath.Join(repo, ".git"), 0o700))
	known := map[string]bool{"/": true, home: true, filepath.Join(home, "app"): true}
	for here, want := range map[string]string{
		filepath.Join(top, "new"):         filepath.Join(top, "new"),
		"/":                               "/",
		home:                              home,
		filepath.Join(home, "new"):        filepath.Join(home, "new"),
		filepath.Join(home, "app"):        filepath.Join(home, "app"),
		filepath.Join(home, "app", "sub"): filepath.Join(home, "app"),
		filepath.Join(repo, "sub", "dir"): repo,
	} {
		require.Equal(t, want, Around(here, home, known), here)
	}
}

// TestOwner: a file is of the innermost known workspace around it, else of the git work tree, wherever the command is given.
func TestOwner(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	home, repo := filepath.Join(top, "home"), filepath.Join(top, "repo")
	require.NoError(t, os.MkdirAll(filepath.Join(repo, "module", ".git"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(repo, ".git"), 0o700))
	known := map[string]bool{"/": true, home: true, filepath.Join(home, "app"): true, filepath.Join(home, "app", "sub"): true}
	for file, want := range map[string]string{
		filepath.Join(top, "f"):                   "",
		filepath.Join(home, "f"):                  "",
		filepath.Join(home, "app", "f"):           filepath.Join(home, "app"),
		filepath.Join(home, "app", "sub", "f"):    filepath.Join(home, "app", "sub"),
		filepath.Join(home, "app"):                filepath.Join(home, "app"),
		filepath.Join(repo, "module", "dir", "f"): filepath.Join(repo, "module"),
		filepath.Join(repo, "f"):                  repo,
	} {
		require.Equal(t, want, owner(file, home, known), file)
	}
	known[repo] = true
	require.Equal(t, repo, owner(filepath.Join(repo, "module", "dir", "f"), home, known), "a submodule is of the workspace that knows it")
}
