package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

// A runRequest is what the flags and arguments of "cursord run" ask for, and how far it has come.
type runRequest struct {
	place place

	session, approvals, chat, model, mode, isolation, driver, form, file string
	force, trust, recap, asJSON, latest, quiet, background, edit         bool
	permit                                                               permits.Flags
	images, files                                                        []string
	tries                                                                int

	format run.Format
	turn   ask.Turn
	edited rewind.Edit // with edit
	told   bool        // how it has ended, so that an error is no end of its own
}

func runCommand() *cobra.Command {
	r := &runRequest{}
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
		Args: r.check,
		RunE: func(c *cobra.Command, args []string) error {
			err := r.do(c, args)
			if !r.told && err != nil && r.format != run.Text && (r.file == "" || r.file == "-") {
				run.PrintError(c.OutOrStdout(), err)
			}
			return err
		},
	}
	r.place.addFlag(c)
	c.Flags().BoolVarP(&r.latest, "continue", "c", false, "continue the latest session of the workspace; not one of several attempts")
	c.Flags().StringVar(&r.session, "session", "", "continue the session `ID` (or its beginning, or @1 for the latest; default: a new session)")
	c.Flags().StringVar(&r.session, "resume", "", "cursor-agent's name for --session `ID`")
	c.Flags().BoolVar(&r.edit, "edit", false, "edit the last prompt of the session, take its turn back with its files, and send the new one")
	c.Flags().StringVar(&r.chat, "chat", "", "continue cursor-agent's chat `ID`")
	c.Flags().StringVar(&r.approvals, "approvals", "", "what the agent asks: ask (you), or deny (all of it, at once; for scripts)")
	c.Flags().BoolVar(&r.recap, "recap", false, "start a fresh chat with the session's transcript as context")
	c.Flags().StringVar(&r.model, "model", "", "use the model `M` (default: the session's, else the configuration's)")
	c.Flags().StringVar(&r.mode, "mode", "", "agent, ask (reads only) or plan (default: the session's, else agent)")
	c.Flags().StringVar(&r.isolation, "isolation", "", "copy (work in a copy of the workspace) or none (default: the configuration's)")
	c.Flags().IntVar(&r.tries, "attempts", 0, "give the prompt to `N` agents side by side, each in a copy of the workspace")
	c.Flags().StringVar(&r.driver, "driver", "", "of a new session: print, or acp, which asks you what the agent asks (default: the configuration's)")
	c.Flags().BoolVar(&r.force, "force", false, "let the agent run every command without asking (in the modes ask and plan: only web requests)")
	r.permit.Add(c)
	c.Flags().StringArrayVar(&r.files, "file", nil, "point the agent to the file `PATH` or to lines of it (PATH:FROM-TO); repeatable")
	c.Flags().StringArrayVar(&r.images, "image", nil, "show the agent the image `PATH` (PNG, JPEG, GIF or WebP); repeatable")
	c.Flags().BoolVar(&r.trust, "trust", false, "trust the workspace and the folders of --add-dir (not the root or your home), if nothing else refuses the turn")
	c.Flags().StringVar(&r.form, "output-format", "", "text, json (one object at the end) or stream-json (default text)")
	c.Flags().BoolVar(&r.asJSON, "json", false, "the same as --output-format stream-json")
	c.Flags().StringVarP(&r.file, "output", "o", "", "write the output to `FILE` instead of stdout, overwriting it")
	c.Flags().BoolVarP(&r.quiet, "quiet", "q", false, "print only errors on stderr")
	c.Flags().BoolVar(&r.background, "background", false, "print the turn's id and do not wait")
	return c
}

