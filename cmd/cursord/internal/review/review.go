// Package review goes with a person through what is pending in a workspace, hunk by hunk, at a terminal or by lines of stdin.
// Each decision is made at once, about what the person has seen; where a file has changed since, nothing is decided unseen. It owns
// the mode of the terminal while it runs, and where in each file the person is. It has, too, which diffs a path on the command line names.
package review

import (
	"context"
	"io"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

// Run has a person go through what is pending in a workspace, of paths if there are any, with answers from in, and says
// at the end on out what was done. The error is a term.SignalError where a signal has ended it.
func Run(ctx context.Context, client *rpc.Client, root string, paths []string, in io.Reader, out, errOut io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers, err := openAnswers(in, out, cancel)
	if err != nil {
		return err
	}
	defer answers.close()
	r := &review{
		client: client, root: root, paths: paths, in: answers, out: out, errOut: errOut, palette: term.PaletteOf(out),
	}
	err = r.run(ctx)
	if ended, ok := context.Cause(ctx).(term.SignalError); ok {
		return ended
	}
	return err
}
