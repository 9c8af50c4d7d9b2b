package agent

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotInstalled is returned when there is no cursor-agent where it was looked for.
var ErrNotInstalled = errors.New("cursor-agent is not installed")

// InstallHint says how to get cursor-agent.
const InstallHint = hintInstall

// Find returns the absolute path of the agent's executable: of configured, a path or a name on PATH, and where that
// is empty of cursor-agent, else agent, on PATH. Its errors are ErrNotInstalled and say where it looked.
func Find(configured string) (string, error) {
	names := []string{configured}
	if configured == "" {
		names = []string{"cursor-agent", "agent"}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err == nil {
			return path, nil
		}
	}
	switch {
	case configured == "":
		return "", fmt.Errorf("%w: there is neither cursor-agent nor agent on PATH", ErrNotInstalled)
	case strings.ContainsAny(configured, `/\`):
		return "", fmt.Errorf("%w: %s is not there or cannot be executed", ErrNotInstalled, configured)
	}
	return "", fmt.Errorf("%w: there is no %s on PATH", ErrNotInstalled, configured)
}
