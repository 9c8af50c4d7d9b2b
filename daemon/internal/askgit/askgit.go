// Package askgit asks git about repositories that an agent may have written to. Git then reads what a repository holds,
// and never its configuration: no program that the configuration, the attributes or the hooks of a repository name runs,
// and nothing is fetched, locked or written. Guard says how.
//
// Only this package starts git, and only for what git alone knows: the index, ignore rules, objects, refs. An agent can
// write everything in .git, and a list of dangerous settings would miss the next one. So git never reads the repository's
// configuration. GIT_DIR is the repository, for HEAD and the index. GIT_COMMON_DIR is a folder of ours below the state
// directory, named by a hash of its contents: a configuration with the few settings that only say how files are stored
// (Setting.data), the exclude and attribute rules, and links to refs. Objects come by GIT_OBJECT_DIRECTORY. Git finds no hooks,
// includes, aliases, drivers, remotes or work trees there. Go finds the repository (Find). The user's and the system's
// configuration count. This needs git 2.5; before 2.11, contents are read without conversion, and a notice says so.
//
// Git waits for a FIFO, and some ignore patterns take it years. If it has not answered after a moment, its own files and the
// rule files of the work tree are checked (blocked.go), and git is ended if one of them is not a file. Then, or when it takes
// too long, the folders are read without git (snapshot/unlisted.go), ignored files included. The former content of a tracked
// file is asked for by its id, in a view of the repository from before the turn that has only the objects (View.Alone).
//
// Filters run when the former content of a file is needed, never for a listing. The daemon runs them itself (Smudge), in an
// empty folder and without the work tree in PATH, so that a relative command finds nothing that an agent wrote. Whatever a
// repository names that is not data is a claim: a filter, a rule file elsewhere, alternates, a part of the repository that lies
// elsewhere. A claim counts if its hash is stored with the workspace's trust (internal/claims). The files that make claims are
// in every snapshot (snapshot/control.go), so a change of them is found and reviewed like any other.
package askgit

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

// ErrTooMuch is returned when git prints more than the question allows.
var ErrTooMuch = errors.New("git printed too much")

// errNoGit is returned if PATH has no git outside of the workspace.
var errNoGit = errors.New("there is no git in PATH")

// A Question is a question to git, and its bounds.
type Question struct {
	Dir  string   // the working directory; "" is the top of the work tree
	Work string   // the top of another work tree than the repository's own; "" for its own
	Args []string // git's own arguments, before the command
	In   io.Reader
	Most int     // most bytes that git may print
	Said *string // if not nil, receives git's standard error, up to a bound
}

// late is how long after the end of git its output may end. On a busy machine git ends long before its pipes are read; only what
// git has left behind holds them open longer.
const late = 5 * time.Second

// saidBytes bounds the part of a standard error that Said receives.
const saidBytes = 256 << 10

// A command is one run of a program with a clean environment.
type command struct {
	dir  string
	env  []string // additions to the clean environment
	in   io.Reader
	most int
	out  []string // folders from which no program is run
	said *string  // as in Question
}

// git runs git and returns its output; an exit code other than 0 is an error.
func (c command) git(ctx context.Context, args ...string) ([]byte, error) {
	dirs := programDirs(c.out)
	git := lookFor("git", dirs)
	if git == "" {
		return nil, errNoGit
	}
	if v := versionOf(ctx, git); v.less(needed) {
		return nil, fmt.Errorf("%w: it is %s, and %s is needed", ErrTooOld, v, needed)
	}
	return c.run(ctx, dirs, append([]string{
		git, "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
		"-c", "core.quotePath=false",
	}, args...))
}

func (c command) run(ctx context.Context, dirs, argv []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, append(environment(dirs), c.env...), c.in
	cmd.WaitDelay = late
	out, errOut := &bounded{left: c.most}, &bounded{left: 4 << 10}
	if c.said != nil {
		errOut.left = saidBytes
	}
	cmd.Stdout, cmd.Stderr = out, errOut
	err := cmd.Run()
	if c.said != nil {
		*c.said = errOut.b.String()
	}
	name := filepath.Base(argv[0])
	switch {
	case out.over:
		return nil, fmt.Errorf("%s: %w", name, ErrTooMuch)
	case err != nil:
		return out.b.Bytes(), fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(errOut.b.String()))
	}
	return out.b.Bytes(), nil
}

// programDirs returns the folders of PATH, without relative ones and without those inside of the folders out, because an
// agent can put programs there.
func programDirs(out []string) (dirs []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && !insideAny(out, filepath.Clean(dir)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// lookFor returns the path of a program, or "".
func lookFor(name string, dirs []string) string {
	for _, dir := range dirs {
		if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return program
		}
	}
	return ""
}

// environment returns the process's environment without variables that would lead git to another repository, or make it
// lock, ask or fetch.
func environment(dirs []string) []string {
	var env []string
	for _, kv := range os.Environ() {
		key, _, _ := strings.Cut(kv, "=")
		switch {
		case key == "GIT_CONFIG_GLOBAL" || key == "GIT_CONFIG_SYSTEM" || key == "GIT_CONFIG_NOSYSTEM" || key == "GIT_EXEC_PATH":
		case strings.HasPrefix(key, "GIT_") || key == "LC_ALL" || key == "LANGUAGE" || strings.EqualFold(key, "PATH"):
			continue
		}
		env = append(env, kv)
	}
	return append(env, "PATH="+strings.Join(dirs, string(filepath.ListSeparator)), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_LFS_SKIP_SMUDGE=1")
}

// A bounded buffer keeps written bytes up to a bound and drops the rest.
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

// inside reports whether an absolute path is a folder or lies in it.
func inside(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

func insideAny(dirs []string, p string) bool {
	for _, dir := range dirs {
		if inside(dir, p) {
			return true
		}
	}
	return false
}
