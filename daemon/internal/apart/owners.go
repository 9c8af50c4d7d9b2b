package apart

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/treewatch"
	"cursord/daemon/overlay"
	"cursord/daemon/paths"
)

// lookAgain is after how long all of a workspace is looked through again. The watch misses changes by names elsewhere.
const lookAgain = time.Hour

// Owners knows that all files of a workspace were the user's own at a moment. Between turns only what has changed since is looked at, as far as a
// watch of the folders tells, and what lies in folders that are not watched. Any goroutine may use it; nil knows nothing.
type Owners struct {
	watch func() *treewatch.Watch

	mu   sync.Mutex // guards all below; held while a workspace is looked through
	by   *treewatch.Watch
	mark treewatch.Mark  // a moment of by; what has changed since is not known
	full int64           // when all was looked through, a moment of package clock
	bare map[string]bool // folders that by does not watch, by their full paths
	gits map[string]bool // files by the name .git, likewise
}

// NewOwners returns what is known of a workspace at first: nothing. watch returns the present watch of its folders; nil: there is none.
func NewOwners(watch func() *treewatch.Watch) *Owners { return &Owners{watch: watch} }

// look is overlay.Look for a workspace.
func (k *Owners) look(ctx context.Context, root string) (overlay.Survey, error) {
	all := []string{root}
	if k == nil {
		return overlay.Look(ctx, all, func(string) {})
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	w, was := k.watch(), k.by
	k.by = nil
	changed, mark, ok := w.Since(k.mark)
	if !ok {
		return overlay.Look(ctx, all, func(string) {})
	}
	dirs := all
	if w == was && clock.Now()-k.full < int64(lookAgain) {
		dirs = k.doubtful(root, changed)
	}
	if slices.Contains(dirs, root) {
		dirs = all
		k.full, k.bare, k.gits = clock.Now(), map[string]bool{}, map[string]bool{}
	}
	var mu sync.Mutex // guards bare while folders are read
	found, err := overlay.Look(ctx, dirs, func(dir string) {
		name, in := paths.Within(root, dir)
		if !in {
			name = "."
		}
		covered := w.Covers(name) // before it is read
		mu.Lock()
		defer mu.Unlock()
		if delete(k.bare, dir); !covered {
			k.bare[dir] = true
		}
	})
	if err != nil || found.Foreign != "" {
		return found, err
	}
	for _, name := range found.GitFiles {
		k.gits[name] = true
	}
	k.by, k.mark, found.GitFiles = w, mark, slices.Sorted(maps.Keys(k.gits))
	return found, nil
}

// doubtful returns the folders that have to be looked through again; the root, if all have. k.mu must be held.
func (k *Owners) doubtful(root string, changed []string) (dirs []string) {
	for dir := range k.bare {
		if !k.bare[filepath.Dir(dir)] { // otherwise it is looked through with that one
			dirs = append(dirs, dir)
		}
	}
	for _, name := range changed {
		full := filepath.Join(root, filepath.FromSlash(name))
		switch info, err := os.Lstat(full); {
		case err != nil:
			delete(k.bare, full)
		case !overlay.Changeable(info):
			return []string{root}
		case info.IsDir():
			dirs = append(dirs, full)
		case info.Name() == ".git":
			k.gits[full] = true
		}
	}
	return dirs
}
