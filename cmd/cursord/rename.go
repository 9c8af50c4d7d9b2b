package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func renameCommand() *cobra.Command {
	var p place
	var asJSON bool
	c := &cobra.Command{
		Use:   "rename SESSION TITLE",
		Short: "Change the title of a session",
		Long:  "Change the title of a session.\n\n" + namesHelp,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 2 {
				return errors.New("more than one TITLE: put quotes around it")
			}
			if len(args) == 2 && strings.TrimSpace(args[1]) == "" {
				return errors.New("the TITLE is empty")
			}
			return arguments.Takes(2, 2)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			id, err := p.session(c.Context(), client, args[0])
			if err != nil {
				return err
			}
			done, err := client.SessionUpdate(c.Context(), rpc.SessionUpdateParams{SessionID: id, Title: &args[1]})
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(c.OutOrStdout(), done)
			}
			fmt.Fprintf(c.OutOrStdout(), "session %s: %s\n", term.Clean(done.Session.ID), term.Clean(done.Session.Title))
			return nil
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the session as JSON")
	return c
}
