package daemon

import (
	"errors"
	"io/fs"
	"os"

	"cursord/daemon/api"
	"cursord/sessions"
)

// forgetGone forgets each workspace whose folder is gone and that has no sessions, nothing to review and no subscriber: it
// loses its trust, and Workspaces does not list it. It returns their roots; with dryRun it changes nothing.
func (d *Daemon) forgetGone(dryRun bool) ([]string, error) {
	list, err := d.Workspaces()
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, info := range list {
		if info.Sessions > 0 || info.PendingHunks > 0 || info.Running > 0 || len(info.Copies) > 0 {
			continue
		}
		if _, err := os.Lstat(info.Workspace); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		forgotten := true
		if !dryRun {
			if forgotten, err = d.forget(info.Workspace); err != nil {
				return gone, err
			}
		}
		if forgotten {
			gone = append(gone, info.Workspace)
		}
	}
	return gone, nil
}

// forget forgets a workspace, unless it has got a session or a subscriber meanwhile.
func (d *Daemon) forget(root string) (bool, error) {
	w, err := d.workspaceAt(root)
	if err != nil {
		return false, err
	}
	defer w.release()
	return stored(w, func(c *commit) (bool, error) {
		rec, err := d.store.Workspace(root)
		if err != nil {
			return false, api.StoreError(err)
		}
		if rec.Sessions > 0 || len(w.sessions) > 0 || len(w.subs) > 0 {
			return false, nil
		}
		w.trusted = false
		c.ops = append(c.ops, sessions.Forget{})
		return true, nil
	})
}
