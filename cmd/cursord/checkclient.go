package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/misuse"
	"cursord/rpc/conformance"
)

func checkClientCommand() *cobra.Command {
	o := conformance.Options{}
	var plays strings.Builder
	var names []string
	for _, p := range conformance.Plays() {
		fmt.Fprintf(&plays, "\n  %-9s %s", p[0], p[1])
		names = append(names, p[0])
	}
	c := &cobra.Command{
		Use:   "check-client -- CMD [ARG...]",
		Short: "Check a client of the protocol, and say what it did wrong",
		Long: `Check a client of the protocol, and say what it did wrong. CMD is any program that finds the daemon as programs do, starts a
turn in its working directory, follows it to its end, and ends. It runs once for each of these plays, in a folder with the
file greeting.txt; CURSORD_CHECK names the play:
` + plays.String() + `

The daemon is a real one with a scripted agent. A proxy sees all messages. If CMD writes what it holds at its end to the file that
CURSORD_CHECK_STATE names, that is checked, too: {"turns": {ID: STATUS}, "items": {ID: TEXT}, "diffs": {PATH: REV}}.
The exit status is 1 if something was wrong.`,
		Example: "  cursord check-client -- python3 ~/client.py",
		Args:    arguments.Takes(1, arguments.Many),
		RunE: func(c *cobra.Command, args []string) error {
			if o.Limit <= 0 {
				return misuse.Errorf("--limit must be a time such as 30s")
			}
			for _, name := range o.Only {
				if !slices.Contains(names, name) {
					return misuse.Errorf("there is no play %q; the plays are %s", name, strings.Join(names, ", "))
				}
			}
			program, err := os.Executable()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			o.Program, o.Command = program, args
			wrong, err := conformance.Check(ctx, o, c.OutOrStdout())
			if err == nil && wrong > 0 {
				err = statusError(exitFailed)
			}
			return err
		},
	}
	c.Flags().StringSliceVar(&o.Only, "only", nil, "play only these")
	c.Flags().DurationVar(&o.Limit, "limit", 30*time.Second, "how long CMD may take for a play")
	return c
}
