// Package service makes the system's service manager run the daemon: systemd by a socket, launchd by a login item. It owns
// the files that it writes. If the manager cannot be reached, an installation changes nothing.
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

// A Service holds the files and commands by which a system's service manager runs the daemon.
type Service struct {
	files   []file
	reach   []string  // a command line that fails if the manager cannot be reached, and changes nothing
	start   []command // make the manager take on the files; may run again
	stop    []command
	forget  []command // run after the files are removed
	inspect []command
	lingers func() bool // whether the manager goes on after a logout; nil: unknown
}

type file struct{ path, text string }

// A command is a command line for the service manager.
type command struct {
	args    []string
	mayFail bool // a failure does not stop the commands behind it
	quiet   bool // a failure is not reported
}

// Find returns this system's service for program, and for a daemon that listens at socket.
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

// lingerDir has a file for each user whose services go on after a logout.
const lingerDir = "/var/lib/systemd/linger"

// lingers reports whether this user's services go on after a logout. dir is lingerDir.
func lingers(dir string) bool {
	me, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, me.Username))
	return err == nil
}

// environment returns the variables that a daemon needs if no shell starts it: PATH and cursord's places. It leaves out
// keys, because other users can read the files.
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

// Install writes the files and starts the service. It calls stop before it changes files, to end a running daemon: otherwise
// that would keep the lock while nobody can reach it. If the manager cannot be reached, it changes nothing.
func (s *Service) Install(ctx context.Context, r *Report, stop func() error) error {
	if err := s.reachable(ctx); err != nil {
		return fmt.Errorf("%w\nnothing was changed: commands and editors start the daemon without a service, too", err)
	}
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
		return fmt.Errorf("%w\nthe service files are written, but the service is not running: run \"cursord service install\" again where the service manager can be reached, or remove the files with \"cursord service uninstall\"", err)
	}
	if s.lingers != nil && !s.lingers() {
		r.note("logging out ends the daemon, and its turns; to keep it running: loginctl enable-linger")
	}
	if os.Getenv("CURSOR_API_KEY") != "" {
		r.note("CURSOR_API_KEY is not written into the service files, because others can read them: give it to the service manager, or log in with \"cursor-agent login\"")
	}
	return nil
}

// reachable returns an error if the manager is not there or does not answer.
func (s *Service) reachable(ctx context.Context) error {
	if len(s.reach) == 0 {
		return nil
	}
	if _, err := exec.LookPath(s.reach[0]); err != nil {
		return fmt.Errorf("the service manager is not here: there is no %s", s.reach[0])
	}
	if said, err := exec.CommandContext(ctx, s.reach[0], s.reach[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("the service manager cannot be reached: %s: %w: %s", command{args: s.reach}, err, bytes.TrimSpace(said))
	}
	return nil
}

// Uninstall stops the service and removes its files. stop ends a running daemon.
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

// A Report collects what Install or Uninstall did, for JSON, and prints each step to Out at once.
type Report struct {
	Out     io.Writer `json:"-"`
	Wrote   []string  `json:"wrote"` // paths
	Removed []string  `json:"removed"`
	Ran     []string  `json:"ran"` // command lines
	Notes   []string  `json:"notes"`
}

// NewReport returns an empty report.
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

// A State describes the installed service.
type State struct {
	Installed bool        `json:"installed"` // at least one of the files exists
	Files     []FileState `json:"files"`
	Manager   []Answer    `json:"manager"` // the manager's answers about the service
}

// A FileState is "installed", "absent", or "other" for a file of another program or environment.
type FileState struct {
	Path  string `json:"path"`
	State string `json:"state"`
}

// An Answer is the output of a manager's command; Said is "" if the command does not exist.
type Answer struct {
	Command string `json:"command"`
	Missing bool   `json:"missing,omitempty"` // the command does not exist
	Said    string `json:"said"`
}

// Status reads the files and asks the manager about the service.
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
		answer, err := exec.CommandContext(ctx, c.args[0], c.args[1:]...).CombinedOutput() // exits with an error for a service that is not running
		if errors.Is(err, exec.ErrNotFound) {
			state.Manager = append(state.Manager, Answer{Command: c.String(), Missing: true})
			break
		}
		state.Manager = append(state.Manager, Answer{Command: c.String(), Said: string(bytes.TrimSpace(answer))})
	}
	return state
}

// Print writes the state for people.
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

// same reports whether all files are up to date.
func (s *Service) same() bool {
	for _, f := range s.files {
		if b, err := os.ReadFile(f.path); err != nil || string(b) != f.text {
			return false
		}
	}
	return true
}

// some reports whether any of the files exists.
func (s *Service) some() bool {
	for _, f := range s.files {
		if _, err := os.Lstat(f.path); err == nil {
			return true
		}
	}
	return false
}

func (c command) String() string { return strings.Join(c.args, " ") }

// runAll runs commands and reports each. It stops at a failure unless mayFail is set. If the manager's program is missing,
// it prints the remaining commands for use elsewhere.
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
