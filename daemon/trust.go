package daemon

import (
	"cursord/daemon/api"
	"cursord/daemon/internal/params"
	"cursord/sessions"
)

// Workspaces lists every workspace that the daemon knows, and has not forgotten.
func (d *Daemon) Workspaces() ([]api.WorkspaceInfo, error) {
	recs, err := d.store.Workspaces()
	if err != nil {
		return nil, api.StoreError(err)
	}
	infos := make([]api.WorkspaceInfo, 0, len(recs))
	for _, rec := range recs {
		if rec.Forgotten {
			continue
		}
		info := api.WorkspaceInfo{
			Workspace: rec.Root, Seq: rec.Seq, Sessions: rec.Sessions, Trusted: rec.Trusted, Copies: d.copies.Of(rec.Root),
		}
		diffs, err := d.store.PendingDiffs(rec.Root)
		if err != nil {
			return nil, api.StoreError(err)
		}
		for _, diff := range diffs {
			info.PendingHunks += len(diff.Hunks)
		}
		d.mu.Lock()
		w := d.workspaces[rec.Root]
		d.mu.Unlock()
		if w != nil {
			info.Running = int(w.running.Load())
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// Trust sets whether turns may run in a workspace; it applies to that root alone. A known workspace can lose the trust when
// its directory no longer exists.
func (d *Daemon) Trust(path string, trusted bool) (string, error) {
	resolve := params.Root
	if !trusted {
		resolve = d.knownRoot
	}
	root, err := resolve(path)
	if err != nil {
		return "", err
	}
	w, err := d.workspaceAt(root)
	if err != nil {
		return "", err
	}
	defer w.release()
	claims := w.claims.Trust(trusted)
	return stored(w, func(c *commit) (string, error) {
		if !trusted && !w.trusted {
			return w.root, nil // a folder of which nobody has heard does not become a workspace
		}
		w.trusted = trusted
		c.ops = append(c.ops, sessions.SetTrust{Trusted: trusted})
		if claims != nil {
			c.ops = append(c.ops, claims)
		}
		return w.root, nil
	})
}

// Trusted reports whether turns may run in a workspace, and lists the settings of its repositories that are used only after
// another Trust. It changes nothing.
func (d *Daemon) Trusted(path string) (api.TrustResult, error) {
	root, err := params.Root(path)
	if err != nil {
		return api.TrustResult{}, err
	}
	w, err := d.workspaceAt(root)
	if err != nil {
		return api.TrustResult{}, err
	}
	defer w.release()
	state := api.TrustResult{Workspace: root}
	if err := w.call(func() { state.Trusted = w.trusted }); err != nil {
		return api.TrustResult{}, err
	}
	if state.Trusted {
		state.Unused = w.claims.Unused()
	}
	return state, nil
}
