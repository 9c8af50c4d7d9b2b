package apart

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/overlay"
)

// This file tells what the agent has removed with a folder from what people put there later. In the upper folder a whiteout, or a file in the
// folder's place, hides both.

// A record is what was in the work tree, when a turn ended, at the paths that the agent had changed and below them, with these paths.
type record map[string]bool

// recorded returns the record of the last turn's end; it is empty if there is none.
func (o *overlaid) recorded() (record, error) {
	data, err := os.ReadFile(o.in(recordName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r := record{}
	for name := range strings.SplitSeq(string(data), "\x00") {
		r[name] = true
	}
	return r, nil
}

// record makes the record of changes. What the record from before has of a path stays: people came after it.
func (o *overlaid) record(ctx context.Context, list []overlay.Change, before record) error {
	now := record{}
	for _, c := range list {
		if hides(c) {
			now[c.Path] = true
			if !before[c.Path] {
				o.below(ctx, c.Path, func(name string, _ bool) { now[name] = true })
			}
		}
	}
	for name := range before {
		for at := name; at != "."; at = path.Dir(at) {
			if now[at] && before[at] {
				now[name] = true
				break
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := strings.Join(slices.Sorted(maps.Keys(now)), "\x00")
	if err := os.MkdirAll(filepath.Dir(o.in(recordName)), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(o.in(recordName)+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(o.in(recordName)+".new", o.in(recordName))
}

// hides reports whether a change hides what the work tree has at its path.
func hides(c overlay.Change) bool {
	return (c.Kind == overlay.Removed || c.Kind == overlay.Written) && !inGit(c.Path)
}

// below calls do for all that the work tree has below a path.
func (o *overlaid) below(ctx context.Context, dir string, do func(name string, folder bool)) {
	filepath.WalkDir(o.lower(dir), func(full string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(o.root, full)
		switch name = filepath.ToSlash(name); {
		case err != nil || ctx.Err() != nil:
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case name != dir:
			do(name, d.IsDir())
		}
		return ctx.Err()
	})
}

// news reports whether people have put something below a path of the record since.
func (o *overlaid) news(ctx context.Context, dir string, r record) (found bool) {
	o.below(ctx, dir, func(name string, _ bool) { found = found || r[dir] && !r[name] })
	return found
}

// uncover makes a folder of the work tree show what people have added to it since the record, and nothing else. The upper folder must have nothing
// at its path.
func (o *overlaid) uncover(ctx context.Context, upper *os.Root, dir string, r record) error {
	info, err := os.Lstat(o.lower(dir))
	if err == nil {
		err = upper.Mkdir(dir, info.Mode().Perm())
	}
	if err != nil {
		return err
	}
	list, err := os.ReadDir(o.lower(dir))
	for _, d := range list {
		switch name := path.Join(dir, d.Name()); {
		case err != nil || !r[name]:
		case d.IsDir() && o.news(ctx, name, r):
			err = o.uncover(ctx, upper, name, r)
		default:
			err = overlay.Whiteout(upper, name)
		}
	}
	return err
}
