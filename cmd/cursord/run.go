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
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

// exitCancelled is the exit status of a run whose turn was cancelled, as of a program that Ctrl-C ended.
const exitCancelled = 130

func runCommand() *cobra.Command {
	var p place
	var session, chat, model, mode, isolation string
	var force, trust, recap, asJSON bool
	var permits permitFlags
	var images []string
	c := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Give the agent a prompt and watch it work",
		Long: `Give the agent a prompt and watch it work: its text on stdout, its tool calls on stderr. Without PROMPT, or where
it is -, the prompt is what stdin has.

Ctrl-C, or a SIGTERM, cancels the turn, and the command waits for its end. A second one leaves the turn to the daemon; so
does all else that ends the command, such as the loss of its terminal (SIGHUP), and where it can it says how to get back.

The agent knows what was said in a session as long as it has its chat. Where it has lost it, or the workspace was moved,
--recap begins a fresh chat with the transcript as context. --chat goes on with a chat that was begun without cursord;
"cursord sessions --agent" lists them.

What the agent may not do without asking is denied, and a note at the end says what was. --sandbox enabled runs what the agent's
sandbox can hold, --auto-review has a classifier of the agent's decide, and --force runs everything.

With --isolation copy the agent of the new session works in a copy of the workspace: nothing changes in the workspace
until you accept it.

The exit status is 0 when the turn is completed, 1 when it failed, and 130 when it was cancelled. Where the daemon can store
nothing, as on a full disk, it is 1 after 20 seconds without news: the daemon keeps the turn and stores it later.`,
		Example: `  cursord run "explain main.go"
  cursord run --session 01J9ZK4T6Q "now add a test"
  cursord run --image shot.png "what is wrong here?"
  cursord run --session 01J9ZK4T6Q --recap "where were we?"
  git diff | cursord run --mode ask --json -`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return errors.New("more than one PROMPT: put quotes around it")
			}
			if mode != "" && !slices.Contains([]sessions.Mode{sessions.ModeAgent, sessions.ModeAsk, sessions.ModePlan}, sessions.Mode(mode)) {
				return fmt.Errorf("--mode is %q; it must be agent, ask or plan", mode)
			}
			switch {
			case chat != "" && (session != "" || recap):
				return errors.New("--chat excludes --session and --recap")
			case isolation != "" && isolation != "none" && isolation != "copy":
				return fmt.Errorf("--isolation is %q; it must be none or copy", isolation)
			case isolation != "" && (session != "" || chat != ""):
				return errors.New("--isolation goes with a new session: it excludes --session and --chat")
			case recap && session == "":
				return errors.New("--recap goes with --session")
			}
			return permits.check(force)
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			r := &turnRun{trust: trust, errOut: c.ErrOrStderr(), params: rpc.TurnStartParams{
				SessionID: session, Force: force, Recap: recap, TurnID: ulid.Make().String(),
			}}
			if err := permits.apply(c, &r.params); err != nil {
				return err
			}
			if r.params.Context, err = imageContext(images); err != nil {
				return err
			}
			if r.params.Prompt, err = promptOf(c, args); err != nil {
				return err
			}
			if mode != "" {
				m := sessions.Mode(mode)
				r.params.Mode = &m
			}
			if model != "" {
				r.params.Model = &model
			}
			f := view.NewFollower(r.params.TurnID, view.NewScreen(c.OutOrStdout(), c.ErrOrStderr()), nil)
			if asJSON {
				f = view.NewFollower(r.params.TurnID, nil, c.OutOrStdout())
			}
			o := dialOptions()
			o.OnNotify, o.Joined = f.Notify, &api.Joined{}
			client, err := dial.Connect(c.Context(), o)
			if err != nil {
				return err
			}
			defer client.Close()
			if note := ignoredAgent(o.Joined.Agent); note != "" {
				fmt.Fprintln(c.ErrOrStderr(), "cursord: "+note)
			}
			if r.params.Workspace, err = runPlace(c.Context(), client, p, session, recap); err != nil {
				return err
			}
			if chat != "" {
				if r.params.SessionID, err = adopt(c.Context(), client, r.params.Workspace, chat); err != nil {
					return err
				}
			}
			if isolation != "" {
				var created rpc.SessionResult
				params := rpc.SessionCreateParams{Workspace: r.params.Workspace, Isolation: &isolation}
				if err := client.Call(c.Context(), "session/create", params, &created); err != nil {
					return err
				}
				r.params.SessionID = created.Session.ID
				defer func() {
					if err != nil && !r.started { // there is nothing in it
						_ = client.Call(c.Context(), "session/delete", rpc.SessionParams{SessionID: created.Session.ID}, nil)
					}
				}()
			}
			signals := make(chan os.Signal, 4)
			signal.Notify(signals, os.Interrupt)
			for _, s := range term.EndingSignals() {
				if !signal.Ignored(s) { // as under nohup
					signal.Notify(signals, s)
				}
			}
			defer signal.Stop(signals)
			turn, err := r.run(c.Context(), client, f, signals)
			if err != nil {
				return err
			}
			if f.Show != nil {
				tellPending(c.Context(), client, c.ErrOrStderr(), turn)
			}
			if turn.Error != nil && turn.Error.Kind == string(api.KindAgentNotLoggedIn) {
				if hint := keyHint(c.Context(), client); hint != "" {
					turn.Error.Hint = hint
				}
			}
			return turnResult(turn)
		},
	}
	p.addFlag(c)
	c.Flags().StringVar(&session, "session", "", "go on with the session `ID` (default: a new one)")
	c.Flags().StringVar(&session, "resume", "", "the same as --session, in cursor-agent's word: `ID`")
	c.Flags().StringVar(&chat, "chat", "", "go on with the chat `ID` of cursor-agent")
	c.Flags().BoolVar(&recap, "recap", false, "begin a fresh chat with the session's transcript as context")
	c.Flags().StringVar(&model, "model", "", "the model `M` (default: the session's, else the configuration's)")
	c.Flags().StringVar(&mode, "mode", "", "the mode `M`: agent, ask or plan (default: the session's, else agent)")
	c.Flags().StringVar(&isolation, "isolation", "", "copy: let the agent work in a copy of the workspace; none: in the workspace itself (default: the configuration's)")
	c.Flags().BoolVar(&force, "force", false, "let the agent run every command without asking; in the modes ask and plan, in which it runs no commands, this is about the web alone")
	permits.add(c)
	c.Flags().StringArrayVar(&images, "image", nil, "show the agent the image in the file `PATH`: PNG, JPEG, GIF or WebP; may be given more than once")
	c.Flags().BoolVar(&trust, "trust", false, "trust the workspace and the folders of --add-dir, unless the turn is refused for something else")
	c.Flags().BoolVar(&asJSON, "json", false, "print the turn's notifications as lines of JSON")
	return c
}

