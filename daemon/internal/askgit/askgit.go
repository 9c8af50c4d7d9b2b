// Package askgit runs git without a trace: it takes no lock that is not needed, runs no hook and no file system monitor,
// fetches nothing and asks nobody.
package askgit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// ErrTooMuch is returned when git prints more than is taken.
var ErrTooMuch = errors.New("git printed too much")

// A Question is where and how git is asked.
type Question struct {
	Dir  string
	Env  []string // beside the process's, less what would lead git elsewhere
	Args []string // of git itself, before the command
	In   io.Reader
	Most int // bytes that it may print
}

// Run runs a command and returns what it printed; it is an error if git's exit code is not 0.
func (q Question) Run(ctx context.Context, command ...string) ([]byte, error) {
	args := append([]string{
		"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
		"-c", "core.quotePath=false",
	}, q.Args...)
	cmd := exec.CommandContext(ctx, "git", append(args, command...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = q.Dir, append(environment(), q.Env...), q.In
	cmd.WaitDelay = 200 * time.Millisecond
	out, errOut := &bounded{left: q.Most}, &bounded{left: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errOut
	err := cmd.Run()
	switch {
	case out.over:
		return nil, fmt.Errorf("git %s: %w", command[0], ErrTooMuch)
	case err != nil:
		return out.b.Bytes(), fmt.Errorf("git %s: %w: %s", command[0], err, strings.TrimSpace(errOut.b.String()))
	}
	return out.b.Bytes(), nil
}

// environment is the process's without what would lead git to another repository, or have it lock, ask or fetch.
func environment() []string {
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
