package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cursord/agent/failure"
)

// ErrNotInstalled is returned when there is no cursor-agent where it was looked for.
var ErrNotInstalled = errors.New("cursor-agent is not installed")

// InstallHint says how to get cursor-agent.
const InstallHint = failure.HintInstall

const (
	mainName   = "cursor-agent"
	sharedName = "agent" // Cursor's too, and other vendors'
	maxFolders = 512     // of a PATH that are looked at
	maxShared  = 8       // programs of the shared name that are asked what they are
)

// A Place is where to look for the agent.
type Place struct {
	Program string // its path, or a name to find on Path; "": cursor-agent, else Cursor's agent
	Path    string // a list of folders as in the variable PATH; relative ones do not count
}

// OwnPlace is where this process finds a program.
func OwnPlace(program string) Place { return Place{Program: program, Path: os.Getenv("PATH")} }

// A Found is the agent's program.
type Found struct {
	Path     string // absolute
	Version  string // its build, as far as that is known without asking
	Unsure   bool   // it is called agent, and has not been asked yet whose it is
	NotTaken []NotTaken
}

// A NotTaken is a program called agent that is not Cursor's.
type NotTaken struct {
	Path string
	Why  string // completes "it was not taken: "
}

// Look looks for the agent without running anything. Its errors are ErrNotInstalled and say where it looked.
func (f *Finder) Look(at Place) (Found, error) { return f.find(at, nil) }

// Find looks for the agent, and asks programs called agent whose they are.
func (f *Finder) Find(ctx context.Context, at Place) (Found, error) {
	return f.find(at, func(path string) { _, _ = f.Version(ctx, path) })
}

// find looks for the agent; ask, unless nil, has it known what a program says its version is.
func (f *Finder) find(at Place, ask func(path string)) (Found, error) {
	program := at.Program
	if program == "" {
		program = mainName
	}
	if strings.ContainsAny(program, `/\`) {
		path, err := exec.LookPath(program)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return Found{}, fmt.Errorf("%w: %s is not there or cannot be executed", ErrNotInstalled, program)
		}
		return f.found(path), nil
	}
	for path := range at.programs(program) {
		return f.found(path), nil
	}
	if at.Program != "" {
		return Found{}, fmt.Errorf("%w: there is no %s on PATH", ErrNotInstalled, program)
	}
	return f.findShared(at, ask)
}

func (f *Finder) found(path string) Found {
	version, _ := f.Known(path)
	return Found{Path: path, Version: version}
}

// findShared looks for Cursor's among the programs called agent.
func (f *Finder) findShared(at Place, ask func(path string)) (Found, error) {
	var others []NotTaken
	for path := range at.programs(sharedName) {
		if len(others) == maxShared {
			break
		}
		answer, known := f.answer(path)
		if !known && ask != nil {
			ask(path)
			answer, known = f.answer(path)
		}
		switch {
		case !known:
			return Found{Path: path, Unsure: true, NotTaken: others}, nil
		case answer.err == nil && IsBuild(answer.version):
			return Found{Path: path, Version: answer.version, NotTaken: others}, nil
		}
		others = append(others, NotTaken{path, answer.foreign()})
	}
	if len(others) == 0 {
		return Found{}, fmt.Errorf("%w: there is neither %s nor %s on PATH", ErrNotInstalled, mainName, sharedName)
	}
	return Found{NotTaken: others}, fmt.Errorf("%w: there is no %s on PATH, and %s is another program: %s",
		ErrNotInstalled, mainName, others[0].Path, others[0].Why)
}

// programs yields the absolute paths of what can be run under a name, in the order of the folders, none twice.
func (at Place) programs(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		for i, dir := range filepath.SplitList(at.Path) {
			if i == maxFolders {
				return
			}
			if dir = filepath.Clean(dir); !filepath.IsAbs(dir) || seen[dir] {
				continue
			}
			seen[dir] = true
			path, err := exec.LookPath(filepath.Join(dir, name))
			if err == nil && !yield(path) {
				return
			}
		}
	}
}
