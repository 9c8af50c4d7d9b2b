package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// version returns the version that the build recorded, "dev" where it recorded none.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

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

// versionLine is what "cursord version" prints, by which a daemon knows what could take its place.
func versionLine() string {
	return fmt.Sprintf("cursord %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(0, 0),
		Run: func(c *cobra.Command, _ []string) {
			fmt.Fprint(c.OutOrStdout(), versionLine())
		},
	}
}