// promptOf returns the prompt from the command line, else from stdin.
func promptOf(c *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		if term.IsTerminal(c.InOrStdin()) {
			return "", usageError(c, "no PROMPT")
		}
		args = []string{"-"}
	}
	raw, err := readArgument(c, args[0])
	if err != nil {
		return "", fmt.Errorf("the prompt cannot be read: %w", err)
	}
	if strings.TrimSpace(string(raw)) == "" {
		return "", usageError(c, "the prompt is empty")
	}
	return string(raw), nil
}

// runPlace returns the workspace of a run: the one given, else that of the session, if one is given. With a recap a
// session's workspace that is gone gives way to the present one: it was moved.
func runPlace(ctx context.Context, client *rpc.Client, p place, session string, recap bool) (string, error) {
	if p.dir != "" || session == "" {
		return p.find(ctx, client)
	}
	t, err := client.SessionRead(ctx, rpc.SessionReadParams{SessionID: session, Limit: 1})
	if err != nil {
		return "", err
	}
	info, err := os.Stat(t.Session.Workspace)
	switch {
	case err == nil && info.IsDir():
		return t.Session.Workspace, nil
	case recap:
		return p.find(ctx, client)
	}
	return "", &rpc.Error{
		Message: fmt.Sprintf("the session's workspace %s is not there any more", term.Clean(t.Session.Workspace)),
		Data:    rpc.ErrorData{Hint: fmt.Sprintf("where it was moved to, go on with: cursord run --session %s --recap …", session)},
	}
}

// adopt returns the session that goes on with a chat of cursor-agent's, the latest or a new one.
func adopt(ctx context.Context, client *rpc.Client, workspace, chat string) (string, error) {
	list, err := client.AgentChats(ctx, rpc.WorkspaceParams{Workspace: workspace})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list.Chats, func(c api.Chat) bool { return c.ID == chat })
	if i < 0 {
		return "", fmt.Errorf("cursor-agent has no chat %s of %s: \"cursord sessions --agent\" lists those it has", term.Clean(chat), term.Clean(workspace))
	}
	if adopted := list.Chats[i].Sessions; len(adopted) > 0 {
		return adopted[0], nil
	}
	params := rpc.SessionCreateParams{Workspace: workspace, AgentSessionID: chat}
	if title := list.Chats[i].Title; title != "" {
		params.Title = &title
	}
	created, err := client.SessionCreate(ctx, params)
	if err != nil {
		return "", err
	}
	return created.Session.ID, nil
}

// A turnRun is a turn from its start to its end.
type turnRun struct {
	params rpc.TurnStartParams // with a TurnID
	trust  bool
	errOut io.Writer // where it says why it leaves a turn that was cancelled

	started bool // the turn, perhaps: nobody has refused it
}

