package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/man"
	"cursord/cmd/cursord/internal/version"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page of all commands",
		Long:    "Print the manual page of all commands as roff, from the texts of --help.",
		Example: "  cursord man | man -l -",
		Args:    arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return man.Page(c.OutOrStdout(), version.ForPeople(version.Own()), manPages(c.Root()))
		},
	}
}

// manPages returns the manual's entries for a command and the commands below it.
func manPages(c *cobra.Command) []man.Command {
	about := man.Command{Path: c.CommandPath(), Use: c.UseLine(), Short: c.Short, Long: c.Long, Example: c.Example}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			value, usage := pflag.UnquoteUsage(f)
			about.Flags = append(about.Flags, man.Flag{Name: f.Name, Short: f.Shorthand, Value: value, Usage: usage})
		}
	})
	list := []man.Command{about}
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			list = append(list, manPages(sub)...)
		}
	}
	return list
}
