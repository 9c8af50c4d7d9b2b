package review

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/paths"
	"cursord/rpc"
	"cursord/sessions"
)

// Pending lists what is left to review in a workspace.
func Pending(ctx context.Context, client *rpc.Client, root string) ([]*sessions.Diff, error) {
	list, err := client.DiffList(ctx, rpc.DiffParams{Workspace: root})
	return list.Diffs, err
}

// SelectAll returns the diffs that paths name, each once, and tells of paths that name none.
func SelectAll(errOut io.Writer, diffs []*sessions.Diff, root string, paths []string) []*sessions.Diff {
	chosen := []*sessions.Diff{}
	known := map[string]bool{}
	for _, path := range paths {
		found := SelectDiffs(diffs, root, path)
		if len(found) == 0 {
			fmt.Fprintf(errOut, "nothing to review in %s\n", term.Clean(path))
		}
		for _, d := range found {
			if !known[d.Path] {
				known[d.Path] = true
				chosen = append(chosen, d)
			}
		}
	}
	return chosen
}

// SelectDiffs returns the diffs of a workspace that a path on the command line names: that of a file, or those below
// a directory. A relative path counts from the current directory, else from the workspace.
func SelectDiffs(diffs []*sessions.Diff, workspace, path string) []*sessions.Diff {
	candidates := []string{path}
	if !filepath.IsAbs(path) {
		candidates = []string{filepath.Join(workspace, path)}
		if here, err := filepath.Abs(path); err == nil {
			candidates = []string{here, candidates[0]}
		}
	}
	for _, candidate := range candidates {
		candidate = filepath.Clean(candidate)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(candidate)); err == nil {
			candidate = filepath.Join(dir, filepath.Base(candidate))
		}
		chosen := slices.DeleteFunc(slices.Clone(diffs), func(d *sessions.Diff) bool {
			file := DiffFile(workspace, d)
			_, below := paths.Within(candidate, file)
			return file != candidate && !below
		})
		if len(chosen) > 0 {
			return chosen
		}
	}
	return nil
}

// DiffFile returns the absolute path of a diff's file.
func DiffFile(workspace string, d *sessions.Diff) string {
	return paths.Absolute(workspace, d.Path)
}
