package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// everything lists what is below a folder, with modes, contents and where links point, less git's own.
func everything(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(root, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			all[name] = "folder"
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[name] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(path)
			all[name] = info.Mode().String() + " " + string(data)
			return err
		}
		return nil
	}))
	return all
}

// TestIsolatedCommands has commands rearrange the copy of a workspace: accepting all does the same to the workspace, undoing
// that takes all of it back, and rejecting all leaves nothing to review.
func TestIsolatedCommands(t *testing.T) {
	before := tree{
		"a": "a\n", "b": "b\n", "x.sh": "#!/bin/sh\n", "d/a": "in d\n", "d/in/b": "in d/in\n", "d/in/c": "c\n", "e/in/z": "z\n", "bin": "\x00\x01",
		"many": numbered(40, nil),
	}
	for _, command := range []string{
		"rm -r d; ln -s e d",
		"rm a; mkdir a; echo in > a/in",
		"mv d f; mv f/in g; mkdir h; mv g h/",
		"mv a t; mv b a; mv t b",
		"mv d t; mv e d; mv t e",
		"rm -r *",
		"rm -r d; echo file > d",
		"chmod +x a; chmod -x x.sh; printf '\\0new' > bin; sed -i 's/^line 7$/seven/; /^line 20$/d' many",
		"mv many d/in/; echo more >> d/in/many; cp -r d copy; ln -s ../a d/link",
		"mkdir -p n/e/w; echo n > n/e/w/f; mv d/in/b n/e/; mv e/in/z e/; rmdir e/in",
	} {
		for _, git := range []bool{true, false} {
			t.Run(command+map[bool]string{true: ", git"}[git], func(t *testing.T) {
				w := newWorld(t)
				w.putAll(before)
				require.NoError(t, os.Chmod(w.path("x.sh"), 0o755))
				if git {
					w.commits()
				}
				was := everything(t, w.ws)
				w.plays(lines(shells("s", command))...)
				w.start()
				e := w.opens()
				e.ok(e.isolates())
				require.Equal(t, was, everything(t, w.ws))
				out := e.decides("diff/accept", obj{"all": true})
				require.Empty(t, out.Skipped)
				accepted := everything(t, w.ws)
				e.must("diff/undo", obj{"workspace": w.ws}, nil)
				require.Equal(t, was, everything(t, w.ws))
				out = e.decides("diff/reject", obj{"all": true})
				require.Empty(t, out.Skipped)
				require.Empty(t, e.diffs())
				require.Equal(t, was, everything(t, w.ws))

				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = w.ws
				require.NoError(t, cmd.Run())
				require.Equal(t, everything(t, w.ws), accepted)
			})
		}
	}
}
