package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/ask"
	"cursord/cmd/cursord/internal/chat"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/permits"
	"cursord/cmd/cursord/internal/view"
	"cursord/rpc"
	"cursord/rpc/join"
)

func chatCommand() *cobra.Command {
	var p place
	var session string
	var split bool
	var permit permits.Flags
	c := &cobra.Command{
		Use:   "chat",
		Short: "Follow what the agent does in a workspace, and talk to it",
		Long: `Follow what the agent does in a workspace, whoever started the turn: its text goes to stdout, everything else to
stderr. On a terminal you can type a prompt for the session shown last, or a command that begins with / (/help lists
them). Ctrl-C cancels the turn that is shown; if none runs, it empties the line, or leaves if the line is empty, as
Ctrl-D does. Leaving ends no turn.

If stdin is a pipe or a file, each of its lines is sent when the turn before has ended, and the chat ends after the last
one, or the first that fails, with the exit status of run. With </dev/null, or an empty input, it only follows.

--split opens it in a new pane of tmux, zellij, WezTerm or kitty (which must allow remote control). Editors use it:
"cursord editor install helix" has a key for it.`,
		Args: func(c *cobra.Command, args []string) error {
			return errors.Join(arguments.Takes(0, 0)(c, args), permit.Check(false))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			var params rpc.TurnStartParams
			if err := permit.Apply(c, &params); err != nil {
				return err
			}
			if session != "" {
				found, err := namedSession(ctx, p, session)
				if err != nil {
					return err
				}
				session = found
			}
			v := chat.NewView(view.NewScreen(c.OutOrStdout(), c.ErrOrStderr()), session)
			client := join.Client(ctx, join.Local(dialOptions()), v.Notify)
			defer client.Close()
			root, err := p.find(ctx, client)
			if err != nil {
				return err
			}
			if session != "" {
				// The session decides the workspace, not the current directory.
				if root, err = runPlace(ctx, client, p, session, false); err != nil {
					return err
				}
			}
			if split {
				return chat.Split(root, session, permits.Args(&params), os.Getenv)
			}
			params.Workspace = root
			explain := (&ask.Turn{Params: params, Home: naming.HomeDir()}).Explain
			err = (&chat.Chat{Client: client, View: v, Params: params, Explain: explain}).Run(ctx, c.InOrStdin(), c.OutOrStdout())
			if stopped := (*chat.StoppedError)(nil); errors.As(err, &stopped) {
				return statusError(stopped.Status)
			}
			return err
		},
	}
	p.addFlag(c)
	permit.Add(c)
	c.Flags().StringVar(&session, "session", "", "show only the session `ID` (or its beginning, or @1 for the latest; default: all of the workspace)")
	c.Flags().BoolVar(&split, "split", false, "open it in a new pane of tmux, zellij, WezTerm or kitty")
	return c
}

// namedSession returns the id of the session that a name means. It uses a connection of its own, because the view's
// connection needs the id.
func namedSession(ctx context.Context, p place, name string) (string, error) {
	client, err := newClient(ctx, nil)
	if err != nil {
		return "", err
	}
	defer client.Close()
	return p.session(ctx, client, name)
}
