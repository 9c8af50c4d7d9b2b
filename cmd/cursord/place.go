package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/version"
	"cursord/rpc"
	"cursord/rpc/dial"
)

// A place is the workspace of a command, as the user has named it.
type place struct{ dir string }

func (p *place) addFlag(c *cobra.Command) {
	c.Flags().StringVarP(&p.dir, "workspace", "w", "",
		"the workspace `DIR` (default: the nearest known one or git work tree around the current directory)")
}

// find returns the workspace's absolute path: the directory that the user gave; else the one that naming.Around finds.
func (p *place) find(ctx context.Context, client *rpc.Client) (string, error) {
	n, err := p.names(ctx, client)
	return n.Root, err
}

// namesHelp says how sessions, turns and hunks may be named.
const namesHelp = `A session or turn is named by its id, by the beginning of its id if only one begins so, or by its place: @1 is the latest of
the workspace, @2 the one before.`

// names returns a Names for the place's workspace.
func (p *place) names(ctx context.Context, client *rpc.Client) (naming.Names, error) {
	n := naming.Names{Client: client}
	if p.dir != "" {
		root, err := naming.ResolveDir(p.dir)
		n.Root = root
		return n, err
	}
	here, err := naming.ResolveDir(".")
	if err != nil {
		return n, err
	}
	list, err := client.WorkspaceList(ctx)
	if err != nil {
		return n, err
	}
	n.Known = map[string]bool{}
	for _, w := range list.Workspaces {
		n.Known[w.Workspace] = true
	}
	n.Root = naming.Around(here, naming.HomeDir(), n.Known)
	return n, nil
}

// session returns the id of the session that the user names; "" for "".
func (p *place) session(ctx context.Context, client *rpc.Client, name string) (string, error) {
	n, err := p.names(ctx, client)
	if err != nil || name == "" {
		return "", err
	}
	return n.Session(ctx, name)
}

// activeTurn returns the id of the turn that the user names, or else of the one that runs or waits.
func (p *place) activeTurn(ctx context.Context, client *rpc.Client, names []string) (string, error) {
	n, err := p.names(ctx, client)
	switch {
	case err != nil:
		return "", err
	case len(names) > 0:
		return n.Turn(ctx, names[0])
	}
	return n.Running(ctx)
}

// runPlace returns the workspace of a run: the given one, or else the session's. With a recap the current workspace replaces
// a session's workspace that no longer exists, because the folder may have been moved.
func runPlace(ctx context.Context, client *rpc.Client, p place, session string, recap bool) (string, error) {
	if p.dir != "" || session == "" {
		return p.find(ctx, client)
	}
	t, err := client.SessionRead(ctx, rpc.SessionReadParams{SessionID: session, Limit: 1})
	if err != nil {
		return "", err
	}
	info, err := os.Stat(t.Session.Workspace)
	switch {
	case err == nil && info.IsDir():
		return t.Session.Workspace, nil
	case recap:
		return p.find(ctx, client)
	}
	return "", &rpc.Error{
		Message: fmt.Sprintf("the session's workspace %s is not there any more", term.Clean(t.Session.Workspace)),
		Data:    rpc.ErrorData{Hint: fmt.Sprintf("where it was moved to, go on with: cursord run --session %s --recap …", session)},
	}
}

// asClient returns the action of a command that needs the daemon. It starts one if none runs.
func asClient(do func(c *cobra.Command, client *rpc.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		client, err := newClient(c.Context(), nil)
		if err != nil {
			return err
		}
		defer client.Close()
		return do(c, client, args)
	}
}

// dialOptions name this program. It is started if no daemon runs, and replaces an older daemon.
func dialOptions() dial.Options {
	program, err := os.Executable()
	if err != nil {
		return dial.Options{} // so that it replaces none
	}
	return dial.Options{
		Program: program, Version: version.Own(), Written: version.Written(),
		Waiting: saysWaiting,
	}
}

func saysWaiting(advice string) {
	term.PrintFolded(os.Stderr, fmt.Sprintf("cursord: waiting: %s\n", advice))
}

// newClient returns a client of the user's daemon, which it starts if none runs; see rpc.NewClient for onNotify.
func newClient(ctx context.Context, onNotify func(method string, params json.RawMessage)) (*rpc.Client, error) {
	o := dialOptions()
	o.OnNotify = onNotify
	return dial.Connect(ctx, o)
}

// connectRunning returns a client of the user's daemon, and the workspace that dir stands for.
func connectRunning(ctx context.Context, dir string) (*rpc.Client, string, error) {
	client, err := newClient(ctx, nil)
	if err != nil {
		return nil, "", err
	}
	root, err := (&place{dir}).find(ctx, client)
	if err != nil {
		return nil, "", errors.Join(err, client.Close())
	}
	return client, root, nil
}
