package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/term"
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

// ofGroup checks the arguments of a command that only has others below it, and says which of these was meant.
func ofGroup(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return fmt.Errorf("unknown command %q for %q%s", term.Clean(args[0]), c.CommandPath(), misuse.DidYouMean(args[0], names))
}

// wrongFlag says which flag was meant.
func wrongFlag(c *cobra.Command, err error) error {
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s", err, misuse.DidYouMean("--"+unknown.GetSpecifiedName(), names))
}
