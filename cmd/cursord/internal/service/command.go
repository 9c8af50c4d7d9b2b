package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"cursord/cmd/cursord/internal/halt"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/endpoint"
)

// Own returns the service for this program and the user's daemon.
func Own() (*Service, error) {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return Find(program, dirs.Socket)
}

// Do installs or uninstalls this program's service, and reports it on out.
func Do(ctx context.Context, out io.Writer, asJSON bool, do func(*Service, context.Context, *Report, func() error) error) error {
	s, err := Own()
	if err != nil {
		return err
	}
	r := NewReport(out)
	if asJSON {
		r.Out = io.Discard
	}
	if err := do(s, ctx, r, func() error { return stopForService(ctx, r.Out) }); err != nil || !asJSON {
		return err
	}
	return term.PrintJSON(out, r)
}

// stopForService stops a running daemon, unless it has turns.
func stopForService(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, halt.Limit)
	defer cancel()
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return err
	}
	pid := endpoint.LockHolder(dirs.Socket)
	err = halt.Ask(ctx, dirs, pid, false, out)
	if errors.Is(err, halt.ErrNone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the daemon that runs cannot be stopped: %w", err)
	}
	fmt.Fprintf(out, "stopped the daemon (process %d)\n", pid)
	return nil
}
