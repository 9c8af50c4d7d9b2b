package main

import (
	"slices"

	"github.com/spf13/cobra"

	"cursord/agent/fake"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/serve"
)

func fakeAgentCommand(inject serve.Injected) *cobra.Command {
	return &cobra.Command{
		Use:                "fake-agent [ARGUMENTS OF cursor-agent]",
		Short:              "Stand in for cursor-agent in tests",
		Long:               fake.Help,
		DisableFlagParsing: true,
		Args:               arguments.Takes(0, arguments.Many),
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"--help"}) {
				return c.Help()
			}
			return statusError(fake.Main(args, inject.Now))
		},
	}
}
