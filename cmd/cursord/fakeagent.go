package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"cursord/agent/fake"
)

func fakeAgentCommand(inject injected) *cobra.Command {
	return &cobra.Command{
		Use:                "fake-agent [ARGUMENTS OF cursor-agent]",
		Short:              "Stand in for cursor-agent in tests",
		Long:               fake.Help,
		DisableFlagParsing: true,
		Args:               takes(0, manyArguments),
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"--help"}) {
				return c.Help()
			}
			return statusError(fake.Main(args, inject.now))
		},
	}
}

// now returns the time; tests can move it.
func (i injected) now() time.Time {
	now := time.Now()
	if i.ahead != nil {
		now = now.Add(i.ahead(now.UnixNano()))
	}
	return now
}
