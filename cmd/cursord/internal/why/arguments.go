package why

import (
	"context"
	"io"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
)

// Arguments are the flags and arguments of why, which say what is asked for.
type Arguments struct {
	Commit, Trailer, JSON bool

	file Why
	rev  string
}

// Take reads the arguments. The error is one of usage.
func (a *Arguments) Take(args []string) (err error) {
	switch {
	case a.Commit && len(args) > 1:
		return misuse.Errorf("--commit takes one revision")
	case a.Commit:
		if a.rev = "HEAD"; len(args) == 1 {
			a.rev = args[0]
		}
		if a.rev == "" {
			return misuse.Errorf("the revision is empty")
		}
		return nil
	case a.Trailer && len(args) > 0:
		return misuse.Errorf("--trailer is about a commit: name one with --commit, or nothing for what is staged")
	case a.Trailer:
		return nil
	case len(args) == 0:
		return misuse.Errorf("FILE is missing")
	case len(args) > 1:
		return misuse.Errorf("why takes one FILE, FILE:LINE or FILE:LINE-LINE")
	}
	a.file, err = Parse(args[0])
	return err
}

// Do asks the daemon, and prints the answer.
func (a *Arguments) Do(ctx context.Context, n naming.Names, out io.Writer) error {
	if a.Commit || a.Trailer {
		return Commit{Rev: a.rev, Trailer: a.Trailer, JSON: a.JSON}.Do(ctx, n, out)
	}
	w := a.file
	w.JSON = a.JSON
	return w.Do(ctx, n, out)
}
