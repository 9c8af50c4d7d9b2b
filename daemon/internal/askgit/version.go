package askgit

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
)

// ErrTooOld is returned when git cannot be kept from reading the configuration of a repository.
var ErrTooOld = errors.New("git is too old to be asked safely")

type version struct{ major, minor int }

var (
	needed   = version{2, 5}  // has GIT_COMMON_DIR
	converts = version{2, 11} // has cat-file --filters
)

func (v version) less(o version) bool {
	return v.major < o.major || v.major == o.major && v.minor < o.minor
}

func (v version) String() string { return fmt.Sprintf("git %d.%d", v.major, v.minor) }

// versions are those of programs by their paths.
var versions sync.Map

// versionOf returns the version of a git; one that says nothing of the kind is new.
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

// Lacks says what the installed git cannot do that is wanted of it, for people; "" if nothing.
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
