package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cursord/daemon"
	"cursord/rpc"
)

// stopLimit is how long a daemon may take to end its turns and itself.
const stopLimit = 30 * time.Second

func stopCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "stop",
		Short: "Stop the daemon",
		Long: `Stop the daemon and wait until it has ended. It refuses while turns run or wait, unless it is forced: they
then end as interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dirs, err := daemon.FindDirs()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), stopLimit)
			defer cancel()
			conn, err := daemon.Dial(ctx, dirs.Socket)
			if daemon.NotListening(err) {
				fmt.Fprintln(c.OutOrStdout(), "no daemon is running")
				return nil
			}
			if err != nil {
				return fmt.Errorf("cannot reach the daemon: %w", err)
			}
			pid := daemon.LockHolder(dirs.Socket)
			client := rpc.NewClient(conn, nil)
			defer client.Close()
			err = client.Call(ctx, "daemon/stop", rpc.StopParams{Force: force}, nil)
			// A daemon that stops already may have no time to answer.
			if err == nil || errors.Is(err, rpc.ErrClosed) {
				err = waitForEnd(ctx, dirs.Socket, pid)
			}
			if ctx.Err() != nil {
				return fmt.Errorf("the daemon (process %d) did not end within %v: see its log, %s", pid, stopLimit, dirs.Log())
			}
			return err
		},
	}
	c.Flags().BoolVar(&force, "force", false, "stop it also while turns run")
	return c
}

// waitForEnd waits until the daemon with a process id has ended, and perhaps another one has come in its place.
func waitForEnd(ctx context.Context, socket string, pid int) error {
	for daemon.Running(socket) && daemon.LockHolder(socket) == pid {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(startPoll):
		}
	}
	return nil
}
