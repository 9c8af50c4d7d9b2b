// Package chat follows agents in a workspace, at a terminal, with a line for a person's prompts. A View shows one turn after
// the other and owns the screen. A Chat adds the person: keys, prompts, signals, Ctrl-C. Split opens a chat in a pane beside
// the present one. Turns go on when a chat ends.
package chat

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/oklog/ulid/v2"

	"cursord/cmd/cursord/internal/run"
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
	Params  rpc.TurnStartParams // for each turn that begins here; its Workspace is the one that is followed
	Explain func(error) error   // says in terms of the command line why a turn was refused

	terminal *terminal         // nil where the prompt cannot be drawn
	script   *script           // nil without a pipe or a file to read
	work     chan func() error // prompts and commands to be done one after the other; only they use Params and begins
	begins   bool              // the next prompt begins a session
	failed   chan error        // errors of work and of cancellations
	asked    string            // the turn that the person has cancelled
	stopped  bool              // the person has pressed Ctrl-Z
	lent     bool              // another program has the terminal, and interrupts are for it

	interrupts chan os.Signal
}

const workMost = 64 // prompts and commands that may wait to be sent

// Run follows the workspace and shows it on out until the person leaves. The person types on in, if in is a terminal;
// the lines of a pipe or a file are a script. The error is a term.SignalError if a signal has ended Run, and a StoppedError if a
// line of the script has failed.
func (c *Chat) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.interrupts = make(chan os.Signal, 1)
	signal.Notify(c.interrupts, os.Interrupt)
	defer signal.Stop(c.interrupts)
	c.failed, c.work = make(chan error, 1), make(chan func() error, workMost)
	events := make(chan event, workMost)
	var signals chan os.Signal
	ended := make(<-chan struct{})
	if file, ok := out.(*os.File); ok && ownsTerminal(in, c.View.show) {
		signals = make(chan os.Signal, 4)
		signal.Notify(signals, append(term.EndingSignals(), term.ResumeSignals()...)...)
		defer signal.Stop(signals)
		c.openTerminal(ctx, in, file, events)
		ended = c.terminal.ended
		defer c.terminal.close()
	}
	var carried chan struct{}
	if run.HasInput(in) {
		c.script, c.View.piped = newScript(in), true
		carried = c.script.done
	}
	defer c.View.leave()
	if err := c.begin(ctx); err != nil {
		return err
	}
	switch {
	case c.terminal != nil:
		c.View.line(c.View.show.Palette.Dim("Enter sends, Alt-Enter begins another line, /help lists what else there is."))
	case term.IsTerminal(in) && c.View.show.OutTerm:
		c.View.line("A line is a prompt; /help lists what else there is.")
		c.View.asks()
		go readLines(in, events)
	}
	go c.runQueue(ctx)
	ticks := time.NewTicker(view.TickTime)
	defer ticks.Stop()
	for {
		lines, err := c.nextLine()
		if err != nil {
			return err
		}
		select {
		case text, ok := <-lines:
			err = c.line(ctx, text, ok)
		case <-carried:
			c.script.busy = false
		case now := <-ticks.C:
			c.View.Tick(now)
			c.note()
		case e := <-events:
			err = c.handle(ctx, e)
			c.note()
		case sig := <-signals:
			err = c.signal(sig)
		case <-c.interrupts:
			if !c.lent {
				err = c.interrupt(ctx, false)
			}
		case err = <-c.failed:
		case <-ended:
			return cmp.Or(c.terminal.err, errors.New("the terminal is gone"))
		case <-c.Client.Done():
			return errors.New("the daemon cannot be reached any more")
		case <-ctx.Done():
			return ctx.Err()
		}
		switch {
		case errors.Is(err, errLeave):
			return nil
		case errors.As(err, new(term.SignalError)), errors.As(err, new(*StoppedError)):
			return err
		case err != nil:
			if c.View.complain(err); c.script != nil && c.script.sent {
				return &StoppedError{statusFailed}
			}
		}
	}
}