// check refuses wrong usage.
func (r *runRequest) check(c *cobra.Command, args []string) (err error) {
	if len(args) > 1 {
		return errors.New("more than one PROMPT: put quotes around it")
	}
	if r.mode != "" && !slices.Contains([]sessions.Mode{sessions.ModeAgent, sessions.ModeAsk, sessions.ModePlan}, sessions.Mode(r.mode)) {
		return fmt.Errorf("--mode is %q; it must be agent, ask or plan", r.mode)
	}
	if r.format, err = run.CheckFormat(r.form, r.asJSON); err != nil {
		return err
	}
	switch {
	case r.latest && r.session != "":
		return errors.New("--continue and --session exclude each other")
	case r.background && (r.file != "" || r.quiet):
		return errors.New("--background prints no answer: it excludes -o and --quiet")
	case r.edit && (len(args) > 0 || r.recap):
		return errors.New("--edit opens the last prompt in your editor: it excludes PROMPT and --recap")
	case r.latest, r.edit && r.session == "" && r.chat == "" && r.isolation == "":
		r.session = naming.ToContinue
	}
	switch {
	case r.chat != "" && (r.session != "" || r.recap || r.edit):
		return errors.New("--chat excludes --session, --continue, --edit and --recap")
	case r.approvals != "" && r.approvals != "ask" && r.approvals != "deny":
		return fmt.Errorf("--approvals is %q; it must be ask or deny", r.approvals)
	case r.isolation != "" && r.isolation != "none" && r.isolation != "copy":
		return fmt.Errorf("--isolation is %q; it must be none or copy", r.isolation)
	case r.driver != "" && r.driver != config.DriverPrint && r.driver != config.DriverACP:
		return fmt.Errorf("--driver is %q; it must be print or acp", r.driver)
	case r.isolation != "" && (r.session != "" || r.chat != "" || r.edit):
		return errors.New("--isolation goes with a new session: it excludes --session, --continue, --edit and --chat")
	case r.recap && r.session == "":
		return errors.New("--recap goes with --session or --continue")
	case r.tries != 0 && (r.session != "" || r.chat != "" || r.edit || r.isolation == "none"):
		return errors.New("--attempts begins isolated sessions: it excludes --session, --continue, --edit, --chat and --isolation none")
	}
	if c.Flags().Changed("attempts") {
		return cmp.Or(attempts.CheckNumber(r.tries), r.permit.Check(r.force))
	}
	return r.permit.Check(r.force)
}

