package daemon

import (
	"errors"
	"io/fs"
	"os"

	"cursord/daemon/api"
	"cursord/daemon/paths"
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
		if !isGone(info.Workspace) {
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

// isGone reports whether a workspace's folder is gone. One that cannot be looked at is not.
func isGone(root string) bool {
	_, err := os.Lstat(root)
	return errors.Is(err, fs.ErrNotExist)
}

// withAdvice returns the error for a path that is no directory, with advice if it was a workspace and has something to review.
func (d *Daemon) withAdvice(path string, err error) error {
	var refused *api.Error
	root, unknown := d.knownRoot(path)
	if unknown != nil || !isGone(root) || !errors.As(err, &refused) {
		return err
	}
	if pending, err := d.store.PendingDiffs(root); err == nil && len(pending) > 0 {
		refused.Hint = "bring the folder back to decide its changes, or take them off the list: cursord dismiss --all -w " + paths.Shown(root)
	}
	return refused
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
