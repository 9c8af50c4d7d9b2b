package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/permits"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

var errNoSession = errors.New("there is no session here yet")

// edit has the person change the session's last prompt in an editor. The turn of the new one comes by the subscription.
func (c *Chat) edit(ctx context.Context, _ []string) error {
	session := c.View.typed()
	switch {
	case session == "":
		return errNoSession
	case c.script != nil:
		return errors.New("/edit is for a person at a terminal; in a script, use: cursord run --edit")
	}
	flags := permits.Args(&c.Params)
	if c.Params.Model != nil {
		flags = append(flags, "--model="+*c.Params.Model)
	}
	if c.Params.Mode != nil {
		flags = append(flags, "--mode="+string(*c.Params.Mode))
	}
	cmd, err := c.program(ctx, append([]string{"run", "--edit", "--background", "--session", session, "--workspace", c.Params.Workspace}, flags...)...)
	if err != nil {
		return err
	}
	cmd.Stdout = io.Discard // the turn's id
	return c.lend(cmd)
}

// recap asks the session's last prompt again, with what went with it, in a fresh chat that begins with what matters of the transcript. It
// refuses that where the agent has the chat.
func (c *Chat) recap(ctx context.Context, _ []string) error {
	session := c.View.typed()
	if session == "" || c.begins {
		return errNoSession
	}
	list, err := c.Client.TurnList(ctx, rpc.TurnListParams{SessionID: session, Limit: 1})
	if err != nil {
		return err
	}
	if len(list.Turns) == 0 {
		return errors.New("the session has no prompt to ask again")
	}
	page, err := c.Client.SessionRead(ctx, rpc.SessionReadParams{SessionID: session, Limit: rpc.ChatLostItems})
	if err != nil {
		return err
	}
	if !rpc.ChatLost(&page) {
		return fmt.Errorf("the agent has lost no chat in the last turn: /edit changes its prompt, and a fresh chat with the transcript begins with: "+
			"cursord run --recap --session %s PROMPT", session)
	}
	with, left := rpc.Again(list.Turns[0])
	if left > 0 {
		c.View.line("without what was too long to be kept")
	}
	return c.send(ctx, list.Turns[0].Prompt, func(params *rpc.TurnStartParams) {
		params.SessionID, params.Recap, params.Context = session, true, with
	})
}

// rewind shows what it would take back, from the named turn or else the last one of the session on, and asks the person.
func (c *Chat) rewind(ctx context.Context, args []string) error {
	session := c.View.typed()
	switch {
	case session == "":
		return errNoSession
	case len(args) > 1:
		return errors.New("/rewind takes one TURN; /help lists the commands")
	case len(args) == 0:
		list, err := c.Client.TurnList(ctx, rpc.TurnListParams{SessionID: session, Limit: 1})
		if err != nil {
			return err
		}
		if len(list.Turns) == 0 {
			return errors.New("the session has no turn to take back")
		}
		args = []string{list.Turns[0].ID}
	}
	return c.own(ctx, "rewind", "--workspace", c.Params.Workspace, "--ask", "--turn", args[0], session)
}

// isolations are the words by which a person says where the agent of a fork works.
var isolations = []string{"copy", "none"}

// fork begins another session with the transcript of this one, up to and with the named turn or else all that have ended, and goes on there.
func (c *Chat) fork(ctx context.Context, args []string) (err error) {
	params := rpc.SessionForkParams{SessionID: c.View.typed()}
	if params.SessionID == "" || c.begins {
		return errNoSession
	}
	for _, arg := range args {
		switch isIsolation := slices.Contains(isolations, arg); {
		case isIsolation && params.Isolation == nil:
			params.Isolation = &arg
		case !isIsolation && params.TurnID == "":
			n := naming.Names{Client: c.Client, Root: c.Params.Workspace}
			if params.TurnID, err = n.TurnOf(ctx, params.SessionID, arg); err != nil {
				return err
			}
		default:
			return errors.New("/fork takes copy or none, and one TURN; /help lists the commands")
		}
	}
	made, err := c.Client.SessionFork(ctx, params)
	if err != nil {
		return err
	}
	about := term.Count(made.Session.Turns, "turn")
	if made.Session.Isolation == "copy" {
		about += ", its agent works in a copy"
	}
	c.View.goOn(made.Session.ID)
	c.View.line(fmt.Sprintf("The next prompts go on in: %s (%s)", term.Clean(cmp.Or(made.Session.Title, made.Session.ID)), about))
	return nil
}

// steer adds a text to the turn on the screen. A notice of the turn says what became of it, if the turn runs.
func (c *Chat) steer(ctx context.Context, args []string) error {
	turn := c.View.running()
	if turn == "" {
		return errors.New("no turn runs here: send it as a prompt, without /steer")
	}
	go func() {
		done, err := c.Client.TurnSteer(ctx, rpc.TurnSteerParams{TurnID: turn, Text: args[0]})
		switch {
		case err != nil:
			if c.terminal != nil {
				c.terminal.feed.post(restoreMsg{"/steer " + args[0]})
			}
			c.showError(ctx, err)
		case done.QueuedTurnID != "" && done.Turn.Status != sessions.TurnRunning:
			c.View.line("The turn does not run; the text is queued as the next one.")
		}
	}()
	return nil
}

// search finds words in the sessions of all folders.
func (c *Chat) search(ctx context.Context, args []string) error {
	return c.own(ctx, "search", "--", args[0])
}

// cancelTurn cancels the turn that is shown, or the named one of the session, which may be queued.
func (c *Chat) cancelTurn(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return errors.New("/cancel takes one TURN; /help lists the commands")
	}
	turn := c.View.running()
	if len(args) == 0 {
		if turn == "" {
			return errors.New("no turn runs here")
		}
		c.cancel(ctx, turn)
		return nil
	}
	return c.enqueue(func() error { // behind the prompts that were typed before
		id, err := naming.Names{Client: c.Client, Root: c.Params.Workspace}.TurnOf(ctx, c.View.typed(), args[0])
		if err != nil {
			return err
		}
		if active, err := (naming.Names{Client: c.Client}).Active(ctx, id); err != nil || !active {
			return cmp.Or(err, fmt.Errorf("the turn %s has ended already", term.Clean(id)))
		}
		if id == c.View.running() {
			c.View.cancel(id)
		}
		_, err = c.Client.TurnCancel(ctx, rpc.TurnParams{TurnID: id})
		return err
	})
}
