package main

import (
	"os"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/faces"
	"cursord/cmd/cursord/internal/tracefile"
	"cursord/rpc"
)

func acpCommand() *cobra.Command {
	var trace string
	c := &cobra.Command{
		Use:   "acp",
		Short: "Be an agent for editors that speak ACP, on stdin and stdout",
		Long: `Be an agent on stdin and stdout for editors that speak the Agent Client Protocol: Zed, CodeCompanion and avante in
Neovim, agent-shell in Emacs, JetBrains' IDEs, acpx and others. The command joins the user's daemon, starts one if none runs, and joins
the next one when that ends. It ends when stdin does; turns go on, and session/load shows them again.

In a prompt /review shows what is left to review, /accept and /reject decide about it, /undo takes a decision back,
/rewind takes the last turns back, /steer tells the running turn something more, /recap asks the last prompt again in a fresh chat, and
/sessions lists the sessions of the folder.`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return tracefile.Run(trace, func(t *rpc.Tracer) error {
				if t == nil {
					return ended(faces.ACP(c.Context(), os.Stdin, os.Stdout, os.Stderr, dialOptions()))
				}
				both := t.Conn(faces.Stdio{})
				defer both.Close()
				return ended(faces.ACP(c.Context(), both, both, os.Stderr, dialOptions()))
			})
		},
	}
	tracefile.AddFlag(c, &trace)
	return c
}
