// Package chat follows what agents do in a workspace, at a terminal, with a line for a person's prompts. A View shows turns one
// behind the other and owns the screen; a Chat adds the person: keys, prompts, signals, Ctrl-C. Split opens one in a pane beside
// the present one. No turn ends with it.
package chat

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

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// A Chat is a view with a person at it.
type Chat struct {
	Client  *rpc.Client // its notifications go to the View
	View    *View
	Params  rpc.TurnStartParams // what every turn that begins here has; its workspace is the one that is followed
	Explain func(error) error   // puts why a turn is refused in terms of the command line

	failed chan error // what went wrong with a prompt
}

// Run follows the workspace until the person leaves, who types on in if that is a terminal. The error is a term.SignalError
// where a signal has ended it.
func (c *Chat) Run(ctx context.Context, in io.Reader) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	defer c.View.leave()
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.failed = make(chan error, 1)
	var keys <-chan string
	var signals <-chan os.Signal
	var typing *keyboard
	if tty, ok := in.(*os.File); ok && term.IsTerminal(in) && c.View.show.OutTerm {
		var err error
		if typing, err = openKeyboard(tty); err != nil {
			return fmt.Errorf("the terminal: %w", err)
		}
		defer typing.close()
		keys, signals = typing.keys, typing.signals
		c.View.asks()
	}
	cancelled := "" // the turn
	ticks := time.NewTicker(view.TickTime)
	defer ticks.Stop()
	for {
		select {
		case now := <-ticks.C:
			c.View.Tick(now)
		case key, more := <-keys:
			if !more {
				return nil
			}
			switch line, shown, effect := c.View.key(key); effect {
			case keySends:
				c.prompt(ctx, strings.TrimSpace(line), shown)
			case keyLeaves:
				return nil
			}
		case sig := <-signals:
			switch {
			case !slices.Contains(term.JobSignals(), sig):
				return term.SignalError{Signal: sig}
			case term.IsResume(sig):
				typing.claim()
				c.View.redraw()
			default:
				typing.suspended()
			}
		case <-interrupts:
			turn := c.View.running()
			if turn == "" && c.View.clear() {
				continue
			}
			if turn == "" || turn == cancelled {
				return nil
			}
			cancelled = turn
			c.View.cancel(turn)
			go c.call(ctx, "turn/cancel", rpc.TurnParams{TurnID: turn})
		case err := <-c.failed:
			c.View.complain(err)
		case <-c.Client.Done():
			return errors.New("the daemon cannot be reached any more")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin has the daemon tell of what comes, and shows the last turn that has ended before: in this order, so that none
// begins and ends unseen.
func (c *Chat) begin(ctx context.Context) error {
	c.View.hold()
	var now struct{ Seq uint64 }
	if err := c.Client.Call(ctx, "workspace/subscribe", rpc.SubscribeParams{Workspace: c.Params.Workspace, Diffs: "summary"}, &now); err != nil {
		return err
	}
	defer c.View.release(now.Seq)
	session := c.View.only
	if session == "" {
		list, err := c.Client.SessionList(ctx, rpc.SessionListParams{Workspace: c.Params.Workspace, Limit: 1})
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
	c.View.say(fmt.Sprintf("no sessions yet in %s", term.Clean(c.Params.Workspace)))
	return nil
}

// showLast shows the last turn of a session, if it has ended.
func (c *Chat) showLast(ctx context.Context, session string) error {
	t, err := lastPage(ctx, c.Client, session)
	if err != nil {
		return err
	}
	c.View.say(term.Clean(t.Session.Title))
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
	c.View.past(last, items)
	return nil
}

// prompt sends what was typed, which the screen shows or not.
func (c *Chat) prompt(ctx context.Context, line string, shown bool) {
	if line == "" {
		c.View.asks()
		return
	}
	params := c.Params
	params.Prompt, params.TurnID, params.SessionID = line, ulid.Make().String(), c.View.typed()
	if shown {
		c.View.own(params.TurnID)
	}
	go c.call(ctx, "turn/start", params)
}

func (c *Chat) call(ctx context.Context, method string, params any) {
	if err := c.Client.Call(ctx, method, params, nil); err != nil {
		select {
		case c.failed <- c.Explain(err):
		case <-ctx.Done():
		}
	}
}

// lastPage reads the last page of a session: all of its last turn, unless that is very long.
func lastPage(ctx context.Context, client *rpc.Client, session string) (*api.Transcript, error) {
	page, err := client.SessionRead(ctx, rpc.SessionReadParams{SessionID: session})
	return &page, err
}
