package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
)

// moreCommand lists the commands that "cursord help" leaves out.
func moreCommand(root *cobra.Command) *cobra.Command {
	var list strings.Builder
	for _, c := range root.Commands() {
		if c.Hidden {
			fmt.Fprintf(&list, "  %-12s %s\n", c.Name(), c.Short)
		}
	}
	return &cobra.Command{
		Use:    "more",
		Short:  "List the commands that programs use",
		Long:   "These commands are for programs and tests; \"cursord COMMAND --help\" describes one:\n\n" + list.String(),
		Hidden: true,
		Args:   arguments.Takes(0, 0),
		RunE:   func(c *cobra.Command, _ []string) error { return c.Help() },
	}
}
