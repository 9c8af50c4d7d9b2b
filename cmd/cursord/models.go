package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/listing"
	"cursord/rpc"
)

func modelsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "models",
		Short: "List the models that the agent offers",
		Args:  arguments.Takes(0, 0),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			return listing.Models(c.Context(), client, c.OutOrStdout(), c.ErrOrStderr(), asJSON)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of agent/models as JSON")
	return c
}
