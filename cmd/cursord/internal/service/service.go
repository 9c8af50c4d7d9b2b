// Package service has the system's service manager run the daemon: systemd by a socket, launchd by a login item. It owns the
// files that it writes; where the manager cannot be reached, it says which commands to run instead.
package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
)

// A Service is how a system's service manager runs the daemon.
type Service struct {
	files   []file
	start   []command // make the manager do what the files say, once or again
	stop    []command
	forget  []command // after the files are gone
	inspect []command
	lingers func() bool // whether the manager goes on after a logout; nil: it does not say
}

type file struct{ path, text string }

// A command is what the service manager is asked.
type command struct {
	args    []string
	mayFail bool // then the next one is run all the same
	quiet   bool // nothing is said of a failure
}

// Find returns the service of this system: for program, and a daemon that listens at socket.
func Find(program, socket string) (*Service, error) {
	switch runtime.GOOS {
	case "linux":
		configDir, err := os.UserConfigDir()
		if err != nil {
			return nil, err
		}
		s := systemd(configDir, os.Getenv("XDG_RUNTIME_DIR"), socket, program, environment())
		s.lingers = func() bool { return lingers(lingerDir) }
		return s, nil
	case "darwin":
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		return launchd(home, os.Getuid(), program, environment()), nil
	}
	return nil, fmt.Errorf("there is no service for %s: clients start the daemon by themselves", runtime.GOOS)
}

// lingerDir is where systemd-logind notes for whom it lingers.
const lingerDir = "/var/lib/systemd/linger"

// lingers reports whether this user's services go on after a logout, as a folder says.
func lingers(dir string) bool {
	me, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, me.Username))
	return err == nil
}

