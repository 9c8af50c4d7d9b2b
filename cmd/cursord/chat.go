package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/rpc"
	"cursord/sessions"
)

func chatCommand() *cobra.Command {
	var p place
	var session string
	var split bool
	var permits permitFlags
	c := &cobra.Command{
		Use:   "chat",
		Short: "Follow what the agent does in a workspace, and talk to it",
		Long: `Follow what the agent does in a workspace, whoever has asked it: what it says on stdout, all else on stderr. On a
terminal a line that you type is a prompt for the session that was shown last; Ctrl-C cancels the turn that is shown
and, where none runs, leaves, as Ctrl-D does. Leaving ends no turn, and the end of a daemon does not end the view.

With --split it opens in a pane beside the present one, in tmux, zellij, WezTerm or kitty (which must allow remote
control). That is for editors: "cursord editor install helix" has a key for it.`,
		Args: func(c *cobra.Command, args []string) error {
			return errors.Join(takes(0, 0)(c, args), permits.check(false))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			v := newChatView(view.NewScreen(c.OutOrStdout(), c.ErrOrStderr()), session)
			client := rpc.NewClient(inProcess(ctx), v.Notify)
			defer client.Close()
			chat := &chat{client: client, view: v}
			if err := permits.apply(c, &chat.params); err != nil {
				return err
			}
			root, err := p.find(ctx, client)
			if err != nil {
				return err
			}
			if session != "" {
				// A session has a workspace, whatever directory this is.
				if root, err = runPlace(ctx, client, p, session, false); err != nil {
					return err
				}
			}
			chat.root = root
			if split {
				return splitPane(root, session, permitArgs(&chat.params), os.Getenv)
			}
			return chat.run(ctx, c.InOrStdin())
		},
	}
	p.addFlag(c)
	permits.add(c)
	c.Flags().StringVar(&session, "session", "", "show the session `ID` alone (default: all of the workspace)")
	c.Flags().BoolVar(&split, "split", false, "open it in a pane of tmux, zellij, WezTerm or kitty")
	return c
}

// A chat is a view with a person at it.
type chat struct {
	client *rpc.Client
	root   string
	params rpc.TurnStartParams // what every turn that begins here has
	view   *chatView
	failed chan error // what went wrong with a prompt
}

func (c *chat) run(ctx context.Context, in io.Reader) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	defer c.view.leave()
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.failed = make(chan error, 1)
	var keys <-chan string
	var signals <-chan os.Signal
	var typing *keyboard
	if tty, ok := in.(*os.File); ok && term.IsTerminal(in) && c.view.show.OutTerm {
		var err error
		if typing, err = openKeyboard(tty); err != nil {
			return fmt.Errorf("the terminal: %w", err)
		}
		defer typing.close()
		keys, signals = typing.keys, typing.signals
		c.view.asks()
	}
	cancelled := "" // the turn
	ticks := time.NewTicker(view.TickTime)
	defer ticks.Stop()
	for {
		select {
		case now := <-ticks.C:
			c.view.Tick(now)
		case key, more := <-keys:
			if !more {
				return nil
			}
			switch line, shown, effect := c.view.key(key); effect {
			case keySends:
				c.prompt(ctx, strings.TrimSpace(line), shown)
			case keyLeaves:
				return nil
			}
		case sig := <-signals:
			switch {
			case !slices.Contains(term.JobSignals(), sig):
				return signalStatus(sig)
			case term.IsResume(sig):
				typing.claim()
				c.view.redraw()
			default:
				typing.suspended()
			}
		case <-interrupts:
			turn := c.view.running()
			if turn == "" && c.view.clear() {
				continue
			}
			if turn == "" || turn == cancelled {
				return nil
			}
			cancelled = turn
			c.view.cancel(turn)
			go c.call(ctx, "turn/cancel", rpc.TurnParams{TurnID: turn})
		case err := <-c.failed:
			c.view.complain(err)
		case <-c.client.Done():
			return errors.New("the daemon cannot be reached any more")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin has the daemon tell of what comes, and shows the last turn that has ended before: in this order, so that none
// begins and ends unseen.
func (c *chat) begin(ctx context.Context) error {
	c.view.hold()
	var now struct{ Seq uint64 }
	if err := c.client.Call(ctx, "workspace/subscribe", rpc.SubscribeParams{Workspace: c.root, Diffs: "summary"}, &now); err != nil {
		return err
	}
	defer c.view.release(now.Seq)
	session := c.view.only
	if session == "" {
		list, err := c.client.SessionList(ctx, rpc.SessionListParams{Workspace: c.root, Limit: 1})
		if err != nil {
			return err
		}
		if len(list.Sessions) > 0 {
			session = list.Sessions[0].ID
		}
	}
	if session != "" {
		return c.showLast(ctx, session)
	}
	c.view.say(fmt.Sprintf("no sessions yet in %s", term.Clean(c.root)))
	return nil
}

// showLast shows the last turn of a session, if it has ended.
func (c *chat) showLast(ctx context.Context, session string) error {
	t, err := readLastPage(ctx, c.client, session)
	if err != nil {
		return err
	}
	c.view.say(term.Clean(t.Session.Title))
	if len(t.Turns) == 0 {
		return nil
	}
	last := t.Turns[len(t.Turns)-1]
	if !last.Status.Final() {
		return nil // it is told of
	}
	var items []*sessions.Item
	for _, item := range t.Items {
		if item.TurnID == last.ID {
			items = append(items, item)
		}
	}
	c.view.past(last, items)
	return nil
}

// prompt sends what was typed, which the screen shows or not.
func (c *chat) prompt(ctx context.Context, line string, shown bool) {
	if line == "" {
		c.view.asks()
		return
	}
	params := c.params
	params.Workspace, params.Prompt, params.TurnID, params.SessionID = c.root, line, ulid.Make().String(), c.view.typed()
	if shown {
		c.view.own(params.TurnID)
	}
	go c.call(ctx, "turn/start", params)
}

func (c *chat) call(ctx context.Context, method string, params any) {
	if err := c.client.Call(ctx, method, params, nil); err != nil {
		err = (&turnRun{params: rpc.TurnStartParams{Workspace: c.root}}).startError(err)
		select {
		case c.failed <- err:
		case <-ctx.Done():
		}
	}
}
