package why

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
)

// Arguments are the flags and arguments of why, which say what is asked for.
type Arguments struct {
	Commit, Trailer, Amend, JSON bool

	file Why
	rev  string
}

// Take reads the arguments. The error is one of usage.
func (a *Arguments) Take(args []string) (err error) {
	switch {
	case a.Amend && (a.Commit || !a.Trailer):
		return misuse.Errorf("--amend is for --trailer without --commit: it is about the commit that git commit --amend makes")
	case a.Commit && len(args) > 1:
		return misuse.Errorf("--commit takes one revision")
	case a.Commit:
		if a.rev = "HEAD"; len(args) == 1 {
			a.rev = args[0]
		}
		if a.rev == "" {
			return misuse.Errorf("the revision is empty")
		}
		return nil
	case a.Trailer && len(args) > 0:
		return misuse.Errorf("--trailer is about a commit: name one with --commit, or nothing for what is staged")
	case a.Trailer:
		return nil
	case len(args) == 0:
		return misuse.Errorf("FILE is missing")
	case len(args) > 1:
		return misuse.Errorf("why takes one FILE, FILE:LINE or FILE:LINE-LINE")
	}
	a.file, err = Parse(args[0])
	return err
}

// inHook returns the tree of the index that git is about to commit, if this is one of its hooks: with "git commit -a" and "git commit FILE" that is
// another index than the repository's, which the daemon does not see. Elsewhere it returns "".
func inHook(ctx context.Context) (tree string, err error) {
	if os.Getenv("GIT_INDEX_FILE") == "" {
		return "", nil
	}
	out, err := exec.CommandContext(ctx, "git", "write-tree").Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = errors.New(strings.TrimSpace(string(failed.Stderr)))
		}
		return "", fmt.Errorf("the index %s cannot be read: %w", os.Getenv("GIT_INDEX_FILE"), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Do asks the daemon, and prints the answer.
func (a *Arguments) Do(ctx context.Context, n naming.Names, out io.Writer) error {
	if a.Commit || a.Trailer {
		if a.rev == "" {
			rev, err := inHook(ctx)
			if err != nil {
				return err
			}
			a.rev = rev
		}
		return Commit{Rev: a.rev, Amend: a.Amend, Trailer: a.Trailer, JSON: a.JSON}.Do(ctx, n, out)
	}
	w := a.file
	w.JSON = a.JSON
	return w.Do(ctx, n, out)
}
