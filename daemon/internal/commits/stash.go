package commits

import (
	"path/filepath"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

// HasStash reports whether the repository of a workspace has a stash. It ignores the stash's time, because git makes a stash
// before it removes the changes from the files, and somebody may look at the files in between.
func HasStash(root string) bool {
	repo, ok := askgit.Find(root)
	if !ok {
		return false
	}
	dir, err := repo.Common()
	return err == nil && filestat.Of(filepath.Join(dir, "refs", "stash")).Exists()
}
