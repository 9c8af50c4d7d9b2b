package apart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cursord/daemon/copytree"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/overlay"
	"cursord/daemon/paths"
)

// makeOverlaid makes a tree on an overlay. Its error says why there is none.
func makeOverlaid(ctx context.Context, p Places) (Tree, error) {
	if err := p.Overlays(ctx); err != nil {
		return nil, err
	}
	if name := filestat.RemoteFS(p.Root); name != "" {
		return nil, fmt.Errorf("the workspace lies on a file system of another machine (%s)", name)
	}
	if _, err := copytree.Open(p.Dir, p.Copy); !errors.Is(err, copytree.ErrNotACopy) {
		return nil, errors.New("the session has a copy already")
	}
	suited := make(chan error, 1)
	go func() { suited <- suits(ctx, p.Root, p.Owners) }() // takes as long as a mount
	o, err := mountNew(ctx, p)
	if no := <-suited; no != nil {
		if err == nil {
			o.mounted.Close()
		}
		err = no
	}
	if err == nil {
		err = os.WriteFile(o.in(copytree.OverlayMark), []byte(o.root), 0o600)
	}
	if err != nil {
		overlay.RemoveAll(p.Dir)
		return nil, err
	}
	return o, nil
}

// mountNew makes the folder of a tree, and mounts it for the first turn.
func mountNew(ctx context.Context, p Places) (*overlaid, error) {
	if err := overlay.RemoveAll(p.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return nil, err
	}
	o, err := newOverlaid(p)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{upperName, workName, noneName} {
		if err := os.MkdirAll(o.in(name), 0o700); err != nil {
			return nil, err
		}
	}
	info, err := os.Lstat(o.root)
	if err == nil {
		err = os.Chmod(o.in(upperName), info.Mode().Perm()) // it shows as that of the tree's top
	}
	if err == nil {
		err = os.WriteFile(o.in(nextName), nil, 0o600)
	}
	if err == nil {
		o.mounted, err = o.mount(ctx)
	}
	return o, err
}

// suits returns why a workspace cannot be the lower folder of an overlay in which an agent works; nil if it can.
func suits(ctx context.Context, root string, owners *Owners) error {
	if r, ok := askgit.Find(root); ok {
		if r.Top != root {
			return fmt.Errorf("the workspace is a folder of the repository in %s, which the agent could write to", paths.Shown(r.Top))
		}
		common, err := r.Common()
		if err != nil {
			return err
		}
		for _, dir := range []string{r.Dir, common} {
			if err := inside(root, dir); err != nil {
				return err
			}
		}
	}
	found, err := owners.look(ctx, root)
	switch {
	case err != nil:
		return err
	case found.Foreign != "":
		return fmt.Errorf("%s belongs to another user or group, and an overlay could not change it", paths.Shown(found.Foreign))
	}
	for _, name := range found.GitFiles {
		r, ok := askgit.At(filepath.Dir(name))
		if !ok {
			continue
		}
		if err := inside(root, r.Dir); err != nil {
			return err
		}
	}
	return nil
}

// inside returns an error if a folder of a repository lies outside of the workspace: an agent in an overlay could write to it.
func inside(root, dir string) error {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if _, in := paths.Within(root, resolved); !in {
		return fmt.Errorf("a repository of the workspace is kept in %s, which the agent could write to", paths.Shown(resolved))
	}
	return nil
}

// ErrUnsuited is returned by Begin if the workspace has become one that cannot be on an overlay, and nothing in the tree was the agent's. The
// tree is gone then: Make makes a copy.
var ErrUnsuited = errors.New("the workspace cannot be on an overlay any more")

// unsuited gives up the tree because of why. If the agent has something there it stays, and why is kept for people.
func (o *overlaid) unsuited(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	own, err := o.ownsAny(ctx)
	switch {
	case err != nil:
		return err
	case own:
		return os.WriteFile(o.in(whyName), []byte(why.Error()), 0o600)
	}
	if err := os.Remove(o.in(copytree.OverlayMark)); err != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnsuited, why)
}

// ownsAny reports whether the agent has a file, or a commit, that the work tree does not have. The tree is settled.
func (o *overlaid) ownsAny(ctx context.Context) (bool, error) {
	list, err := overlay.Changes(ctx, o.in(upperName))
	if err != nil {
		return false, err
	}
	for _, c := range list {
		if !inGit(c.Path) {
			return true, nil
		}
	}
	upper, err := os.OpenRoot(o.in(upperName))
	if err != nil {
		return false, err
	}
	defer upper.Close()
	lower, err := os.OpenRoot(o.root)
	if err != nil {
		return false, err
	}
	defer lower.Close()
	known := map[string]bool{}
	for _, oid := range readRefs(ctx, lower) {
		known[oid] = true
	}
	for _, oid := range readRefs(ctx, upper) {
		if !known[oid] {
			return true, nil
		}
	}
	return false, ctx.Err()
}
