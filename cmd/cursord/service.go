package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/halt"
	"cursord/cmd/cursord/internal/service"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/endpoint"
)

func serviceCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "service",
		Short: "Run the daemon as a service of systemd or launchd",
		Long: `Run the daemon as a service: by systemd, which starts it when a client connects, or by launchd on macOS. Commands
start a daemon themselves, so a service is only needed for a daemon that is monitored like other services, or that
outlives your login ("loginctl enable-linger" allows that).`,
		Args: arguments.OfGroup,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	install := &cobra.Command{
		Use:   "install",
		Short: "Write the service's files and start it",
		Long: `Write the service's files, with this program's path, the present PATH and the present CURSORD_… and XDG_…
variables, and start it. If systemd or launchd cannot be reached, nothing is changed. A daemon that runs is stopped
first, unless turns run. It may be run again, after an upgrade or a change of PATH.`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return withService(c, asJSON, (*service.Service).Install) },
	}
	uninstall := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the service and remove its files",
		Args:  arguments.Takes(0, 0),
		RunE:  func(c *cobra.Command, _ []string) error { return withService(c, asJSON, (*service.Service).Uninstall) },
	}
	status := &cobra.Command{
		Use:   "status",
		Short: "Show the service; the exit status is 1 if it is not installed",
		Args:  arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := findService()
			if err != nil {
				return err
			}
			state := s.Status(c.Context())
			if asJSON {
				err = term.PrintJSON(c.OutOrStdout(), state)
			} else {
				state.Print(c.OutOrStdout())
			}
			if err == nil && !state.Installed {
				return statusError(exitFailed)
			}
			return err
		},
	}
	c.AddCommand(install, status, uninstall)
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

func findService() (*service.Service, error) {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return service.Find(program, dirs.Socket)
}

func withService(c *cobra.Command, asJSON bool, do func(*service.Service, context.Context, *service.Report, func() error) error) error {
	s, err := findService()
	if err != nil {
		return err
	}
	r := service.NewReport(c.OutOrStdout())
	if asJSON {
		r.Out = io.Discard
	}
	if err := do(s, c.Context(), r, func() error { return stopForService(c.Context(), r.Out) }); err != nil || !asJSON {
		return err
	}
	return term.PrintJSON(c.OutOrStdout(), r)
}

// stopForService stops a running daemon, unless it has turns.
func stopForService(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, halt.Limit)
	defer cancel()
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return err
	}
	pid := endpoint.LockHolder(dirs.Socket)
	err = halt.Ask(ctx, dirs, pid, false, out)
	if errors.Is(err, halt.ErrNone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the daemon that runs cannot be stopped: %w", err)
	}
	fmt.Fprintf(out, "stopped the daemon (process %d)\n", pid)
	return nil
}