// openTerminal draws the prompt; from now on the view writes above it.
func (c *Chat) openTerminal(ctx context.Context, in io.Reader, out *os.File, events chan event) {
	palette := c.View.show.Palette
	f := newFeed()
	c.View.showOn(view.NewTerminal(f, palette))
	c.View.onQuestion = func(id string, lines []string) { f.post(questionMsg{id, lines}) }
	words := &finder{root: c.Params.Workspace, client: c.Client}
	p := newPrompt(f, events, palette, openHistory(historyPath(c.Params.Workspace)), func(before string) (int, []string) { return words.find(ctx, before) })
	c.terminal = openTerminal(ctx, in, out, f, p)
}

// handle handles what the person has typed or pressed.
func (c *Chat) handle(ctx context.Context, e event) error {
	switch e.kind {
	case sent:
		if c.answers(ctx, e) {
			return nil
		}
		return c.typed(ctx, e.text)
	case empty:
		c.View.again(c.terminal != nil)
	case ctrlC, ctrlCTyped:
		return c.interrupt(ctx, e.kind == ctrlCTyped)
	case suspends:
		c.stopped = true
		c.terminal.feed.post(tea.Suspend())
	case resumes:
		c.stopped = false
	case returns:
		c.lent = false
		c.forgetInterrupts()
	case leaves:
		return errLeave
	}
	return nil
}

// forgetInterrupts drops the interrupts that were for the program which had the terminal. One may have come and not be in the channel yet: Stop waits
// for it. Meanwhile another channel keeps an interrupt from ending the program.
func (c *Chat) forgetInterrupts() {
	spare := make(chan os.Signal, 1)
	signal.Notify(spare, os.Interrupt)
	defer signal.Stop(spare)
	signal.Stop(c.interrupts)
	select {
	case <-c.interrupts:
	default:
	}
	signal.Notify(c.interrupts, os.Interrupt)
}

// signal handles a signal: it redraws after a stop, and returns a term.SignalError for the signals that end the program.
func (c *Chat) signal(sig os.Signal) error {
	if !term.IsResume(sig) {
		return term.SignalError{Signal: sig}
	}
	if !c.stopped { // a stop other than by Ctrl-Z may leave the terminal in any state
		c.terminal.feed.post(againMsg{})
	}
	return nil
}

// interrupt cancels the turn that is on the screen; a second interrupt leaves the chat. If no turn runs, it empties the
// line, or leaves if the line is empty.
func (c *Chat) interrupt(ctx context.Context, typed bool) error {
	turn := c.View.running()
	switch {
	case turn == "" && typed:
		c.terminal.feed.post(clearMsg{})
		return nil
	case turn == "" || turn == c.asked:
		return errLeave
	}
	c.cancel(ctx, turn)
	return nil
}

func (c *Chat) cancel(ctx context.Context, turn string) {
	c.asked = turn
	c.View.cancel(turn)
	go func() { c.showError(ctx, c.Client.Call(ctx, "turn/cancel", rpc.TurnParams{TurnID: turn}, nil)) }()
}

// note updates the notes about waiting prompts and attached files.
func (c *Chat) note() {
	if c.terminal != nil {
		c.terminal.feed.note(c.View.waits())
	}
}

// enqueue queues a function behind all earlier prompts and commands. It fails if the queue is full.
func (c *Chat) enqueue(do func() error) error {
	select {
	case c.work <- do:
		return nil
	default:
		return errors.New("too many prompts wait to be sent; try again when the daemon answers")
	}
}

// runQueue runs the queued functions one after the other, until ctx ends.
func (c *Chat) runQueue(ctx context.Context) {
	for {
		select {
		case do := <-c.work:
			c.showError(ctx, do())
		case <-ctx.Done():
			return
		}
	}
}

