package copytree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
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
	all := []string{
		"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
		"-c", "core.untrackedCache=false", "-c", "core.quotePath=false",
	}
	if g.own {
		all = append(all, "-c", "core.splitIndex=false")
	}
	if g.dir != "" {
		all = append(all, "--git-dir="+g.dir, "--work-tree="+g.tree)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.in, gitEnvironment(), in
	cmd.WaitDelay = 200 * time.Millisecond
	out, errOut := &bounded{left: gitOutput}, &bounded{left: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errOut
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.over:
		return nil, fmt.Errorf("git %s printed more than %d MiB", args[0], gitOutput>>20)
	case err != nil:
		return out.b.Bytes(), fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errOut.b.String()))
	}
	return out.b.Bytes(), nil
}

// line runs a command that prints one line, and returns this.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, nil, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// gitEnvironment is the process's without what would lead git to another repository, or have it lock, ask or fetch.
func gitEnvironment() []string {
	var env []string
	for _, kv := range os.Environ() {
		key, _, _ := strings.Cut(kv, "=")
		switch {
		case key == "GIT_CONFIG_GLOBAL" || key == "GIT_CONFIG_SYSTEM" || key == "GIT_CONFIG_NOSYSTEM" || key == "GIT_EXEC_PATH":
		case strings.HasPrefix(key, "GIT_") || key == "LC_ALL" || key == "LANGUAGE":
			continue
		}
		env = append(env, kv)
	}
	return append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
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

// A bounded buffer keeps what is written to it up to a bound; what is over it is dropped.
type bounded struct {
	b    bytes.Buffer
	left int
	over bool
}

func (w *bounded) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.b.Write(p[:n])
	w.left -= n
	w.over = w.over || n < len(p)
	return len(p), nil
}
