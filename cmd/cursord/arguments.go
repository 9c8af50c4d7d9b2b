package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// manyArguments is as many as anybody likes.
const manyArguments = 1 << 30

// takes checks that a command has as many arguments as that, and names one that is missing as the command's Use does.
func takes(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch names := strings.Fields(c.Use)[1:]; {
		case len(args) < least:
			return fmt.Errorf("%s is missing", strings.Trim(names[len(args)], "[]."))
		case len(args) > most && most == 0:
			return fmt.Errorf("%s takes no arguments, and was given %q", c.CommandPath(), args[0])
		case len(args) > most:
			return fmt.Errorf("%q is one argument too many", args[most])
		}
		return nil
	}
}
