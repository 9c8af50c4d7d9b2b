package review

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/paths"
	"cursord/rpc"
	"cursord/sessions"
)

// Pending lists the diffs that are left to review in a workspace.
func Pending(ctx context.Context, client *rpc.Client, root string) ([]*sessions.Diff, error) {
	list, err := client.DiffList(ctx, rpc.DiffParams{Workspace: root})
	return list.Diffs, err
}

// WorkspaceOf returns the workspace in which paths are reviewed. It is root, unless root has nothing to review at a path and the workspace
// that owner returns for the path has. Paths of different workspaces are an error.
func WorkspaceOf(ctx context.Context, client *rpc.Client, root string, owner func(path string) string, paths []string) (string, error) {
	has := func(workspace, path string) (bool, error) {
		diffs, err := Pending(ctx, client, workspace)
		return len(SelectDiffs(diffs, workspace, path)) > 0, err
	}
	chosen := root
	for i, path := range paths {
		at := root
		if own := owner(path); own != "" && own != root {
			there, err := has(root, path)
			if err == nil && !there {
				if there, err = has(own, path); there {
					at = own
				}
			}
			if err != nil {
				return "", err
			}
		}
		if i > 0 && at != chosen {
			return "", fmt.Errorf("%s is in %s, and %s in %s: name paths of one workspace",
				term.Clean(paths[i-1]), term.Clean(chosen), term.Clean(path), term.Clean(at))
		}
		chosen = at
	}
	return chosen, nil
}

// Count returns the number of hunks in diffs, and of files that have hunks.
func Count(diffs []*sessions.Diff) (hunks, files int) {
	for _, d := range diffs {
		if hunks += len(d.Hunks); len(d.Hunks) > 0 {
			files++
		}
	}
	return hunks, files
}

// Left says how much diffs leave to review.
func Left(diffs []*sessions.Diff) string {
	hunks, files := Count(diffs)
	if hunks == 0 {
		return "nothing left to review"
	}
	return fmt.Sprintf("%s left in %s", term.Count(hunks, "hunk"), term.Count(files, "file"))
}

// SelectAll returns the diffs that paths name, each once. It prints the paths under which nothing is to review. Paths that
// do not exist are an error.
func SelectAll(errOut io.Writer, diffs []*sessions.Diff, root string, paths []string) ([]*sessions.Diff, error) {
	chosen := []*sessions.Diff{}
	known := map[string]bool{}
	var failed []error
	for _, path := range paths {
		found := SelectDiffs(diffs, root, path)
		if len(found) == 0 {
			if err := noSuchFile(root, path); err != nil {
				failed = append(failed, err)
			} else {
				fmt.Fprintf(errOut, "nothing to review in %s\n", term.Clean(path))
			}
		}
		for _, d := range found {
			if !known[d.Path] {
				known[d.Path] = true
				chosen = append(chosen, d)
			}
		}
	}
	return chosen, errors.Join(failed...)
}

// MustSelect returns the diffs that a path names. It is an error if there are none.
func MustSelect(diffs []*sessions.Diff, root, path string) ([]*sessions.Diff, error) {
	found := SelectDiffs(diffs, root, path)
	if len(found) == 0 {
		if err := noSuchFile(root, path); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("nothing to review in %s", term.Clean(path))
	}
	return found, nil
}

// noSuchFile returns an error if a path names no file on disk, or is a pattern. The caller knows that it names no diff.
func noSuchFile(root, path string) error {
	if isPattern(path) {
		return fmt.Errorf("no file under review fits %s", term.Clean(path))
	}
	for _, candidate := range candidates(root, path) {
		if _, err := os.Lstat(candidate); err == nil {
			return nil
		}
	}
	return fmt.Errorf("there is no file %s, neither on disk nor under review", term.Clean(path))
}

// candidates returns the absolute paths that a path may mean. A relative path is tried from the current directory, then from
// the workspace.
func candidates(root, path string) []string {
	if filepath.IsAbs(path) {
		return []string{path}
	}
	list := []string{filepath.Join(root, path)}
	if here, err := filepath.Abs(path); err == nil {
		list = []string{here, list[0]}
	}
	return list
}

// SelectDiffs returns the diffs that a path on the command line names: of a file, of all files below a directory, or of the
// files that a pattern matches.
func SelectDiffs(diffs []*sessions.Diff, workspace, path string) []*sessions.Diff {
	for _, candidate := range candidates(workspace, path) {
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
	if !isPattern(path) {
		return nil
	}
	for _, candidate := range candidates(workspace, path) {
		fits := pattern(candidate, !strings.ContainsRune(path, '/'))
		chosen := slices.DeleteFunc(slices.Clone(diffs), func(d *sessions.Diff) bool {
			return !fits.MatchString(filepath.ToSlash(DiffFile(workspace, d)))
		})
		if len(chosen) > 0 {
			return chosen
		}
	}
	return nil
}

func isPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// pattern compiles a file pattern: * and ? stop at a slash, ** does not, [a-z] is one of these characters, and \ takes the
// next character literally. With anywhere, the last part may match at any depth below its folder.
func pattern(glob string, anywhere bool) *regexp.Regexp {
	glob = filepath.ToSlash(glob)
	if i := strings.LastIndexByte(glob, '/'); anywhere && i >= 0 {
		return compiled(regexp.QuoteMeta(glob[:i]) + "/(?:.*/)?" + translate(glob[i+1:]))
	}
	return compiled(translate(glob))
}

func compiled(expr string) *regexp.Regexp {
	re, err := regexp.Compile("^" + expr + "$")
	if err != nil { // an invalid class such as [z-a] matches nothing
		return regexp.MustCompile(`$.^`)
	}
	return re
}

func translate(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		rest := glob[i:]
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '[' && strings.IndexByte(rest[1:], ']') > 0:
			class := rest[1 : 1+strings.IndexByte(rest[1:], ']')]
			i += len(class) + 1
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(class) + "]")
		case rest[0] == '\\' && len(rest) > 1:
			i++
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	return b.String()
}

// DiffFile returns the absolute path of a diff's file.
func DiffFile(workspace string, d *sessions.Diff) string {
	return paths.Absolute(workspace, d.Path)
}
