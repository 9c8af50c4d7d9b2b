package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon"
	"cursord/rpc"
	"cursord/sessions"
)

// demoLimit ends a demo that hangs.
const demoLimit = time.Minute

// What the agent of the demo plays, before and after the daemon's restart.
var (
	//go:embed demo/first.ndjson
	demoFirst []byte
	//go:embed demo/second.ndjson
	demoSecond []byte
)

func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show what cursord does, with an agent that plays a script",
		Long: `Show what cursord does: a turn, a review, a restart. The daemon is a temporary one, in a temporary folder with a
small project, and the agent plays a script: nothing needs to be installed, and nothing is left behind.`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			// Whoever goes away while we run, we clean up.
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
			defer stop()
			err := runDemo(ctx, c.OutOrStdout(), c.ErrOrStderr())
			if ctx.Err() != nil {
				return statusError(exitCancelled)
			}
			return err
		},
	}
}

func runDemo(ctx context.Context, out, errOut io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	w, err := newDemoWorld()
	if err != nil {
		return err
	}
	d := &demo{world: w, out: out, palette: term.PaletteOf(out)}
	played := d.play(ctx)
	removed := w.remove()
	if played == nil {
		return removed
	}
	if ctx.Err() == nil {
		fmt.Fprintf(errOut, "%s", w.log.Bytes())
	}
	return fmt.Errorf("the demo failed: %w", errors.Join(played, removed))
}

// A demo is the play; its world the stage.
type demo struct {
	world   *demoWorld
	out     io.Writer
	palette term.Palette
}

func (d *demo) play(ctx context.Context) error {
	fmt.Fprintln(d.out, d.palette.Dim("A daemon, a project with a bug, and an agent that plays a script, in a temporary folder."))
	d.caption("cd "+filepath.Base(d.world.workspace)+"; cursord serve &", "other commands start it by themselves")
	if err := d.world.serve(ctx, demoFirst); err != nil {
		return err
	}
	turn, err := d.turn(ctx, "", "done 1 strikes out the second entry: fix it", "--trust ")
	if err != nil {
		return err
	}
	if err := d.review(ctx); err != nil {
		return err
	}

	d.caption("cursord stop; cursord serve &", "nothing is lost with the daemon")
	if err := d.world.stop(ctx); err != nil {
		return err
	}
	if err := d.world.serve(ctx, demoSecond); err != nil {
		return err
	}
	if err := d.remains(ctx); err != nil {
		return err
	}
	if _, err := d.turn(ctx, turn.SessionID, "leave the list where it was", "--session "+turn.SessionID+" "); err != nil {
		return err
	}
	if err := d.world.stop(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\n%s\n%s\n%s\n", "That was all, and nothing of it is left. With your own project:",
		"  cursord doctor            is cursor-agent there, and logged in?",
		"  cursord run --trust \"…\"   the first turn; \"cursord help\" lists the rest, README.md the editors")
	return nil
}

// caption names the command that does what comes next.
func (d *demo) caption(command, why string) {
	fmt.Fprintf(d.out, "\n%s  %s\n", d.palette.Bold("$ "+command), d.palette.Dim("# "+why))
}

// turn plays a turn of a session, or of a new one for "".
func (d *demo) turn(ctx context.Context, session, prompt, flags string) (*sessions.Turn, error) {
	why := "what the agent says and does, as it happens"
	if session != "" {
		why = "the same chat goes on"
	}
	d.caption("cursord run "+flags+shellWord(prompt), why)
	r := &turnRun{trust: session == "", params: rpc.TurnStartParams{
		Workspace: d.world.workspace, SessionID: session, Prompt: prompt, TurnID: ulid.Make().String(),
	}}
	f := view.NewFollower(r.params.TurnID, view.NewScreen(d.out, d.out), nil)
	client, err := d.world.client(ctx, f.Notify)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	turn, err := r.run(ctx, client, f, nil)
	if err != nil {
		return nil, err
	}
	return turn, turnResult(turn)
}

// review looks at the diff, accepts what was asked for and rejects what was not.
func (d *demo) review(ctx context.Context) error {
	client, err := d.world.client(ctx, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	diffs, err := d.diff(ctx, client, "what is to be reviewed, each hunk with its id")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(diffs, func(diff *sessions.Diff) bool { return diff.Path == "todo.py" })
	if i < 0 || len(diffs[i].Hunks) != 2 {
		return errors.New("todo.py does not have two hunks")
	}
	unasked, fix := diffs[i].Hunks[0].ID, diffs[i].Hunks[1].ID
	pause(ctx, 600*time.Millisecond)
	if err := d.decide(ctx, client, decision{verb: "accept", done: "accepted"}, fix, "the fix is good"); err != nil {
		return err
	}
	return d.decide(ctx, client, decision{verb: "reject", done: "rejected"}, unasked, "nobody asked for that: the line is as it was")
}

func (d *demo) diff(ctx context.Context, client *rpc.Client, why string) ([]*sessions.Diff, error) {
	d.caption("cursord diff", why)
	diffs, err := review.Pending(ctx, client, d.world.workspace)
	if err == nil {
		view.PrintDiffs(d.out, d.palette, diffs)
	}
	return diffs, err
}

func (d *demo) decide(ctx context.Context, client *rpc.Client, what decision, hunk, why string) error {
	d.caption("cursord "+what.verb+" "+hunk, why)
	var out daemon.Decided
	params := rpc.DecideParams{Workspace: d.world.workspace, Hunks: &[]string{hunk}}
	if err := client.Call(ctx, "diff/"+what.verb, params, &out); err != nil {
		return err
	}
	what.tell(d.out, d.out, out)
	pause(ctx, 300*time.Millisecond)
	return nil
}

// remains shows what the daemon that has just started knows.
func (d *demo) remains(ctx context.Context) error {
	client, err := d.world.client(ctx, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	diffs, err := d.diff(ctx, client, "what was not decided waits")
	if err != nil {
		return err
	}
	if len(diffs) != 1 {
		return fmt.Errorf("%s to review after the restart, not 1", term.Count(len(diffs), "file"))
	}
	d.caption("cursord sessions", "and so does the session")
	list, err := allSessions(ctx, client, d.world.workspace)
	if err != nil {
		return err
	}
	term.Table(d.out, sessionRows(list, false, time.Now()))
	pause(ctx, 300*time.Millisecond)
	return nil
}

// pause lets people read.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