// showError has Run show an error; nil is ignored.
func (c *Chat) showError(ctx context.Context, err error) {
	if err == nil {
		return
	}
	err = c.Explain(err)
	if e := (*rpc.Error)(nil); errors.As(err, &e) && e.Data.Kind == api.KindWorkspaceUntrusted {
		e.Data.Hint = "trust it with: /trust"
		if path := cmp.Or(e.Data.Path, c.Params.Workspace); path != c.Params.Workspace {
			e.Data.Hint += " " + term.ShellWord(path)
		}
	}
	select {
	case c.failed <- err:
	case <-ctx.Done():
	}
}

// readLines reads lines from a terminal that echoes and edits them itself.
func readLines(in io.Reader, events chan<- event) {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadString('\n')
		if text = strings.TrimRight(text, "\r\n"); strings.TrimSpace(text) != "" {
			events <- event{kind: sent, text: text}
		} else if err == nil {
			events <- event{kind: empty}
		}
		if err != nil {
			events <- event{kind: leaves}
			return
		}
	}
}

// begin subscribes to the workspace, and then shows the last turn if it has ended. In this order no turn can begin and end
// unseen.
func (c *Chat) begin(ctx context.Context) error {
	c.View.hold()
	var now struct{ Seq uint64 }
	if err := c.Client.Call(ctx, "workspace/subscribe", rpc.SubscribeParams{Workspace: c.Params.Workspace, Diffs: "summary"}, &now); err != nil {
		return err
	}
	defer c.View.release(now.Seq)
	if list, err := c.Client.DiffList(ctx, rpc.DiffParams{Workspace: c.Params.Workspace}); err == nil { // otherwise only new ones are counted
		c.View.reviews(list.Diffs)
	}
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

// showLast shows the last turn of a session to a person, if it has ended.
func (c *Chat) showLast(ctx context.Context, session string) error {
	t, err := lastPage(ctx, c.Client, session)
	if err != nil {
		return err
	}
	c.View.say(term.Clean(t.Session.Title))
	if len(t.Turns) == 0 { // a rewind has taken them back
		c.View.goOn(session)
		return nil
	}
	last := t.Turns[len(t.Turns)-1]
	switch {
	case !last.Status.Final():
		return nil // the subscription reports it
	case c.script != nil: // stdout is for its answers
		c.View.goOn(session)
		return nil
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

// prompt sends a prompt, with a text attached if with is set. If the daemon refuses it, the prompt goes back into the line.
func (c *Chat) prompt(ctx context.Context, text string, with *rpc.Context) error {
	return c.send(ctx, text, func(params *rpc.TurnStartParams) {
		if with != nil {
			params.Context = append(slices.Clip(params.Context), *with)
		}
	})
}

// send sends a prompt behind those that wait to be sent. add changes what goes with it.
func (c *Chat) send(ctx context.Context, text string, add func(*rpc.TurnStartParams)) error {
	turn := ulid.Make().String()
	if c.View.prompted(turn, strings.TrimSpace(text)); c.script != nil {
		c.script.turn = turn
	}
	return c.enqueue(func() error {
		params := c.Params
		params.Prompt, params.TurnID = strings.TrimSpace(text), turn
		if !c.begins {
			params.SessionID = c.View.typed()
		}
		add(&params)
		var begun rpc.TurnStartResult
		if err := c.Client.Call(ctx, "turn/start", params, &begun); err != nil {
			c.View.refused(turn)
			if c.terminal != nil {
				c.terminal.feed.post(restoreMsg{text})
			}
			return err
		}
		if begun.Session != nil {
			c.View.goOn(begun.Session.ID)
		}
		if c.begins = false; !params.Recap { // that had what went with it before
			c.Params.Context = nil
			c.View.attach(nil)
		}
		return nil
	})
}

// lastPage reads the last page of a session. It holds the whole last turn, unless that is very long.
func lastPage(ctx context.Context, client *rpc.Client, session string) (*api.Transcript, error) {
	page, err := client.SessionRead(ctx, rpc.SessionReadParams{SessionID: session})
	return &page, err
}
