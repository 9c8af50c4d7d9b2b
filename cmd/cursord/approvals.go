package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/rpc"
)

func approvalsCommand() *cobra.Command {
	var p place
	var l approve.Listing
	c := &cobra.Command{
		Use:   "approvals",
		Short: "List what agents ask you, and the rules that answer",
		Long: `List what the agents of the workspace ask: permission for a command, a question, a plan. An agent waits for the
answer. If nobody answers for as long as the setting approval_timeout says, it is told no.

A turn of "cursord run --approvals deny" asks nobody, and no rule answers in it: all it would ask is denied.

--rules lists the commands for which agents need not ask: those to which somebody has answered "Always in this folder",
which --remove takes back, and those of the configuration ([[approve]]).`,
		Args: func(c *cobra.Command, args []string) error {
			if err := l.Check(c.Flags().Changed("remove")); err != nil {
				return err
			}
			return arguments.Takes(0, 0)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			return l.Do(c.Context(), client, root, c.OutOrStdout())
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&l.All, "all", false, "of all workspaces")
	c.Flags().BoolVar(&l.Rules, "rules", false, "list the rules that answer for you")
	c.Flags().Uint64Var(&l.Remove, "remove", 0, "with --rules: remove the rule `N` first")
	c.Flags().BoolVar(&l.JSON, "json", false, "print the answer of the daemon as JSON")
	return c
}

func approveCommand() *cobra.Command {
	return replyCommand(approve.Reply{}, "approve [ID [ANSWER]]", "Answer what an agent asks", `Answer what an agent asks, with yes if no ANSWER is named. An ANSWER is the number of one of the answers that
"cursord approvals" lists, its id, or y, n or a. --text goes
with the answer to a question, or with a no to a plan; who accepts a plan cannot add a text. Without ID it is the only approval of the workspace.`)
}

func denyCommand() *cobra.Command {
	return replyCommand(approve.Reply{Deny: true}, "deny [ID]", "Say no to what an agent asks",
		`Say no to what an agent asks; of a question, that nobody answers it. Without ID it is the only approval of the workspace.`)
}

func replyCommand(r approve.Reply, use, short, long string) *cobra.Command {
	var p place
	c := &cobra.Command{
		Use: use, Short: short,
		Long: long + ` An ID may be shortened to its beginning. If it was
answered meanwhile, or its turn has ended, nothing happens and the exit status is 1.`,
		Args: arguments.Takes(0, 2),
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			root, err := p.find(c.Context(), client)
			if err != nil {
				return err
			}
			if args = append(args, "", ""); r.Deny {
				args[1] = ""
			}
			r.ID, r.Option = args[0], args[1]
			return r.Do(c.Context(), client, root, c.OutOrStdout())
		}),
	}
	if r.Deny {
		c.Args = arguments.Takes(0, 1)
	}
	p.addFlag(c)
	c.Flags().StringVar(&r.Text, "text", "", "give the `TEXT` as the answer, or with it, if the agent takes one")
	c.Flags().BoolVar(&r.JSON, "json", false, "print the approval as JSON")
	return c
}
