// Package review leads a person through the pending hunks of a workspace, at a terminal or by lines of stdin. Each decision
// is made at once, and only about lines that the person has seen. While a review runs, it owns the terminal's mode. The
// package also finds the diffs that a path on the command line names.
package review

import (
	"context"
	"io"

	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

// Run leads a person through the pending hunks of a workspace, or of paths if there are any. It reads answers from in and
// prints a summary to out at the end. The error is a term.SignalError if a signal has ended the review.
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
