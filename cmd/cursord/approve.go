package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/arguments"
	"cursord/rpc"
)

func approveCommand() *cobra.Command {
	return replyCommand(approve.Reply{}, "approve [ID [ANSWER]]", "Answer what an agent asks", `Answer what an agent asks, with yes if no ANSWER is named. An ANSWER is y, n or a, or the number or the id of one of the
answers that "cursord approvals" lists. --text goes with the answer to a question, or with a no to a plan; a yes to a plan takes no text.
Without ID, the command answers the only approval of the workspace.`)
}

func replyCommand(r approve.Reply, use, short, long string) *cobra.Command {
	var p place
	c := &cobra.Command{
		Use: use, Short: short,
		Long: long + ` An ID may be shortened to its beginning. If the approval was
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
