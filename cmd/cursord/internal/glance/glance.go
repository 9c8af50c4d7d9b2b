// Package glance reports on the daemon, and on workspaces with something to review, without starting a daemon.
package glance

import (
	"context"

	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

// Running reports whether connecting starts no new daemon: one runs already, or the configuration has an error.
func Running() bool {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return true // connecting will report the error
	}
	_, _, err = config.Load(dirs.Config)
	return err != nil || endpoint.Running(dirs.Socket)
}

// Pending returns the workspaces with something to review, or with a turn on its way. If no daemon runs, it reads the database itself.
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
		if w.PendingHunks > 0 || w.Running > 0 {
			roots = append(roots, w.Workspace)
		}
	}
	return roots, nil
}
