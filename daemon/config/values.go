package config

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cursord/daemon/paths"
)

// parseAge reads a duration, also one in days.
func parseAge(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	digits, days := strings.CutSuffix(s, "d")
	if !days {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > int64(math.MaxInt64/day) {
		return 0, errors.New("not a number of days")
	}
	return time.Duration(n) * day, nil
}

// parseSize reads a number of bytes, such as "500MB"; a K is 1024.
func parseSize(s string) (int64, error) {
	s = strings.TrimSpace(s)
	digits := strings.TrimRight(s, "KMGTiBb ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, errors.New("not a size")
	}
	unit := strings.TrimSpace(s[len(digits):])
	for i, units := range [][]string{{"", "B"}, {"K", "KB", "KiB"}, {"M", "MB", "MiB"}, {"G", "GB", "GiB"}, {"T", "TB", "TiB"}} {
		if slices.Contains(units, unit) {
			if n > math.MaxInt64>>(10*i) {
				return 0, errors.New("too large")
			}
			return n << (10 * i), nil
		}
	}
	return 0, errors.New("unknown unit")
}

// Values of the setting for the agents' environment.
const (
	EnvDaemon = "daemon"
	EnvClient = "client" // that of the client that starts the turn
)

// The agent's sandbox.
const (
	SandboxOn  = "enabled"
	sandboxOff = "disabled"
)

// MaxAddDirs is the most folders that an agent can be given beside its workspace.
const MaxAddDirs = 32

// CheckSandbox returns a sandbox setting, or an error if there is no such setting.
func CheckSandbox(s string) (string, error) {
	if s != SandboxOn && s != sandboxOff {
		return "", errors.New("unknown sandbox")
	}
	return s, nil
}

// Where the agents of a session work: in the workspace, or in a copy of it.
const (
	IsolationNone = "none"
	IsolationCopy = "copy"
)

// CheckIsolation returns an isolation, or an error if there is no such isolation.
func CheckIsolation(s string) (string, error) {
	if s != IsolationNone && s != IsolationCopy {
		return "", errors.New("unknown isolation")
	}
	return s, nil
}

// The ways to drive the agent.
const (
	DriverPrint = "print" // one process for each turn, which reports contents of edits and asks nobody
	DriverACP   = "acp"   // one process for the turns of a session, which asks people
)

// CheckDriver returns a driver, or an error if there is no such driver.
func CheckDriver(s string) (string, error) {
	if s != DriverPrint && s != DriverACP {
		return "", errors.New("unknown driver")
	}
	return s, nil
}

// IsolationFor returns the isolation of new sessions of a workspace.
func (c *Config) IsolationFor(root string) string {
	if value, ok := c.IsolationOf[root]; ok {
		return value
	}
	if c.Isolation == "" {
		return IsolationNone
	}
	return c.Isolation
}

// Executable checks a program: a name without folders, an absolute path, or a path below "~". It refuses relative paths,
// because the daemon has no folder to which they could be relative.
func Executable(s string) (string, error) {
	if rest, ok := strings.CutPrefix(s, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		s = filepath.Join(home, rest)
	}
	if why := paths.TooLong(s); why != "" {
		return "", errors.New(why)
	}
	if !filepath.IsAbs(s) && filepath.Base(s) != s && s != "" {
		return "", errors.New("a relative path")
	}
	return s, nil
}
