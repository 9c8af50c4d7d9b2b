// Package glance says what can be known of the daemon, and of what is left to review, without starting one.
package glance

import (
	"context"

	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

// Running reports whether the user's daemon runs, or would say at once what is wrong with its configuration.
func Running() bool {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return true // who dials hears why
	}
	_, _, err = config.Load(dirs.Config)
	return err != nil || endpoint.Running(dirs.Socket)
}

// Pending returns the workspaces with something to review. If no daemon runs, the database says which.
func Pending(ctx context.Context) ([]string, error) {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return nil, err
	}
	roots := []string{}
	ctx, cancel := context.WithTimeout(ctx, dial.SilentLimit)
	defer cancel()
	conn, err := endpoint.Dial(ctx, dirs.Socket)
	if err != nil {
		found, err := sessions.PendingIn(dirs.Database())
		return append(roots, found...), err
	}
	client := rpc.NewClient(conn, nil)
	defer client.Close()
	list, err := client.WorkspaceList(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range list.Workspaces {
		if w.PendingHunks > 0 {
			roots = append(roots, w.Workspace)
		}
	}
	return roots, nil
}
