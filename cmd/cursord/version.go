package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"cursord/rpc"
)

// version returns the version that the build recorded, "dev" where it recorded none.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// ownBuild says which program we are, for daemon/join.
func ownBuild() rpc.JoinParams {
	program, err := os.Executable()
	if err != nil {
		program = "" // then it takes nobody's place
	}
	return rpc.JoinParams{
		Version: version(), Written: ownWritten().UnixNano(), Program: program,
		Environment: &rpc.ClientEnvironment{Path: os.Getenv("PATH"), Agent: os.Getenv("CURSORD_AGENT")},
	}
}

// ownEnvironment is what agent/environment tells a daemon whose agents get the environment of their clients.
func ownEnvironment() rpc.EnvironmentParams { return rpc.EnvironmentParams{Variables: os.Environ()} }

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
			fmt.Fprintf(c.OutOrStdout(), "cursord %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
