package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/service"
	"cursord/cmd/cursord/internal/term"
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
		RunE: func(c *cobra.Command, _ []string) error {
			return service.Do(c.Context(), c.OutOrStdout(), asJSON, (*service.Service).Install)
		},
	}
	uninstall := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the service and remove its files",
		Args:  arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return service.Do(c.Context(), c.OutOrStdout(), asJSON, (*service.Service).Uninstall)
		},
	}
	status := &cobra.Command{
		Use:   "status",
		Short: "Show the service; the exit status is 1 if it is not installed",
		Args:  arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := service.Own()
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
