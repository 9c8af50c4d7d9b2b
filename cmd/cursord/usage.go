package main

import (
	"time"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/listing"
	"cursord/cmd/cursord/internal/misuse"
	"cursord/rpc"
)

func usageCommand() *cobra.Command {
	var p place
	var since string
	var asJSON bool
	c := &cobra.Command{
		Use:   "usage",
		Short: "Sum up the turns, time and tokens of each workspace",
		Long:  `Sum up the turns, time and tokens of each workspace, as the agent reports them. Deleted sessions do not count.`,
		Example: `  cursord usage --since 7d
  cursord usage -w . --json`,
		Args: arguments.Takes(0, 0),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) (err error) {
			var from time.Time
			if since != "" {
				if from, err = listing.Since(since, time.Now()); err != nil {
					return misuse.Errorf("--since: %v", err)
				}
			}
			root := ""
			if p.dir != "" {
				if root, err = p.find(c.Context(), client); err != nil {
					return err
				}
			}
			return listing.Usage(c.Context(), client, c.OutOrStdout(), c.ErrOrStderr(), root, from, asJSON)
		}),
	}
	c.Flags().StringVarP(&p.dir, "workspace", "w", "", "only of the workspace `DIR`")
	c.Flags().StringVar(&since, "since", "", "only turns of the last `SPAN`, such as 7d or 12h, or since a day, such as 2026-11-23")
	c.Flags().BoolVar(&asJSON, "json", false, "print the sums as JSON")
	return c
}
