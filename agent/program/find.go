package program

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"cursord/agent/failure"
)

// InstallHint says how to get cursor-agent.
const InstallHint = failure.HintInstall

const (
	mainName   = "cursor-agent"
	sharedName = "agent" // Cursor's too, and other vendors'
	maxFolders = 512     // folders of a PATH that are searched
	maxShared  = 8       // programs of the shared name that are asked for their version
)

// A Place says where to look for the agent.
type Place struct {
	Program string // its path, or a name to find on Path; "": cursor-agent, else Cursor's agent
	By      string // who names Program, for people, such as "the setting agent"
	Path    string // folders as in the variable PATH; relative ones do not count
	Whose   string // whose Path is, for people, such as "the daemon's"; or ""
}

// path names Path for people.
func (at Place) path() string { return strings.TrimSpace(at.Whose + " PATH") }

// by names for people what names Program.
func (at Place) by() string { return cmp.Or(at.By, "the configuration") }

// A Found is the agent's program.
type Found struct {
	Path     string // absolute
	Version  string // its build, if known without asking
	Unsure   bool   // it is called agent and has not said yet whether it is Cursor's
	Silent   bool   // it was asked just now, and did not answer in time
	NotTaken []NotTaken
	NamedBy  string // who names the program, for people; "": it was looked for
}

// Foreign says what a named program seems to be whose version is not in cursor-agent's form; "" if it is in that form. The
// program may still be Cursor's, behind a script of the user's.
func (f *Found) Foreign(version string) string {
	if f.NamedBy == "" || version == "" || IsBuild(version) {
		return ""
	}
	a := answer{version: version}
	return fmt.Sprintf("%s names %s, which may not be cursor-agent: %s", f.NamedBy, f.Path, a.foreign())
}

// A NotTaken is a program called agent that is not Cursor's, or does not say what it is.
type NotTaken struct {
	Path string
	Why  string // completes "it was not taken: "
}

// Look looks for the agent without running a program. Its errors are *NotFound.
func (f *Finder) Look(at Place) (Found, error) { return f.find(at, nil) }

// Find looks for the agent, and asks programs called agent what they are.
func (f *Finder) Find(ctx context.Context, at Place) (Found, error) {
	return f.find(at, func(path string) { _, _ = f.Version(ctx, path) })
}

// find looks for the agent. ask, unless nil, asks a program for its version.
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
			return Found{}, at.wrong(whyNot(program))
		}
		return f.found(at, path), nil
	}
	for path := range at.programs(program) {
		return f.found(at, path), nil
	}
	if at.Program != "" {
		return Found{}, at.wrong("which is not on " + at.path())
	}
	return f.findShared(at, ask)
}

func (f *Finder) found(at Place, path string) Found {
	version, _ := f.Known(path)
	found := Found{Path: path, Version: version}
	if at.Program != "" {
		found.NamedBy = at.by()
	}
	return found
}

// findShared looks for Cursor's program among those called agent.
func (f *Finder) findShared(at Place, ask func(path string)) (Found, error) {
	var others []NotTaken
	var foreign, silent string
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
		if answer.silent() {
			silent = cmp.Or(silent, path)
		} else {
			foreign = cmp.Or(foreign, path+" is another program: "+answer.foreign())
		}
	}
	missing := &NotFound{Why: "there is neither " + mainName + " nor " + sharedName + " on " + at.path()}
	switch {
	case silent != "" && ask == nil: // it may answer the next time
		return Found{Path: silent, Unsure: true, Silent: true, NotTaken: others}, nil
	case silent != "":
		missing = &NotFound{Silent: silent, Why: "there is no " + mainName + " on " + at.path() + ", and " + silent + " does not say in time what it is"}
	case foreign != "":
		missing.Why = "there is no " + mainName + " on " + at.path() + ", and " + foreign
	}
	return Found{NotTaken: others}, missing
}

// programs yields the absolute paths of executables with a name, in the order of the folders, each once.
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
