package copytree

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/askgit"
)

// gitOutput bounds what git may print, in bytes.
const gitOutput = 512 << 20

// A git runs git on one repository and one work tree. On the user's repository it only asks: no lock is taken, no hook
// and no file system monitor runs, nothing is fetched.
type git struct {
	dir  string // the repository itself; "" to let git find it
	tree string // the top of the work tree
	in   string // where in the work tree
	own  bool   // it is a copy's, to be written to
}

func (g git) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	q := askgit.Question{Dir: g.in, In: in, Most: gitOutput}
	if g.own {
		q.Args = append(q.Args, "-c", "core.splitIndex=false")
	}
	if g.dir != "" {
		q.Args = append(q.Args, "--git-dir="+g.dir, "--work-tree="+g.tree)
	}
	out, err := q.Run(ctx, args...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, err
}

// line runs a command that prints one line, and returns this.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, nil, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// findGit returns the repository in whose work tree a folder lies, or false.
func findGit(ctx context.Context, root string) (git, bool) {
	g := git{in: root}
	top, err := g.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return git{}, false
	}
	dir, err := g.line(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return git{}, false
	}
	top = filepath.FromSlash(top)
	if rel, err := filepath.Rel(top, root); err != nil || !filepath.IsLocal(rel) {
		return git{}, false
	}
	g = git{dir: filepath.FromSlash(dir), tree: top, in: root}
	if root != top {
		// A folder that its repository ignores is none of that repository's business.
		_, err := g.run(ctx, nil, "check-ignore", "-q", "--", ".")
		var exit *exec.ExitError
		if err == nil || !errors.As(err, &exit) || exit.ExitCode() != 1 {
			return git{}, false
		}
	}
	return g, true
}
