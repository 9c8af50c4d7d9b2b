package git

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os/exec"
	"strconv"
	"strings"
)

// Ignored reports whether git ignores a path that is not in the index; "." is the folder itself.
func (g Tree) Ignored(ctx context.Context, path string) (bool, error) {
	_, err := g.Run(ctx, nil, "check-ignore", "-q", "--no-index", "--", "./"+path) // ":…" would be more than a name
	if noneIgnored(err) {
		return false, nil
	}
	return err == nil, err
}

// noneIgnored reports whether git check-ignore has succeeded and found nothing.
func noneIgnored(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 1
}

// IgnoredFiles yields the workspace's ignored files, without those of nested repositories. The paths are parts of one large
// text: clone those that you keep.
func (r Repository) IgnoredFiles(ctx context.Context) (iter.Seq[string], error) {
	out, err := r.Git.Run(ctx, nil, "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	return func(yield func(string) bool) {
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name != "" && !strings.HasSuffix(name, "/") && !yield(r.At+name) {
				return
			}
		}
	}, nil
}

// A Rule is the line of an ignore file by which git ignores a path.
type Rule struct {
	Path   string // of the workspace
	Source string // the ignore file as git names it: absolute, or relative to the top of the work tree
	Line   int    // counts from 1
}

// Rules returns the rules by which git ignores paths of the workspace, and none for a path that it does not ignore.
func (r Repository) Rules(ctx context.Context, paths []string) (rules []Rule, err error) {
	return r.rules(ctx, paths, "--no-index")
}

// Hidden returns which paths of the workspace git ignores. What its index has, it does not.
func (r Repository) Hidden(ctx context.Context, paths []string) (map[string]bool, error) {
	rules, err := r.rules(ctx, paths, "--index")
	if err != nil {
		return nil, err
	}
	hidden := make(map[string]bool, len(rules))
	for _, rule := range rules {
		hidden[rule.Path] = true
	}
	return hidden, nil
}

func (r Repository) rules(ctx context.Context, paths []string, index string) (rules []Rule, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, name := range paths {
		in.WriteString(strings.TrimPrefix(name, r.At) + "\x00")
	}
	out, err := r.Git.Run(ctx, &in, "check-ignore", "-z", "-v", index, "--stdin")
	if err != nil && !noneIgnored(err) {
		return nil, err
	}
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) >= 4; fields = fields[4:] { // source, line, pattern, path
		line, err := strconv.Atoi(fields[1])
		if err == nil && fields[0] != "" && !strings.HasPrefix(fields[2], "!") {
			rules = append(rules, Rule{Path: r.At + strings.Clone(fields[3]), Source: strings.Clone(fields[0]), Line: line})
		}
	}
	return rules, nil
}

// Submodules lists the folders of a tree that its index has as submodules, relative to the tree.
func (t Tree) Submodules(ctx context.Context) (dirs []string, err error) {
	out, err := t.Run(ctx, nil, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if rest, ok := strings.CutPrefix(entry, "160000 "); ok {
			if _, name, ok := strings.Cut(rest, "\t"); ok {
				dirs = append(dirs, strings.Clone(name))
			}
		}
	}
	return dirs, nil
}
