package askgit

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
)

// ErrTooOld is returned if git is too old to ignore the configuration of a repository.
var ErrTooOld = errors.New("git is too old to be asked safely")

type version struct{ major, minor int }

var (
	needed   = version{2, 5}  // the first version with GIT_COMMON_DIR
	converts = version{2, 11} // the first version with cat-file --filters
)

func (v version) less(o version) bool {
	return v.major < o.major || v.major == o.major && v.minor < o.minor
}

func (v version) String() string { return fmt.Sprintf("git %d.%d", v.major, v.minor) }

// versions caches the versions of programs, by their paths.
var versions sync.Map

// versionOf returns the version of a git. A git that prints no version counts as new.
func versionOf(ctx context.Context, git string) version {
	if v, known := versions.Load(git); known {
		return v.(version)
	}
	v := version{99, 0}
	out, err := exec.CommandContext(ctx, git, "--version").Output()
	if err != nil {
		return v
	}
	fmt.Sscanf(string(out), "git version %d.%d", &v.major, &v.minor)
	versions.Store(git, v)
	return v
}

// Lacks returns a text for people about features that the installed git lacks; "" if it lacks none.
func (g *Guard) Lacks(ctx context.Context) string {
	git := lookFor("git", programDirs([]string{g.Root}))
	if git == "" {
		return ""
	}
	switch v := versionOf(ctx, git); {
	case v.less(needed):
		return fmt.Sprintf("%s reads the configuration of repositories, which can name programs, so it is not used (%s is needed)", v, needed)
	case v.less(converts):
		return fmt.Sprintf("%s cannot convert contents (%s can), so they are read without filters and line ends", v, converts)
	}
	return ""
}
