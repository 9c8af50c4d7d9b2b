package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/version"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if !asJSON {
				_, err := fmt.Fprint(c.OutOrStdout(), version.Line())
				return err
			}
			return term.PrintJSON(c.OutOrStdout(), map[string]string{
				"version": version.Own(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the version as JSON")
	return c
}
