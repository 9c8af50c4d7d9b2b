package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/ask"
	"cursord/cmd/cursord/internal/doctor"
	"cursord/cmd/cursord/internal/run"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

// exitCancelled is the exit status of a run whose turn was cancelled, as of a program that Ctrl-C ended.
const exitCancelled = 130

func runCommand() *cobra.Command {
	var p place
	var session, chat, model, mode, isolation, form, file string
	var force, trust, recap, asJSON, latest, quiet, background bool
	var permits permitFlags
	var images, files []string
	var format run.Format
	c := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Give the agent a prompt and watch it work",
		Long: `Give the agent a prompt and watch it work: its text on stdout, its tool calls on stderr, and at the end there the session, how
long it took and the tokens it used. Without PROMPT, or where it is -, the prompt is what stdin has. With a PROMPT what is piped
to stdin goes with it.

--output-format json prints one object at the end: result, session, turn, status, error, usage, durationMs and pending, which
counts the hunks to review: those of this turn, all, and the files they are in. stream-json prints the turn's notifications,
a line each, as they come.

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
  cursord run -c "now add a test"
  cursord run --session @2 "and here?"
  cursord run --file main.go:10-40 --image shot.png "what is wrong here?"
  git diff | cursord run --mode ask "review this"
  cursord run --session 01J9ZK4T6Q --recap "where were we?"
  cursord wait "$(cursord run --background "run the tests")"
  cursord run --output-format json "name it" | jq -r .result`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return errors.New("more than one PROMPT: put quotes around it")
			}
			if mode != "" && !slices.Contains([]sessions.Mode{sessions.ModeAgent, sessions.ModeAsk, sessions.ModePlan}, sessions.Mode(mode)) {
				return fmt.Errorf("--mode is %q; it must be agent, ask or plan", mode)
			}
			var err error
			if format, err = run.CheckFormat(form, asJSON); err != nil {
				return err
			}
			switch {
			case latest && session != "":
				return errors.New("--continue and --session exclude each other")
			case background && (file != "" || quiet):
				return errors.New("--background waits for nothing to print: it excludes -o and --quiet")
			case latest:
				session = "@1"
			}
			switch {
			case chat != "" && (session != "" || recap):
				return errors.New("--chat excludes --session, --continue and --recap")
			case isolation != "" && isolation != "none" && isolation != "copy":
				return fmt.Errorf("--isolation is %q; it must be none or copy", isolation)
			case isolation != "" && (session != "" || chat != ""):
				return errors.New("--isolation goes with a new session: it excludes --session, --continue and --chat")
			case recap && session == "":
				return errors.New("--recap goes with --session or --continue")
			}
			return permits.check(force)
		},
		RunE: func(c *cobra.Command, args []string) (failed error) {
			var err error
			r := &ask.Turn{Trust: trust, ErrOut: c.ErrOrStderr(), Params: rpc.TurnStartParams{
				Force: force, Recap: recap, TurnID: ulid.Make().String(),
			}}
			if err := permits.apply(c, &r.Params); err != nil {
				return err
			}
			if r.Params.Prompt, r.Params.Context, err = run.Asked(args, files, images, c.InOrStdin(), c.ErrOrStderr()); err != nil {
				return err
			}
			if mode != "" {
				m := sessions.Mode(mode)
				r.Params.Mode = &m
			}
			if model != "" {
				r.Params.Model = &model
			}
			out := c.OutOrStdout()
			if file != "" && file != "-" {
				into, err := run.OpenFile(file)
				if err != nil {
					return err
				}
				out = into
				defer func() { failed = cmp.Or(failed, into.Close(r.Begun)) }()
			}
			f := run.Follow(r.Params.TurnID, format, out, c.ErrOrStderr(), quiet)
			o := dialOptions()
			o.OnNotify, o.Joined = f.Notify, &api.Joined{}
			client, err := dial.Connect(c.Context(), o)
			if err != nil {
				return err
			}
			defer client.Close()
			if note := doctor.IgnoredAgent(o.Joined.Agent); note != "" {
				fmt.Fprintln(c.ErrOrStderr(), "cursord: "+note)
			}
			if r.Params.SessionID, err = p.session(c.Context(), client, session); err != nil {
				return err
			}
			if r.Params.Workspace, err = runPlace(c.Context(), client, p, r.Params.SessionID, recap); err != nil {
				return err
			}
			if chat != "" {
				if r.Params.SessionID, err = ask.Adopt(c.Context(), client, r.Params.Workspace, chat); err != nil {
					return err
				}
			}
			if isolation != "" {
				var created rpc.SessionResult
				params := rpc.SessionCreateParams{Workspace: r.Params.Workspace, Isolation: &isolation}
				if err := client.Call(c.Context(), "session/create", params, &created); err != nil {
					return err
				}
				r.Params.SessionID = created.Session.ID
				defer func() {
					if !r.Begun { // there is nothing in it
						_ = client.Call(c.Context(), "session/delete", rpc.SessionParams{SessionID: created.Session.ID}, nil)
					}
				}()
			}
			if background {
				turn, err := r.Begin(c.Context(), client)
				if err != nil {
					return err
				}
				return run.PrintBegun(out, turn, format)
			}
			signals := make(chan os.Signal, 4)
			signal.Notify(signals, os.Interrupt)
			for _, s := range term.EndingSignals() {
				if !signal.Ignored(s) { // as under nohup
					signal.Notify(signals, s)
				}
			}
			turn, err := r.Run(c.Context(), client, f, signals)
			if err != nil {
				return err // one more signal does not change the exit status
			}
			signal.Stop(signals)
			if turn.Error != nil && turn.Error.Kind == string(api.KindAgentNotLoggedIn) {
				if hint := doctor.KeyHint(c.Context(), client); hint != "" {
					turn.Error.Hint = hint
				}
			}
			switch {
			case format == run.JSON:
				err = run.PrintOutcome(out, turn, run.PendingAfter(c.Context(), client, turn))
			case format == run.Text && !quiet:
				run.SayEnd(c.ErrOrStderr(), turn, run.PendingAfter(c.Context(), client, turn))
			}
			return cmp.Or(ask.Result(turn), err)
		},
	}
	p.addFlag(c)
	c.Flags().BoolVarP(&latest, "continue", "c", false, "go on with the latest session of the workspace")
	c.Flags().StringVar(&session, "session", "", "go on with the session `ID`, also the beginning of one, or @1 for the latest (default: a new one)")
	c.Flags().StringVar(&session, "resume", "", "the same as --session, in cursor-agent's word: `ID`")
	c.Flags().StringVar(&chat, "chat", "", "go on with the chat `ID` of cursor-agent")
	c.Flags().BoolVar(&recap, "recap", false, "begin a fresh chat with the session's transcript as context")
	c.Flags().StringVar(&model, "model", "", "the model `M` (default: the session's, else the configuration's)")
	c.Flags().StringVar(&mode, "mode", "", "the mode `M`: agent, ask or plan (default: the session's, else agent)")
	c.Flags().StringVar(&isolation, "isolation", "", "copy: let the agent work in a copy of the workspace; none: in the workspace itself (default: the configuration's)")
	c.Flags().BoolVar(&force, "force", false, "let the agent run every command without asking; in the modes ask and plan, in which it runs no commands, this is about the web alone")
	permits.add(c)
	c.Flags().StringArrayVar(&files, "file", nil, "point the agent to the file `PATH`, or to its lines: PATH:FROM-TO; may be given more than once")
	c.Flags().StringArrayVar(&images, "image", nil, "show the agent the image in the file `PATH`: PNG, JPEG, GIF or WebP; may be given more than once")
	c.Flags().BoolVar(&trust, "trust", false, "trust the workspace and the folders of --add-dir, unless the turn is refused for something else")
	c.Flags().StringVar(&form, "output-format", "", "print `FORM`: text, json (one object at the end) or stream-json (default text)")
	c.Flags().BoolVar(&asJSON, "json", false, "the same as --output-format stream-json")
	c.Flags().StringVarP(&file, "output", "o", "", "write what goes to stdout to `FILE`, in place of what it holds")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "leave out all that goes to stderr, but for errors")
	c.Flags().BoolVar(&background, "background", false, "do not wait: print the turn's id and leave it to the daemon")
	return c
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
