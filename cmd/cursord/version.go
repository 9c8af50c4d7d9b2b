package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/version"
)

// ownWritten returns when our program's file was last changed.
func ownWritten() time.Time {
	program, err := os.Executable()
	if err != nil {
		return time.Time{}
	}
	info, err := os.Stat(program)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(0, 0),
		Run: func(c *cobra.Command, _ []string) {
			fmt.Fprint(c.OutOrStdout(), version.Line())
		},
	}
}
