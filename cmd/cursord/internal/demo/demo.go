// Package demo shows cursord at work: a turn, a review, a restart. Only the agent is fake and plays a script. The commands
// are this program's, and the daemon is real, in a temporary folder that the demo removes in any case.
package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/sessions"
)

// limit ends a demo that hangs.
const limit = time.Minute

// The agent's scripts before and after the daemon's restart.
var (
	//go:embed script/first.ndjson
	first []byte
	//go:embed script/second.ndjson
	second []byte
)

// Run plays the demo on out. If it fails, it prints the daemon's log to errOut, unless ctx has ended.
func Run(ctx context.Context, out, errOut io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	w, err := newWorld()
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

// A demo plays the commands in its world.
type demo struct {
	world   *world
	out     io.Writer
	palette term.Palette
}

func (d *demo) play(ctx context.Context) error {
	fmt.Fprintln(d.out, d.palette.Dim("A daemon, a project with a bug, and an agent that plays a script, in a temporary folder."))
	d.caption("other commands start it by themselves", "cd "+filepath.Base(d.world.workspace)+"; cursord serve &")
	if err := d.world.serve(ctx, first); err != nil {
		return err
	}
	if err := d.command(ctx, "the agent works, shown as it happens", "run", "--trust", "done 1 strikes out the second entry: fix it"); err != nil {
		return err
	}
	diffs, err := d.diff(ctx, "what is to be reviewed, each hunk with its id", "todo.py")
	if err != nil {
		return err
	}
	if len(diffs) != 1 || len(diffs[0].Hunks) != 2 {
		return errors.New("todo.py does not have two hunks")
	}
	hunks := diffs[0].Hunks
	unasked, fix, session := hunks[0].ID, hunks[1].ID, hunks[1].Sources[0].SessionID
	pause(ctx, 600*time.Millisecond)
	if err := d.command(ctx, "the fix is good", "accept", fix); err != nil {
		return err
	}
	pause(ctx, 300*time.Millisecond)
	if err := d.command(ctx, "nobody asked for that: the line is as it was", "reject", unasked); err != nil {
		return err
	}
	pause(ctx, 300*time.Millisecond)

	d.caption("the daemon ends and starts again", "cursord stop; cursord serve &")
	if err := d.world.stop(ctx); err != nil {
		return err
	}
	if err := d.world.serve(ctx, second); err != nil {
		return err
	}
	if diffs, err = d.diff(ctx, "what was not decided is still there", ""); err != nil {
		return err
	}
	if len(diffs) != 1 {
		return fmt.Errorf("%s to review after the restart, not 1", term.Count(len(diffs), "file"))
	}
	if err := d.command(ctx, "and so is the session", "sessions"); err != nil {
		return err
	}
	pause(ctx, 300*time.Millisecond)
	if err := d.command(ctx, "the same chat goes on", "run", "--session", session, "leave the list where it was"); err != nil {
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

// caption prints a command line and the reason to run it.
func (d *demo) caption(why, line string) {
	fmt.Fprintf(d.out, "\n%s  %s\n", d.palette.Bold("$ "+line), d.palette.Dim("# "+why))
}

// command prints a command of this program and runs it.
func (d *demo) command(ctx context.Context, why string, args ...string) error {
	words := []string{"cursord"}
	for _, arg := range args {
		words = append(words, term.ShellWord(arg))
	}
	d.caption(why, strings.Join(words, " "))
	return d.world.run(ctx, d.out, args...)
}

// diff prints the changes to review, of one path or of all for "". It prints them as "cursord diff" does on a terminal, even
// if out is none.
func (d *demo) diff(ctx context.Context, why, path string) ([]*sessions.Diff, error) {
	d.caption(why, strings.TrimSpace("cursord diff "+path))
	client, err := d.world.client(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	diffs, err := review.Pending(ctx, client, d.world.workspace)
	if path != "" {
		diffs = slices.DeleteFunc(diffs, func(diff *sessions.Diff) bool { return diff.Path != path })
	}
	if err == nil {
		view.PrintDiffs(d.out, d.palette, term.Columns(d.out), diffs)
	}
	return diffs, err
}

// pause gives people time to read.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
