package review

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/internal/waiting"
	"cursord/diffs"
)

// gitTime bounds each question to git about a commit.
const gitTime = 5 * time.Second

// A gitHead is the commit that a workspace's work tree is at: who commits what the agent wrote has agreed to it.
type gitHead struct {
	dir   string // the repository's, or that of its work tree; "" if there is none
	known bool   // id is what it was when somebody looked
	id    string // "" before the first commit
	seen  [3]filestat.Stat
}

// path returns a file whose folder is to be watched, or "".
func (h *gitHead) path() string {
	switch {
	case h.dir == "":
		return ""
	case filestat.Of(filepath.Join(h.dir, "logs")).Exists():
		return filepath.Join(h.dir, "logs", "HEAD")
	}
	return filepath.Join(h.dir, "HEAD")
}

// lookAtHead takes a commit made since the last look for the acceptance of what it has in common with what is pending,
// if it counts. What is committed while a turn runs counts only if no call, and nothing that a call has left behind, can have
// done it.
func (r *Reviewer) lookAtHead(counts bool) {
	h := &r.head
	if !r.setup.Settings().CommitAccepts {
		return
	}
	if !h.known {
		repo, _ := askgit.Find(r.setup.Root)
		h.dir = repo.Dir
	}
	if h.dir == "" {
		h.known = true
		return
	}
	var seen [3]filestat.Stat
	for i, name := range []string{"HEAD", "logs/HEAD", "index"} {
		seen[i] = filestat.Of(filepath.Join(h.dir, filepath.FromSlash(name)))
	}
	if h.known && seen == h.seen {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	git := git.Tree{Dir: r.setup.Root, Guard: r.setup.Git}
	// An error says that there is no commit yet, or no git: then there is nothing to agree to.
	out, _ := git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	old, first := h.id, !h.known
	h.known, h.seen, h.id = true, seen, strings.TrimSpace(string(out))
	if first || !counts || h.id == old || h.id == "" {
		return
	}
	if err := r.acceptCommitted(ctx, git, old, h.id); err != nil {
		r.setup.Log.Warn("what was committed is not known", "err", err)
	}
}

// committedByPerson reports whether nothing of what runs for an agent can have made a commit at a moment.
func (r *Reviewer) committedByPerson(when int64) bool {
	if !filestat.ChangeTimes || r.setup.Survivors.Alive() {
		return false
	}
	for _, t := range r.trees {
		if t.unattended.Load() > 0 || t.ledger.Author(attribution.Change{When: when}) != nil {
			return false
		}
	}
	return true
}

// headMoved is lookAtHead where something is pending, or was, and a turn may run.
func (r *Reviewer) headMoved(counts bool) {
	if !r.head.known {
		return
	}
	if !counts && r.head.dir != "" {
		when := int64(0)
		for _, name := range []string{"HEAD", "logs/HEAD"} {
			when = max(when, filestat.Of(filepath.Join(r.head.dir, filepath.FromSlash(name))).Changed())
		}
		for _, t := range r.trees {
			if !t.explained(when) {
				return // it is looked at again: by then agents have said whether it was them
			}
		}
		counts = r.committedByPerson(when)
	}
	r.lookAtHead(counts)
}

// headEnds is headMoved at the end of a turn for which nothing says any more when its calls were open.
func (r *Reviewer) headEnds() {
	if r.head.known {
		r.lookAtHead(false)
	}
}

// acceptCommitted accepts, as one decision, the hunks that commit now has and commit old did not.
func (r *Reviewer) acceptCommitted(ctx context.Context, git git.Tree, old, now string) error {
	var files []*file
	for _, f := range r.sorted() {
		if f.pending() && !f.outside() && !f.tree.isolated() { // what is in a copy cannot be in a commit
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil
	}
	changed, err := git.Between(ctx, old, now)
	if err != nil {
		return err
	}
	oldIDs, nowIDs := map[string]string{}, map[string]string{}
	for _, f := range files {
		if c := changed[f.path]; c.Old != "" {
			oldIDs[f.path] = c.Old
		}
		if c := changed[f.path]; c.Now != "" {
			nowIDs[f.path] = c.Now
		}
	}
	oldTexts, nowTexts := git.Blobs(ctx, oldIDs, true), git.Blobs(ctx, nowIDs, true)
	content := func(texts map[string][]byte, path, id string) (c diffs.Content, ok bool) {
		if id == "" {
			return c, true
		}
		data, ok := texts[path]
		return diffs.Content{Exists: true, Data: data}, ok
	}
	var hunks []string
	for _, f := range files {
		c, ok := changed[f.path]
		if !ok || r.load(f) != nil {
			continue
		}
		before, ok1 := content(oldTexts, f.path, c.Old)
		after, ok2 := content(nowTexts, f.path, c.Now)
		if !ok1 || !ok2 {
			continue
		}
		for _, id := range f.review.Agreed(before, after) {
			hunks = append(hunks, diffshape.HunkID(f.n, id))
		}
	}
	if len(hunks) == 0 {
		return nil
	}
	r.decide(api.Decision{Accept: true, Hunks: hunks}, waiting.NewRequest(func(d api.Decided, err error) {
		if err != nil {
			r.setup.Log.Info("what was committed is not accepted", "err", err)
			return
		}
		r.setup.Log.Info("accepted by a commit", "hunks", d.Applied)
	}))
	return nil
}
