package copytree

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cursord/daemon/internal/filestat"
)

// Kinds of trees.
const (
	KindCopy    = "copy"
	KindOverlay = "overlay"
)

// OverlayMark is the file that makes a session's folder that of a tree on an overlay; it has the workspace. Package apart makes these.
const OverlayMark = ".overlay/workspace"

// OverlayWhy is the file beside OverlayMark that says why the workspace does not suit an overlay any more, if that is so.
const OverlayWhy = ".overlay/why"

// An Info describes one tree of a state directory.
type Info struct {
	Session  string
	Dir      string
	Kind     string
	Why      string // why the tree is a copy, or should be one; "" if nobody has said
	Root     string // the workspace; "" if the copy was never finished, or is damaged
	Bytes    int64  // of all files, also if blocks are shared
	LastUsed time.Time
}

// List returns the copies in a state directory, the most recently used first.
func List(ctx context.Context, stateDir string) ([]Info, error) {
	entries, err := os.ReadDir(filepath.Dir(Dir(stateDir, "x")))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, e := range entries {
		info := Info{Session: e.Name(), Dir: Dir(stateDir, e.Name()), Kind: KindCopy}
		if !e.IsDir() {
			continue
		}
		st := filestat.Of(filepath.Join(info.Dir, metaName, tableName))
		if root, err := os.ReadFile(filepath.Join(info.Dir, OverlayMark)); err == nil {
			why, _ := os.ReadFile(filepath.Join(info.Dir, OverlayWhy))
			info.Kind, info.Root, info.Why = KindOverlay, string(root), string(why)
			st = filestat.Of(filepath.Join(info.Dir, OverlayMark))
		} else if t, err := readTable(info.Dir, false); err == nil {
			info.Root = t.root
			why, _ := os.ReadFile(filepath.Join(info.Dir, metaName, whyName)) // copies of earlier builds have none
			info.Why = string(why)
		} else if !st.Exists() {
			st = filestat.Of(info.Dir)
		}
		info.LastUsed = time.Unix(0, st.Mtime)
		if info.Bytes, err = size(ctx, info.Dir); err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b Info) int { return b.LastUsed.Compare(a.LastUsed) })
	return list, nil
}

// size returns the total size of the files below a folder, in bytes.
func size(ctx context.Context, dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return ctx.Err()
	})
	return sum, err
}

// Explain keeps the reason why the tree is a copy.
func (c *Copy) Explain(why string) error {
	return os.WriteFile(filepath.Join(c.meta(), whyName), []byte(why), 0o600)
}

// Bounds say how much is kept; a zero field is no bound.
type Bounds struct {
	Count int
	Bytes int64
	Age   time.Duration // since the last use
}

// unfinishedAge is the age from which an unfinished copy counts as abandoned.
const unfinishedAge = time.Hour

// Clean removes abandoned copies, and then the least recently used ones until the rest is within the bounds. It never
// removes a copy for which keep returns true. It returns what it removed.
func Clean(ctx context.Context, stateDir string, b Bounds, keep func(Info) bool) ([]Info, error) {
	list, err := List(ctx, stateDir)
	if err != nil {
		return nil, err
	}
	count, bytes := len(list), int64(0)
	for _, info := range list {
		bytes += info.Bytes
	}
	slices.SortStableFunc(list, func(a, b Info) int { return cmp.Compare(a.LastUsed.UnixNano(), b.LastUsed.UnixNano()) })
	var removed []Info
	for _, info := range list {
		age := time.Since(info.LastUsed)
		over := b.Count > 0 && count > b.Count || b.Bytes > 0 && bytes > b.Bytes || b.Age > 0 && age > b.Age ||
			info.Root == "" && age > unfinishedAge
		if !over || keep(info) {
			continue
		}
		if ctx.Err() != nil {
			return removed, ctx.Err()
		}
		if err := remove(info.Dir); err != nil {
			return removed, err
		}
		count--
		bytes -= info.Bytes
		removed = append(removed, info)
	}
	return removed, nil
}
