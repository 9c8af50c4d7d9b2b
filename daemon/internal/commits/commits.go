// Package commits notices that a workspace's repository has a new commit, and reads the contents of files before and in it.
// A person who commits an agent's change has accepted it.
package commits

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/diffs"
)

// A Head follows the commit of a work tree. One goroutine uses it.
type Head struct {
	Root  string // the workspace's folder
	Guard *askgit.Guard

	dir   string // of the repository, or of its work tree; "" if there is none
	known bool   // id and seen come from an earlier look
	id    string // "" before the first commit
	seen  [3]filestat.Stat
}

// A Move is a change from one commit to another. Old is "" if Now is the first commit.
type Move struct{ Old, Now string }

// Texts are the contents of a file before and after a Move.
type Texts struct{ Before, After diffs.Content }

// Known reports whether Look was called.
func (h *Head) Known() bool { return h.known }

// Path returns the path of a file that lies in a folder where every commit changes something; "" if there is no repository.
func (h *Head) Path() string {
	switch {
	case h.dir == "":
		return ""
	case filestat.Of(filepath.Join(h.dir, "logs")).Exists():
		return filepath.Join(h.dir, "logs", "HEAD")
	}
	return filepath.Join(h.dir, "HEAD")
}

// Changed returns the moment of package clock at which the commit was last changed. It returns false if no repository was found.
func (h *Head) Changed() (when int64, ok bool) {
	if h.dir == "" {
		return 0, false
	}
	for _, name := range []string{"HEAD", "logs/HEAD"} {
		when = max(when, filestat.Of(h.file(name)).Changed())
	}
	return when, true
}

func (h *Head) file(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }

// Look returns the change of the commit since the last look, or nil if there is none. It asks git only if a file of the repository has
// changed.
func (h *Head) Look(ctx context.Context) *Move {
	if !h.known {
		repo, _ := askgit.Find(h.Root)
		h.dir = repo.Dir
	}
	if h.dir == "" {
		h.known = true
		return nil
	}
	var seen [3]filestat.Stat
	for i, name := range []string{"HEAD", "logs/HEAD", "index"} {
		seen[i] = filestat.Of(h.file(name))
	}
	if h.known && seen == h.seen {
		return nil
	}
	// An error means that there is no commit yet, or no git. In both cases nobody has committed anything.
	out, _ := h.git().Run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	old, first := h.id, !h.known
	h.known, h.id = true, strings.TrimSpace(string(out))
	if when, _ := h.Changed(); first || h.id != old || clock.Now()-when > int64(refTime) {
		h.seen = seen
	}
	if first || h.id == old || h.id == "" {
		return nil
	}
	return &Move{old, h.id}
}

// refTime is how long the commit of a branch may change after logs/HEAD has: git writes the log first. Until then each look asks git.
const refTime = 2 * time.Second

func (h *Head) git() git.Tree { return git.Tree{Dir: h.Root, Guard: h.Guard} }

// Texts returns the contents of those paths that a Move has changed, by path. It leaves out files that cannot be read.
func (h *Head) Texts(ctx context.Context, m *Move, paths []string) (map[string]Texts, error) {
	tree := h.git()
	changed, err := tree.Between(ctx, m.Old, m.Now)
	if err != nil {
		return nil, err
	}
	oldIDs, nowIDs := map[string]string{}, map[string]string{}
	for _, path := range paths {
		if c := changed[path]; c.Old != "" {
			oldIDs[path] = c.Old
		}
		if c := changed[path]; c.Now != "" {
			nowIDs[path] = c.Now
		}
	}
	old, now := tree.Blobs(ctx, oldIDs, true), tree.Blobs(ctx, nowIDs, true)
	content := func(texts map[string][]byte, path, id string, link bool) (c diffs.Content, ok bool) {
		if id == "" {
			return c, true
		}
		data, ok := texts[path]
		if link {
			return diffs.Content{Exists: true, Target: string(data)}, ok
		}
		return diffs.Content{Exists: true, Data: data}, ok
	}
	all := map[string]Texts{}
	for _, path := range paths {
		c, ok := changed[path]
		before, ok1 := content(old, path, c.Old, c.OldLink)
		after, ok2 := content(now, path, c.Now, c.NowLink)
		if ok && ok1 && ok2 {
			all[path] = Texts{before, after}
		}
	}
	return all, nil
}