// environment returns what a daemon must be told that no shell starts: where programs are, and our places. It has
// no keys: the files can be read by others.
func environment() (env []string) {
	for _, name := range []string{
		"PATH", "CURSORD_AGENT", "CURSORD_CONFIG", "CURSORD_SOCKET", "CURSORD_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
	} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Install writes the files and has the manager start what they describe. stop is called before files change: it stops a daemon
// that runs, which would else keep the lock while nobody can reach it.
func (s *Service) Install(ctx context.Context, r *Report, stop func() error) error {
	if s.same() {
		r.note("the files are as they should be")
	} else {
		if err := stop(); err != nil {
			return err
		}
		for _, f := range s.files {
			if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(f.path, []byte(f.text), 0o644); err != nil {
				return err
			}
			r.did(&r.Wrote, "wrote", f.path)
		}
	}
	if err := runAll(ctx, r, s.start); err != nil {
		return fmt.Errorf("%w\nthe files are there, and nothing runs by them: run \"cursord service install\" again where the service manager can be reached, or \"cursord service uninstall\"", err)
	}
	if s.lingers != nil && !s.lingers() {
		r.note("logging out ends the daemon, and its turns; to keep it running: loginctl enable-linger")
	}
	if os.Getenv("CURSOR_API_KEY") != "" {
		r.note("CURSOR_API_KEY is not passed on, since others can read the files: give it to the service manager, or log in with \"cursor-agent login\"")
	}
	return nil
}

// Uninstall stops the service and removes its files. stop stops a daemon that runs.
func (s *Service) Uninstall(ctx context.Context, r *Report, stop func() error) error {
	if !s.some() {
		r.note("the service is not installed")
		return nil
	}
	if err := stop(); err != nil {
		return err
	}
	if err := runAll(ctx, r, s.stop); err != nil {
		return err
	}
	for _, f := range s.files {
		err := os.Remove(f.path)
		if err == nil {
			r.did(&r.Removed, "removed", f.path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return runAll(ctx, r, s.forget)
}

// A Report says what was done: to people at once, line by line, and to programs at the end, as JSON.
type Report struct {
	Out     io.Writer `json:"-"`
	Wrote   []string  `json:"wrote"` // files
	Removed []string  `json:"removed"`
	Ran     []string  `json:"ran"` // commands
	Notes   []string  `json:"notes"`
}

// NewReport returns one that has nothing yet.
func NewReport(out io.Writer) *Report {
	return &Report{Out: out, Wrote: []string{}, Removed: []string{}, Ran: []string{}, Notes: []string{}}
}

func (r *Report) did(list *[]string, verb, what string) {
	*list = append(*list, what)
	fmt.Fprintf(r.Out, "%s %s\n", verb, what)
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	fmt.Fprintf(r.Out, format+"\n", args...)
}

// A State is what there is of the service.
type State struct {
	Installed bool        `json:"installed"` // any of the files is there
	Files     []FileState `json:"files"`
	Manager   []Answer    `json:"manager"` // what it says of the service
}

// A FileState is installed, absent or other: for another program or environment.
type FileState struct {
	Path  string `json:"path"`
	State string `json:"state"`
}

// An Answer is what a command of the manager said; Said is "" where there is no such command.
type Answer struct {
	Command string `json:"command"`
	Missing bool   `json:"missing,omitempty"` // the manager is not here
	Said    string `json:"said"`
}

// Status finds out which files are there and what the manager says of them.
func (s *Service) Status(ctx context.Context) State {
	state := State{Installed: s.some(), Manager: []Answer{}}
	for _, f := range s.files {
		now := "absent"
		if b, err := os.ReadFile(f.path); err == nil && string(b) == f.text {
			now = "installed"
		} else if err == nil {
			now = "other"
		}
		state.Files = append(state.Files, FileState{f.path, now})
	}
	if !state.Installed {
		return state
	}
	for _, c := range s.inspect {
		answer, err := exec.CommandContext(ctx, c.args[0], c.args[1:]...).CombinedOutput() // fails for services that do not run
		if errors.Is(err, exec.ErrNotFound) {
			state.Manager = append(state.Manager, Answer{Command: c.String(), Missing: true})
			break
		}
		state.Manager = append(state.Manager, Answer{Command: c.String(), Said: string(bytes.TrimSpace(answer))})
	}
	return state
}

// Print shows the state to people.
func (s State) Print(out io.Writer) {
	for _, f := range s.Files {
		if f.State == "other" {
			f.State = `installed, for another program or environment than this: "cursord service install" renews it`
		}
		fmt.Fprintf(out, "%s: %s\n", f.Path, f.State)
	}
	for _, a := range s.Manager {
		if a.Missing {
			program, _, _ := strings.Cut(a.Command, " ")
			fmt.Fprintf(out, "%s is not here: nothing more is known\n", program)
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", a.Command, a.Said)
	}
}

// same reports whether the files are what they should be.
func (s *Service) same() bool {
	for _, f := range s.files {
		if b, err := os.ReadFile(f.path); err != nil || string(b) != f.text {
			return false
		}
	}
	return true
}

// some reports whether there is any of the files.
func (s *Service) some() bool {
	for _, f := range s.files {
		if _, err := os.Lstat(f.path); err == nil {
			return true
		}
	}
	return false
}

func (c command) String() string { return strings.Join(c.args, " ") }

// runAll runs commands until one fails that may not, and prints each. Where the manager's program is missing, it prints the
// commands to run where there is one.
func runAll(ctx context.Context, r *Report, commands []command) error {
	for i, c := range commands {
		if _, err := exec.LookPath(c.args[0]); err != nil {
			r.note("%s is not here; where it is, run:", c.args[0])
			for _, c := range commands[i:] {
				r.note("  %s", c)
			}
			return nil
		}
		answer, err := exec.CommandContext(ctx, c.args[0], c.args[1:]...).CombinedOutput()
		switch {
		case err == nil:
			r.did(&r.Ran, "ran", c.String())
		case !c.mayFail:
			return fmt.Errorf("%s: %w: %s", c, err, bytes.TrimSpace(answer))
		case !c.quiet:
			r.note("%s: %v: %s", c, err, bytes.TrimSpace(answer))
		}
	}
	return nil
}
