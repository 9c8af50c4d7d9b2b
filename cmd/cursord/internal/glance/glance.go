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

// Running reports whether a daemon runs. It also returns true if the configuration has an error, because connecting then starts no daemon and reports
// the error.
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
	list, running, err := workspaces(ctx, dirs)
	if !running {
		return sessions.FoldersIn(dirs.Database())
	}
	for _, w := range list.Workspaces {
		all = append(all, w.Workspace)
		if w.PendingHunks > 0 || w.Running > 0 {
			pending = append(pending, w.Workspace)
		}
	}
	return all, pending, err
}

// A Followed says which workspaces an editor follows by itself, and when the editor is to ask again.
type Followed struct {
	Folders []string `json:"folders"` // those with something to review and, while a daemon runs, those with a session
	Socket  string   `json:"socket"`  // the daemon's socket: ask again when it is made
	News    string   `json:"news"`    // a file beside the socket: ask again when it is made anew
}

// ForEditors returns the workspaces that an editor follows by itself.
func ForEditors(ctx context.Context) (Followed, error) {
	f := Followed{Folders: []string{}}
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return f, err
	}
	f.Socket, f.News = dirs.Socket, endpoint.NewFolder(dirs.Socket)
	list, running, err := workspaces(ctx, dirs)
	if !running {
		_, pending, err := sessions.FoldersIn(dirs.Database())
		f.Folders = append(f.Folders, pending...)
		return f, err
	}
	for _, w := range list.Workspaces {
		if w.Sessions > 0 || w.PendingHunks > 0 {
			f.Folders = append(f.Folders, w.Workspace)
		}
	}
	return f, err
}

// workspaces asks the daemon for its workspaces, and reports whether one runs.
func workspaces(ctx context.Context, dirs endpoint.Dirs) (list rpc.WorkspaceList, running bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, dial.SilentLimit)
	defer cancel()
	conn, err := endpoint.Dial(ctx, dirs.Socket)
	if err != nil {
		return list, false, nil
	}
	client := rpc.NewClient(conn, nil)
	defer client.Close()
	list, err = client.WorkspaceList(ctx)
	return list, true, err
}