// run starts the turn, shows it by f, whose notify must be the client's, and returns it when it has ended. The first
// signal cancels the turn, unless it says that nobody watches any more; a second one ends the wait for it. Where the daemon can
// store nothing, it waits for a while only.
func (r *turnRun) run(ctx context.Context, client *rpc.Client, f *view.Follower, signals <-chan os.Signal) (*sessions.Turn, error) {
	defer f.End()
	if err := r.prepare(ctx, client, f); err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	r.started = true
	go func() { started <- r.start(ctx, client) }()
	cancelled := make(chan error, 1)
	isStarted, interrupted, queued := false, false, false
	cancel := func() { cancelled <- client.Call(ctx, "turn/cancel", rpc.TurnParams{TurnID: r.params.TurnID}, nil) }
	stall, ticks := newStall(client, f), time.NewTicker(stallTick)
	defer ticks.Stop()
	looks := time.NewTicker(view.TickTime)
	defer looks.Stop()
	for {
		select {
		case turn := <-f.Ended:
			return turn, nil
		case now := <-looks.C:
			f.Tick(now)
		case <-ticks.C:
			stall.tick(ctx)
			if isStarted && !queued && f.Queued() {
				queued = true
				go r.tellQueued(ctx, client, f)
			}
		case trouble := <-stall.asked:
			switch err := stall.answered(trouble); {
			case err == nil:
			case !interrupted:
				return nil, err
			default:
				f.End()
				exitStatus(err, true, "", r.errOut)
				return nil, statusError(exitCancelled)
			}
		case err := <-started:
			if err != nil {
				r.started = !errors.As(err, new(*rpc.Error))
				return nil, r.startError(err)
			}
			isStarted = true
			if interrupted {
				go cancel()
			}
		case err := <-cancelled:
			if err != nil {
				return nil, err
			}
			stall.grace = true
		case sig := <-signals:
			if interrupted || term.IsHangup(sig) {
				f.End()
				r.leave(f.Session())
				return nil, signalStatus(sig)
			}
			f.Cancel()
			if interrupted = true; isStarted {
				go cancel()
			}
		case <-client.Done():
			select {
			case turn := <-f.Ended: // its last words
				return turn, nil
			default:
				return nil, &rpc.Error{
					Message: "the daemon has ended, and the turn with it",
					Data:    rpc.ErrorData{Hint: `"cursord sessions" shows what is kept of it`},
				}
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// leave says how to get back to a turn that the command does not wait for any more; session is "" where it is not known.
func (r *turnRun) leave(session string) {
	see := "cursord sessions"
	if session != "" {
		see = "cursord show " + session
	}
	fmt.Fprintf(r.errOut, "cursord: the turn is left to the daemon, and may go on: \"%s\" shows it, and this ends it:\n"+
		"  cursord call turn/cancel '{\"turnId\":\"%s\"}'\n", see, r.params.TurnID)
}

// prepare subscribes to what happens in the workspace from now on.
func (r *turnRun) prepare(ctx context.Context, client *rpc.Client, f *view.Follower) error {
	known, err := client.WorkspaceList(ctx)
	if err != nil {
		return err
	}
	var now uint64 // of a workspace that is not known, "everything" is nothing
	for _, w := range known.Workspaces {
		if w.Workspace == r.params.Workspace {
			now = w.Seq
		}
	}
	subscribe := rpc.SubscribeParams{Workspace: r.params.Workspace, After: &now}
	if f.Lines == nil {
		subscribe.Diffs = "summary"
	}
	return client.Call(ctx, "workspace/subscribe", subscribe, nil)
}

// turnResult returns how the command ends when its turn has ended so.
func turnResult(t *sessions.Turn) error {
	switch t.Status {
	case sessions.TurnCompleted:
		return nil
	case sessions.TurnCancelled:
		return statusError(exitCancelled)
	case sessions.TurnInterrupted:
		return &rpc.Error{
			Message: "the daemon stopped while the turn ran",
			Data:    rpc.ErrorData{Hint: fmt.Sprintf("go on with: cursord run --session %s …", t.SessionID)},
		}
	}
	if t.Error == nil {
		return errors.New("the turn failed")
	}
	return &rpc.Error{Message: term.Clean(t.Error.Message), Data: rpc.ErrorData{Hint: term.Clean(t.Error.Hint)}}
}

// tellPending says what of a turn is to be reviewed, and how.
func tellPending(ctx context.Context, client *rpc.Client, w io.Writer, turn *sessions.Turn) {
	var list rpc.DiffList
	params := rpc.DiffParams{Workspace: turn.Workspace, TurnID: turn.ID}
	if client.Call(ctx, "diff/list", params, &list) != nil || len(list.Diffs) == 0 {
		return // the turn has ended all the same
	}
	hunks := 0
	for _, d := range list.Diffs {
		for _, h := range d.Hunks {
			if slices.ContainsFunc(h.Sources, func(s sessions.Source) bool { return s.TurnID == turn.ID }) {
				hunks++
			}
		}
	}
	if hunks > 0 {
		fmt.Fprintf(w, "%s in %s to review: cursord diff -w %s\n",
			term.Count(hunks, "hunk"), term.Count(len(list.Diffs), "file"), term.ShellWord(turn.Workspace))
	}
}
