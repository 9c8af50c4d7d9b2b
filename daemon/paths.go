package daemon

import (
	"path/filepath"

	"cursord/daemon/api"
	"cursord/daemon/internal/params"
	"cursord/daemon/paths"
)

// knownRoot is params.Root for a workspace that is stored; its directory may no longer exist.
func (d *Daemon) knownRoot(path string) (string, error) {
	root, err := params.Root(path)
	if err == nil {
		return root, nil
	}
	abs, aerr := api.LocalPath("workspace", path)
	if aerr != nil {
		return "", aerr
	}
	recs, serr := d.store.Workspaces()
	if serr != nil {
		return "", api.StoreError(serr)
	}
	resolved := paths.ResolveDirs(abs)
	for _, rec := range recs {
		if rec.Root == abs || rec.Root == resolved {
			return rec.Root, nil
		}
	}
	return "", err
}

// relativePaths returns a call's paths as clients see them. It does not read the disk.
func (w *workspace) relativePaths(named []string) []string {
	rel, listed := make([]string, 0, len(named)), make(map[string]bool, len(named))
	for _, p := range named {
		if p == "" {
			continue
		}
		if filepath.IsAbs(p) {
			if r, inside := paths.Within(w.root, filepath.Clean(p)); inside {
				p = r
			}
		} else {
			p = filepath.ToSlash(filepath.Clean(p))
		}
		if !listed[p] {
			listed[p] = true
			rel = append(rel, p)
		}
	}
	return rel
}
