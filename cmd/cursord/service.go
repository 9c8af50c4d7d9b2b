package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"cursord/daemon/endpoint"
)

// A service is how a system's service manager runs the daemon.
type service struct {
	files   []serviceFile
	start   [][]string // commands that make it what files say, once or again
	stop    [][]string
	forget  [][]string // after files are gone
	inspect [][]string
}

type serviceFile struct{ path, text string }

func serviceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "service",
		Short: "Have the system's service manager run the daemon",
		Long: `Have the system's service manager run the daemon: systemd, which starts it when a client connects, or launchd on
macOS. No command needs that, since those that want a daemon start one; it is for daemons that shall outlive a login,
or be watched like other services.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	install := &cobra.Command{
		Use:   "install",
		Short: "Write the service's files and start it",
		Long: `Write the service's files, with this program's path, the present PATH and the present CURSORD_… and XDG_…
variables, and start it. A daemon that runs is stopped first, unless turns run. It may be run again, after an upgrade
or a change of PATH.`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return withService(c, (*service).install) },
	}
	uninstall := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the service and remove its files",
		Args:  takes(0, 0),
		RunE:  func(c *cobra.Command, _ []string) error { return withService(c, (*service).uninstall) },
	}
	status := &cobra.Command{
		Use:   "status",
		Short: "Show the service; the exit status is 1 if it is not installed",
		Args:  takes(0, 0),
		RunE:  func(c *cobra.Command, _ []string) error { return withService(c, (*service).status) },
	}
	c.AddCommand(install, status, uninstall)
	return c
}

func withService(c *cobra.Command, do func(*service, context.Context, io.Writer) error) error {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var s *service
	switch runtime.GOOS {
	case "linux":
		configDir, err := os.UserConfigDir()
		if err != nil {
			return err
		}
		s = systemdService(configDir, os.Getenv("XDG_RUNTIME_DIR"), dirs.Socket, program, serviceEnvironment())
	case "darwin":
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		s = launchdService(home, os.Getuid(), program, serviceEnvironment())
	default:
		return fmt.Errorf("there is no service for %s: clients start the daemon by themselves", runtime.GOOS)
	}
	return do(s, c.Context(), c.OutOrStdout())
}

// serviceEnvironment returns what a daemon must be told that no shell starts: where programs are, and our places. It has
// no keys: the files can be read by others.
func serviceEnvironment() (env []string) {
	for _, name := range []string{
		"PATH", "CURSORD_AGENT", "CURSORD_CONFIG", "CURSORD_SOCKET", "CURSORD_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
	} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func (s *service) install(ctx context.Context, out io.Writer) error {
	if s.same() {
		fmt.Fprintln(out, "the files are as they should be")
	} else {
		// Else it would keep the lock, and nobody could reach it.
		if err := stopForService(ctx, out); err != nil {
			return err
		}
		for _, f := range s.files {
			if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(f.path, []byte(f.text), 0o644); err != nil {
				return err
			}
			fmt.Fprintf(out, "wrote %s\n", f.path)
		}
	}
	if err := runAll(ctx, out, s.start); err != nil {
		return fmt.Errorf("%w\nthe files are there, and nothing runs by them: run \"cursord service install\" again where the service manager can be reached, or \"cursord service uninstall\"", err)
	}
	if os.Getenv("CURSOR_API_KEY") != "" {
		fmt.Fprintln(out, "CURSOR_API_KEY is not passed on, since others can read the files: give it to the service manager, or log in with \"cursor-agent login\"")
	}
	return nil
}

// stopForService stops a daemon that runs, unless it has turns.
func stopForService(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return err
	}
	pid := endpoint.LockHolder(dirs.Socket)
	err = askToStop(ctx, dirs, pid, false, out)
	if errors.Is(err, errNoDaemon) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the daemon that runs cannot be stopped: %w", err)
	}
	fmt.Fprintf(out, "stopped the daemon (process %d)\n", pid)
	return nil
}

func (s *service) uninstall(ctx context.Context, out io.Writer) error {
	if !s.some() {
		fmt.Fprintln(out, "the service is not installed")
		return nil
	}
	if err := stopForService(ctx, out); err != nil {
		return err
	}
	if err := runAll(ctx, out, s.stop); err != nil {
		return err
	}
	for _, f := range s.files {
		err := os.Remove(f.path)
		if err == nil {
			fmt.Fprintf(out, "removed %s\n", f.path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return runAll(ctx, out, s.forget)
}

func (s *service) status(ctx context.Context, out io.Writer) error {
	for _, f := range s.files {
		state := "absent"
		if b, err := os.ReadFile(f.path); err == nil && string(b) == f.text {
			state = "installed"
		} else if err == nil {
			state = `installed, for another program or environment than this: "cursord service install" renews it`
		}
		fmt.Fprintf(out, "%s: %s\n", f.path, state)
	}
	if !s.some() {
		return statusError(exitFailed)
	}
	for _, args := range s.inspect {
		answer, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput() // fails for services that do not run
		if errors.Is(err, exec.ErrNotFound) {
			fmt.Fprintf(out, "%s is not here: nothing more is known\n", args[0])
			return nil
		}
		fmt.Fprintf(out, "%s: %s\n", strings.Join(args, " "), bytes.TrimSpace(answer))
	}
	return nil
}

// same reports whether the files are what they should be.
func (s *service) same() bool {
	for _, f := range s.files {
		if b, err := os.ReadFile(f.path); err != nil || string(b) != f.text {
			return false
		}
	}
	return true
}

// some reports whether there is any of the files.
func (s *service) some() bool {
	for _, f := range s.files {
		if _, err := os.Lstat(f.path); err == nil {
			return true
		}
	}
	return false
}

// runAll runs commands, of which one that begins with "-" may fail, and tells which; of one that begins with "~" it is told. Where there is no such program, it
// tells what to run where there is.
func runAll(ctx context.Context, out io.Writer, commands [][]string) error {
	for i, args := range commands {
		name, told := strings.CutPrefix(args[0], "~")
		name, mayFail := strings.CutPrefix(name, "-")
		if _, err := exec.LookPath(name); err != nil {
			fmt.Fprintf(out, "%s is not here; where it is, run:\n", name)
			for _, args := range commands[i:] {
				fmt.Fprintf(out, "  %s\n", strings.TrimLeft(strings.Join(args, " "), "-~"))
			}
			return nil
		}
		answer, err := exec.CommandContext(ctx, name, args[1:]...).CombinedOutput()
		if err == nil {
			fmt.Fprintf(out, "ran %s %s\n", name, strings.Join(args[1:], " "))
		} else if told {
			fmt.Fprintf(out, "%s %s: %v: %s\n", name, strings.Join(args[1:], " "), err, bytes.TrimSpace(answer))
		} else if !mayFail {
			return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args[1:], " "), err, bytes.TrimSpace(answer))
		}
	}
	return nil
}
