package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/ask"
	"cursord/cmd/cursord/internal/attempts"
	"cursord/cmd/cursord/internal/doctor"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/permits"
	"cursord/cmd/cursord/internal/rewind"
	"cursord/cmd/cursord/internal/run"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

// exitCancelled is the exit status for a cancelled turn; shells report the same for a program that Ctrl-C has ended.
const exitCancelled = 130

func runCommand() *cobra.Command {
	var p place
	var session, approvals, chat, model, mode, isolation, driver, form, file string
	var force, trust, recap, asJSON, latest, quiet, background, edit bool
	var permit permits.Flags
	var images, files []string
	var format run.Format
	var tries int
	c := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Give the agent a prompt and watch it work",
		Long: `Give the agent a prompt and watch it work. Its text goes to stdout. Its tool calls go to stderr, and at the end the
session's id, the time and the tokens used. Without PROMPT, or if it is -, the prompt is read from stdin. With a
PROMPT, piped input is sent along with it. In a loop such as "while read", add "</dev/null", because the command would
read the input of the loop.

--output-format json prints one object at the end: result, session, turn, status, error, usage, durationMs and pending
(the number of hunks to review: of this turn, of all, and in how many files). stream-json prints the turn's
notifications as they come, one on each line. If the turn does not begin, both print {"error": {"kind": …, "message": …,
"hint": …}} instead (for wrong usage, kind is "usage"), and an output FILE stays as it was.

Ctrl-C or SIGTERM cancels the turn, and the command waits for its end. A second one, more than a second later, or a lost
terminal (SIGHUP), leaves the turn to the daemon; the command then says how to get back to it.

The agent remembers a session as long as it has its chat. If it has lost the chat, or the workspace was moved, --recap
starts a fresh chat with the transcript as context. --chat continues a chat that was started without cursord; "cursord
sessions --agent" lists those.

If the command runs in the foreground of a terminal, it puts to you what the agent asks, also with a pipe as stdin or a file as
stderr: y is yes, n is no, a is yes and always in this folder, e shows all answers. Elsewhere stderr says how to answer with "cursord approve".
--approvals deny asks nobody: each request is denied, also where a rule ("cursord approvals --rules") would allow it.

With the driver print, the default, the agent cannot ask: commands that need permission are denied, and a note at the end lists them. --sandbox
enabled runs such commands in the agent's sandbox, --auto-review lets the agent's classifier decide, and --force runs everything.

With --edit you change the last prompt of the session (by default the latest of the workspace) in $VISUAL or $EDITOR. Its turn is
then taken back with its files, as by "cursord rewind", and the new prompt is sent with the same mode, model, files, images and
piped input, unless others are given. Nothing happens if the text is empty, or if it is left as it was and no flag asks for anything else.

With --isolation copy the agent of a new session works in a copy: nothing in the workspace changes until you accept
it. --attempts 3 sends the prompt to three such sessions side by side, and shows in the end what came of each ("cursord attempts" shows it again).
The exit status is then 0 if one of them completed. Ctrl-C cancels all.

Exit statuses: 0 completed, 1 failed, 130 cancelled. If the command leaves the turn to the daemon, the status is 130 (Ctrl-C), 143
(SIGTERM), 129 (SIGHUP) or 141 (nobody reads the output any more, as behind "| head -1"), and the turn may go on. If the daemon cannot store
anything, for example on a full disk, the status is 1 after 20 seconds; the daemon keeps the turn and stores it later.`,
		Example: `  cursord run "explain main.go"
  cursord run -c "now add a test"
  cursord run --session @2 "and here?"
  cursord run -c --edit
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
				return errors.New("--background prints no answer: it excludes -o and --quiet")
			case edit && (len(args) > 0 || recap):
				return errors.New("--edit opens the last prompt in your editor: it excludes PROMPT and --recap")
			case latest, edit && session == "" && chat == "" && isolation == "":
				session = naming.ToContinue
			}
			switch {
			case chat != "" && (session != "" || recap || edit):
				return errors.New("--chat excludes --session, --continue, --edit and --recap")
			case approvals != "" && approvals != "ask" && approvals != "deny":
				return fmt.Errorf("--approvals is %q; it must be ask or deny", approvals)
			case isolation != "" && isolation != "none" && isolation != "copy":
				return fmt.Errorf("--isolation is %q; it must be none or copy", isolation)
			case driver != "" && driver != config.DriverPrint && driver != config.DriverACP:
				return fmt.Errorf("--driver is %q; it must be print or acp", driver)
			case isolation != "" && (session != "" || chat != "" || edit):
				return errors.New("--isolation goes with a new session: it excludes --session, --continue, --edit and --chat")
			case recap && session == "":
				return errors.New("--recap goes with --session or --continue")
			case tries != 0 && (session != "" || chat != "" || edit || isolation == "none"):
				return errors.New("--attempts begins isolated sessions: it excludes --session, --continue, --edit, --chat and --isolation none")
			}
			if c.Flags().Changed("attempts") {
				return cmp.Or(attempts.CheckNumber(tries), permit.Check(force))
			}
			return permit.Check(force)
		},
		RunE: func(c *cobra.Command, args []string) (failed error) {
			var err error
			ended := false
			defer func() {
				if !ended && failed != nil && format != run.Text && (file == "" || file == "-") {
					run.PrintError(c.OutOrStdout(), failed)
				}
			}()
			r := &ask.Turn{Trust: trust, Home: naming.HomeDir(), In: c.InOrStdin(), Out: c.OutOrStdout(), ErrOut: c.ErrOrStderr(), Params: rpc.TurnStartParams{
				Force: force, Approvals: approvals, Recap: recap, TurnID: ulid.Make().String(),
			}}
			if driver != "" {
				r.Params.Driver = &driver
			}
			if err := permit.Apply(c, &r.Params); err != nil {
				return err
			}
			if mode != "" {
				m := sessions.Mode(mode)
				r.Params.Mode = &m
			}
			if model != "" {
				r.Params.Model = &model
			}
			in, e := c.InOrStdin(), rewind.Edit{Given: &r.Params, Files: len(files)+len(images) > 0}
			mayRead := func() error { return mayRun(c.Context(), p, session, recap, r, nil) }
			if edit { // in place of the standard input
				typed := new(bytes.Buffer)
				args, in, mayRead = []string{"-"}, typed, func() error {
					return mayRun(c.Context(), p, session, recap, r, func(client *rpc.Client, id string) error {
						defer func() { typed.WriteString(e.Text) }()
						return e.Open(c.Context(), client, id, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
					})
				}
				defer func() { e.End(r.Begun, c.ErrOrStderr()) }()
			}
			r.Params.Prompt, r.Params.Context, err = run.Asked(args, files, images, in, c.ErrOrStderr(), mayRead)
			switch {
			case errors.Is(err, rewind.ErrUnchanged):
				ended = true
				fmt.Fprintf(c.ErrOrStderr(), "%v; nothing was sent\n", err)
				return nil
			case err != nil:
				return err
			}
			if format == run.Text && !quiet {
				run.SayRead(c.ErrOrStderr(), r.Params.Context)
			}
			if edit {
				session = e.Turn.SessionID // the latest may be another one by now
				r.Params.Mode, r.Params.Model = cmp.Or(r.Params.Mode, &e.Turn.Mode), cmp.Or(r.Params.Model, e.Turn.Model)
				r.Params.Context = append(r.Params.Context, e.Context(r.Params.Context, c.ErrOrStderr())...)
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
			if tries > 0 {
				a := attempts.Run{Turn: r, Of: tries, Format: format, Quiet: quiet, Background: background, Out: out, ErrOut: c.ErrOrStderr()}
				failed = runAttempts(c.Context(), p, &a)
				ended = r.Begun
				return failed
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
				term.PrintFolded(c.ErrOrStderr(), "cursord: "+note+"\n")
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
				params := rpc.SessionCreateParams{Workspace: r.Params.Workspace, Isolation: &isolation, Driver: r.Params.Driver}
				if err := client.Call(c.Context(), "session/create", params, &created); err != nil {
					return err
				}
				r.Params.SessionID = created.Session.ID
				defer func() {
					if !r.Begun { // the session is empty
						_ = client.Call(c.Context(), "session/delete", rpc.SessionParams{SessionID: created.Session.ID}, nil)
					}
				}()
			}
			if edit {
				if err := e.Check(c.Context(), client); err != nil {
					return err
				}
				r.Params.Rewind, r.TookBack = e.Turn.ID, func(done api.Rewound) {
					if !quiet {
						f.Say(c.ErrOrStderr(), e.TookBack(done, c.ErrOrStderr())...)
					}
				}
			}
			if background {
				turn, err := r.Begin(c.Context(), client)
				if err != nil {
					return err
				}
				ended = true
				return run.PrintBegun(out, turn, format)
			}
			signals := endingSignals()
			if printed, is := out.(*term.Output); is {
				printed.WhenUnread(func() { signals <- syscall.SIGPIPE })
			}
			turn, err := r.Run(c.Context(), client, f, signals)
			if err != nil {
				return err // a further signal does not change the exit status
			}
			ended = true
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
				here, _ := (&place{}).find(c.Context(), client)
				run.SayEnd(c.ErrOrStderr(), turn, run.PendingAfter(c.Context(), client, turn), here)
			}
			return cmp.Or(ask.Result(turn), err)
		},
	}
	p.addFlag(c)
	c.Flags().BoolVarP(&latest, "continue", "c", false, "continue the latest session of the workspace; not one of several attempts")
	c.Flags().StringVar(&session, "session", "", "continue the session `ID` (or its beginning, or @1 for the latest; default: a new session)")
	c.Flags().StringVar(&session, "resume", "", "cursor-agent's name for --session `ID`")
	c.Flags().BoolVar(&edit, "edit", false, "edit the last prompt of the session, take its turn back with its files, and send the new one")
	c.Flags().StringVar(&chat, "chat", "", "continue cursor-agent's chat `ID`")
	c.Flags().StringVar(&approvals, "approvals", "", "what the agent asks: ask (you), or deny (all of it, at once; for scripts)")
	c.Flags().BoolVar(&recap, "recap", false, "start a fresh chat with the session's transcript as context")
	c.Flags().StringVar(&model, "model", "", "use the model `M` (default: the session's, else the configuration's)")
	c.Flags().StringVar(&mode, "mode", "", "agent, ask (reads only) or plan (default: the session's, else agent)")
	c.Flags().StringVar(&isolation, "isolation", "", "copy (work in a copy of the workspace) or none (default: the configuration's)")
	c.Flags().IntVar(&tries, "attempts", 0, "give the prompt to `N` agents side by side, each in a copy of the workspace")
	c.Flags().StringVar(&driver, "driver", "", "of a new session: print, or acp, which asks you what the agent asks (default: the configuration's)")
	c.Flags().BoolVar(&force, "force", false, "let the agent run every command without asking (in the modes ask and plan: only web requests)")
	permit.Add(c)
	c.Flags().StringArrayVar(&files, "file", nil, "point the agent to the file `PATH` or to lines of it (PATH:FROM-TO); repeatable")
	c.Flags().StringArrayVar(&images, "image", nil, "show the agent the image `PATH` (PNG, JPEG, GIF or WebP); repeatable")
	c.Flags().BoolVar(&trust, "trust", false, "trust the workspace and the folders of --add-dir (not the root or your home), if nothing else refuses the turn")
	c.Flags().StringVar(&form, "output-format", "", "text, json (one object at the end) or stream-json (default text)")
	c.Flags().BoolVar(&asJSON, "json", false, "the same as --output-format stream-json")
	c.Flags().StringVarP(&file, "output", "o", "", "write the output to `FILE` instead of stdout, overwriting it")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only errors on stderr")
	c.Flags().BoolVar(&background, "background", false, "print the turn's id and do not wait")
	return c
}

// endingSignals returns a channel that gets the signals that end a command.
func endingSignals() chan os.Signal {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt)
	for _, s := range term.EndingSignals() {
		if !signal.Ignored(s) { // it is ignored under nohup
			signal.Notify(signals, s)
		}
	}
	return signals
}

// runAttempts begins and follows attempts in a place.
func runAttempts(ctx context.Context, p place, a *attempts.Run) error {
	a.Prepare()
	client, err := newClient(ctx, a.Notify)
	if err != nil {
		return err
	}
	defer client.Close()
	if a.Turn.Params.Workspace, err = p.find(ctx, client); err != nil {
		return err
	}
	return a.Do(ctx, client, endingSignals())
}

// mayRun returns the error of a run in a workspace that is not trusted, or else that of then, which may be nil. It has a connection of
// its own, because reading stdin may take long.
func mayRun(ctx context.Context, p place, session string, recap bool, r *ask.Turn, then func(client *rpc.Client, session string) error) error {
	client, err := newClient(ctx, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	id, err := p.session(ctx, client, session)
	if err != nil {
		return err
	}
	if r.Params.Workspace, err = runPlace(ctx, client, p, id, recap); err != nil {
		return err
	}
	if err := r.CheckTrust(ctx, client); err != nil || then == nil {
		return err
	}
	return then(client, id)
}

// runPlace returns the workspace of a run: the given one, or else the session's. With a recap the current workspace replaces
// a session's workspace that no longer exists, because the folder may have been moved.
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
