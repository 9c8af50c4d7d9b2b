// Package glance reports on the daemon, and on its workspaces, without starting a daemon.
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

// Folders returns all workspaces, and those with something to review or with a turn on its way. If no daemon runs, it reads the
// database itself.
func Folders(ctx context.Context) (all, pending []string, err error) {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dial.SilentLimit)
	defer cancel()
	conn, err := endpoint.Dial(ctx, dirs.Socket)
	if err != nil {
		return sessions.FoldersIn(dirs.Database())
	}
	client := rpc.NewClient(conn, nil)
	defer client.Close()
	list, err := client.WorkspaceList(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range list.Workspaces {
		all = append(all, w.Workspace)
		if w.PendingHunks > 0 || w.Running > 0 {
			pending = append(pending, w.Workspace)
		}
	}
	return all, pending, nil
}