func (r *runRequest) do(c *cobra.Command, args []string) (failed error) {
	t := &r.turn
	t.Trust, t.Home, t.In, t.Out, t.ErrOut = r.trust, naming.HomeDir(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
	t.Params = rpc.TurnStartParams{Force: r.force, Approvals: r.approvals, Recap: r.recap, TurnID: ulid.Make().String()}
	if err := r.permit.Apply(c, &t.Params); err != nil {
		return err
	}
	t.Params.Driver, t.Params.Model, t.Params.Mode = given(r.driver), given(r.model), given(sessions.Mode(r.mode))
	if r.edit {
		defer func() { r.edited.End(t.Begun, t.ErrOut) }()
	}
	if err := r.prompt(c.Context(), args); errors.Is(err, rewind.ErrUnchanged) {
		r.told = true
		fmt.Fprintf(t.ErrOut, "%v; nothing was sent\n", err)
		return nil
	} else if err != nil {
		return err
	}
	out := t.Out
	if r.file != "" && r.file != "-" {
		into, err := run.OpenFile(r.file)
		if err != nil {
			return err
		}
		out = into
		defer func() { failed = cmp.Or(failed, into.Close(t.Begun)) }()
	}
	if r.tries > 0 {
		a := attempts.Run{Turn: t, Of: r.tries, Format: r.format, Quiet: r.quiet, Background: r.background, Out: out, ErrOut: t.ErrOut}
		err := runAttempts(c.Context(), r.place, &a)
		r.told = t.Begun
		return err
	}
	return r.follow(c.Context(), out)
}

// given returns the value of a flag; nil if it was not given.
func given[T ~string](value T) *T {
	if value == "" {
		return nil
	}
	return &value
}

// prompt gets the prompt: from the arguments, the standard input, or the person's editor, in which the old one is. The error is
// rewind.ErrUnchanged if nothing is to be sent.
func (r *runRequest) prompt(ctx context.Context, args []string) (err error) {
	t, e, in, mayRead := &r.turn, &r.edited, r.turn.In, func() error { return r.mayRun(ctx, nil) }
	if r.edit { // in place of the standard input
		e.Given, e.Files = &t.Params, len(r.files)+len(r.images) > 0
		typed := new(bytes.Buffer)
		args, in, mayRead = []string{"-"}, typed, func() error {
			return r.mayRun(ctx, func(client *rpc.Client, id string) error {
				defer func() { typed.WriteString(e.Text) }()
				return e.Open(ctx, client, id, t.In, t.Out, t.ErrOut)
			})
		}
	}
	if t.Params.Prompt, t.Params.Context, err = run.Asked(args, r.files, r.images, in, t.ErrOut, mayRead); err != nil {
		return err
	}
	if r.format == run.Text && !r.quiet {
		run.SayRead(t.ErrOut, t.Params.Context)
	}
	if r.edit {
		r.session = e.Turn.SessionID // the latest may be another one by now
		t.Params.Mode, t.Params.Model = cmp.Or(t.Params.Mode, &e.Turn.Mode), cmp.Or(t.Params.Model, e.Turn.Model)
		t.Params.Context = append(t.Params.Context, e.Context(t.Params.Context, t.ErrOut)...)
	}
	return nil
}

// follow begins the turn and prints what becomes of it.
func (r *runRequest) follow(ctx context.Context, out io.Writer) error {
	t := &r.turn
	f := run.Follow(t.Params.TurnID, r.format, out, t.ErrOut, r.quiet)
	o := dialOptions()
	o.OnNotify, o.Joined = f.Notify, &api.Joined{}
	client, err := dial.Connect(ctx, o)
	if err != nil {
		return err
	}
	defer client.Close()
	if note := doctor.IgnoredAgent(o.Joined.Agent); note != "" {
		term.PrintFolded(t.ErrOut, "cursord: "+note+"\n")
	}
	forget, err := r.findSession(ctx, client)
	if err != nil {
		return err
	}
	defer forget()
	if r.edit {
		if err := r.edited.Check(ctx, client); err != nil {
			return err
		}
		t.Params.Rewind, t.TookBack = r.edited.Turn.ID, func(done api.Rewound) {
			if !r.quiet {
				f.Say(t.ErrOut, r.edited.TookBack(done, t.ErrOut)...)
			}
		}
	}
	if r.background {
		turn, err := t.Begin(ctx, client)
		if err != nil {
			return err
		}
		r.told = true
		return run.PrintBegun(out, turn, r.format)
	}
	signals := endingSignals()
	if printed, is := out.(*term.Output); is {
		printed.WhenUnread(func() { signals <- syscall.SIGPIPE })
	}
	turn, err := t.Run(ctx, client, f, signals)
	if err != nil {
		return err // a further signal does not change the exit status
	}
	r.told = true
	signal.Stop(signals)
	return r.printEnd(ctx, client, out, turn)
}

// findSession sets the turn's session and workspace, and makes the session if it is to be isolated. The caller calls forget in the end: it
// deletes the new session if no turn has begun.
func (r *runRequest) findSession(ctx context.Context, client *rpc.Client) (forget func(), err error) {
	p := &r.turn.Params
	if p.SessionID, err = r.place.session(ctx, client, r.session); err != nil {
		return nil, err
	}
	if p.Workspace, err = runPlace(ctx, client, r.place, p.SessionID, r.recap); err != nil {
		return nil, err
	}
	switch {
	case r.chat != "":
		p.SessionID, err = ask.Adopt(ctx, client, p.Workspace, r.chat)
	case r.isolation != "":
		var created rpc.SessionResult
		params := rpc.SessionCreateParams{Workspace: p.Workspace, Isolation: &r.isolation, Driver: p.Driver}
		if err := client.Call(ctx, "session/create", params, &created); err != nil {
			return nil, err
		}
		p.SessionID = created.Session.ID
		return func() {
			if !r.turn.Begun {
				_ = client.Call(ctx, "session/delete", rpc.SessionParams{SessionID: p.SessionID}, nil)
			}
		}, nil
	}
	return func() {}, err
}

// printEnd prints how the turn has ended, and returns that as the command's result.
func (r *runRequest) printEnd(ctx context.Context, client *rpc.Client, out io.Writer, turn *sessions.Turn) (err error) {
	if turn.Error != nil && turn.Error.Kind == string(api.KindAgentNotLoggedIn) {
		if hint := doctor.KeyHint(ctx, client); hint != "" {
			turn.Error.Hint = hint
		}
	}
	switch {
	case r.format == run.JSON:
		err = run.PrintOutcome(out, turn, run.PendingAfter(ctx, client, turn))
	case r.format == run.Text && !r.quiet:
		here, _ := (&place{}).find(ctx, client)
		run.SayEnd(r.turn.ErrOut, turn, run.PendingAfter(ctx, client, turn), here)
	}
	return cmp.Or(ask.Result(turn), err)
}

// mayRun returns the error of a run in a workspace that is not trusted, or else that of then, which may be nil. It has a connection of
// its own, because reading stdin may take long.
func (r *runRequest) mayRun(ctx context.Context, then func(client *rpc.Client, session string) error) error {
	client, err := newClient(ctx, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	id, err := r.place.session(ctx, client, r.session)
	if err != nil {
		return err
	}
	if r.turn.Params.Workspace, err = runPlace(ctx, client, r.place, id, r.recap); err != nil {
		return err
	}
	if err := r.turn.CheckTrust(ctx, client); err != nil || then == nil {
		return err
	}
	return then(client, id)
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
