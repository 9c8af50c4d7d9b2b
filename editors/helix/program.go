package helix

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// programNames are the names of Helix's program in its distributions.
var programNames = []string{"hx", "helix"}

// ErrNotInstalled says that there is no Helix.
var ErrNotInstalled = errors.New("neither hx nor helix is on PATH: Helix is not installed")

// Find finds Helix: the program given, else the one on PATH.
func Find(given string) (program string, v Version, err error) {
	names := programNames
	if given != "" {
		names = []string{given}
	}
	for _, name := range names {
		if program, err = exec.LookPath(name); err == nil {
			said, err := ask(program, "--version")
			if err != nil {
				return program, v, err
			}
			v, err = ParseVersion(said)
			return program, v, err
		}
	}
	if given != "" {
		return "", v, fmt.Errorf("%s cannot be run: %w", given, err)
	}
	return "", v, ErrNotInstalled
}

// answerLimit bounds how long Helix may take to print its version and folders.
const answerLimit = 20 * time.Second

func ask(program, question string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, question).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, question, err)
	}
	return string(out), nil
}

// DefaultsOf reads the defaults of an installed Helix. The program on PATH may be a script that starts another one. Helix
// prints where that is: the last folder in which it looks for its runtime is beside it.
func DefaultsOf(program string) (*Defaults, error) {
	d, err := defaultsIn(program)
	if err == nil {
		return d, nil
	}
	health, askErr := ask(program, "--health")
	if askErr != nil {
		return nil, askErr
	}
	for line := range strings.Lines(health) {
		dirs, ok := strings.CutPrefix(line, "Runtime directories: ")
		if !ok {
			continue
		}
		all := strings.Split(strings.TrimSpace(dirs), ";")
		beside := filepath.Dir(all[len(all)-1])
		entries, _ := os.ReadDir(beside) // without entries the error says that nothing was found
		for _, entry := range entries {
			if !namedHelix(entry) {
				continue
			}
			if d, err := defaultsIn(filepath.Join(beside, entry.Name())); err == nil {
				return d, nil
			}
		}
	}
	return nil, fmt.Errorf("%s: %w: give the languages.toml of its sources with --defaults", program, err)
}

func namedHelix(entry fs.DirEntry) bool {
	for _, name := range programNames {
		if strings.Contains(strings.ToLower(entry.Name()), name) {
			return !entry.IsDir()
		}
	}
	return false
}

func defaultsIn(file string) (*Defaults, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ReadDefaults(data)
}

// Dir returns the folder of the user's Helix configuration.
func Dir() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", errors.New("XDG_CONFIG_HOME is not an absolute path")
		}
		return filepath.Join(dir, "helix"), nil
	}
	return usualDir()
}
