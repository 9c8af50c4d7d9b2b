package copytree

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"

	"cursord/daemon/internal/askgit"
)

// gitOutput bounds what git may print, in bytes.
const gitOutput = 512 << 20

// A git asks git about one repository and one work tree. It only asks the user's repository: no question takes a lock, runs
// a program that the repository names, or fetches.
type git struct {
	dir  string // the repository itself
	tree string // the top of the work tree
	in   string // the folder in the work tree that is asked about

	guard *askgit.Guard
	of    string // the top of the repository's own work tree; "" if it is tree
	own   bool   // the repository is a copy's, and may be written to
}

func (g git) open(ctx context.Context) (*askgit.View, error) {
	return g.guard.Open(ctx, askgit.Repository{Dir: g.dir, Top: cmp.Or(g.of, g.tree)})
}

func (g git) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	v, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	q := askgit.Question{Dir: g.in, Work: g.tree, In: in, Most: gitOutput}
	if g.own {
		q.Args = append(q.Args, "-c", "core.splitIndex=false")
	}
	out, err := v.Run(ctx, q, args...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, err
}

// smudge returns a content as the filters of its path produce it.
func (g git) smudge(ctx context.Context, path string, data []byte) ([]byte, error) {
	v, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	contents := map[string][]byte{path: data}
	err = v.Smudge(ctx, contents)
	return contents[path], err
}

// line runs a command that prints one line, and returns the line.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, nil, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// findGit returns the repository in whose work tree a folder lies, or false.
func findGit(ctx context.Context, guard *askgit.Guard, root string) (git, bool) {
	r, ok := askgit.Find(root)
	if !ok {
		return git{}, false
	}
	g := git{dir: r.Dir, tree: r.Top, in: root, guard: guard}
	if _, err := g.line(ctx, "rev-parse", "--git-dir"); err != nil {
		return git{}, false
	}
	if root != r.Top {
		// A folder that the repository ignores does not belong to it.
		_, err := g.run(ctx, nil, "check-ignore", "-q", "--", ".")
		var exit *exec.ExitError
		if err == nil || !errors.As(err, &exit) || exit.ExitCode() != 1 {
			return git{}, false
		}
	}
	return g, true
}
