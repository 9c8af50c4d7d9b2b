package commits

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/internal/git"
	"cursord/diffs"
)

// A Commit is what a commit, or the next one, adds to files.
type Commit struct {
	ID    string // "" for the next one
	Made  bool   // it is there, and not the next one
	Dir   string // the folder that Files are below, from the top of the work tree: "" or with a slash at its end
	Files []File // by path
}

// A File is a text that a commit adds lines to.
type File struct {
	Path  string
	Text  string          // in the commit, as a checkout writes it
	Lines []api.LineRange // of Text: those that no parent has
}

// Read reads what a commit adds to its parent: of a merge, the lines that no parent has. With "" it reads what the index would add as the next
// commit, and with the name of a tree what the tree would add; with amend, as a commit in place of HEAD. It leaves out files whose contents have
// no lines. The error is of kind notFound if there is no such commit.
func Read(ctx context.Context, tree git.Tree, rev string, amend bool) (c Commit, err error) {
	found := tree.Found()
	if found.Dir == "" {
		return c, noCommit("", tree.Dir)
	}
	if below, err := filepath.Rel(found.Top, tree.Dir); err == nil && below != "." {
		c.Dir = filepath.ToSlash(below) + "/"
	}
	next := rev == ""
	if !next {
		if c.ID, err = resolve(ctx, tree, rev, "commit"); err != nil {
			if c.ID, err = resolve(ctx, tree, rev, "tree"); err != nil {
				return c, noCommit(rev, tree.Dir)
			}
			next = true
		}
	}
	if amend && !next {
		return c, api.Invalid("amend", "is for the next commit, and %q is a commit: leave out rev, or name a tree", rev)
	}
	c.Made = !next
	var parents []string
	switch {
	case !next:
		parents, err = parentsOf(ctx, tree, c.ID)
	case amend:
		if parents, err = parentsOf(ctx, tree, "HEAD"); err != nil {
			return c, noCommit("HEAD", tree.Dir)
		}
	default:
		head, _ := resolve(ctx, tree, "HEAD", "commit")
		parents = []string{head}
		if other, err := resolve(ctx, tree, "MERGE_HEAD", "commit"); err == nil {
			parents = append(parents, other)
		}
	}
	if err != nil {
		return c, err
	}
	added := map[string]*File{}
	for i, parent := range parents {
		files, err := addedSince(ctx, tree, parent, c.ID)
		if err != nil {
			return c, err
		}
		for path, f := range added {
			if other := files[path]; other == nil {
				delete(added, path) // it is the parent's
			} else {
				f.Lines = both(f.Lines, other.Lines)
			}
		}
		if i == 0 {
			added = files
		}
	}
	for _, f := range added {
		if len(f.Lines) > 0 {
			c.Files = append(c.Files, *f)
		}
	}
	slices.SortFunc(c.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return c, nil
}

// parentsOf returns the parents of a commit: of the first one, "".
func parentsOf(ctx context.Context, tree git.Tree, commit string) ([]string, error) {
	out, err := tree.Run(ctx, nil, "rev-list", "--parents", "--max-count=1", commit, "--")
	if all := strings.Fields(string(out)); len(all) > 1 {
		return all[1:], err
	}
	return []string{""}, err
}

// resolve returns the id of the commit or the tree that a revision names.
func resolve(ctx context.Context, tree git.Tree, rev, kind string) (string, error) {
	if strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", fmt.Errorf("%q is no revision", rev)
	}
	out, err := tree.Run(ctx, nil, "rev-parse", "--verify", "--quiet", rev+"^{"+kind+"}")
	return strings.TrimSpace(string(out)), err
}

func noCommit(rev, root string) error {
	if rev == "" {
		return &api.Error{Kind: api.KindNotFound, Message: "there is no git repository at " + root}
	}
	return &api.Error{
		Kind: api.KindNotFound, Message: fmt.Sprintf("there is no commit %q in the repository of %s", rev, root), Hint: "git log --oneline lists commits",
	}
}

// addedSince returns the lines that a commit has and a parent has not, by path.
func addedSince(ctx context.Context, tree git.Tree, parent, commit string) (map[string]*File, error) {
	changed, err := tree.Changes(ctx, parent, commit)
	if err != nil {
		return nil, err
	}
	oldIDs, nowIDs := map[string]string{}, map[string]string{}
	for path, c := range changed {
		if c.Now == "" || c.NowLink { // a link has no lines
			continue
		}
		if nowIDs[path] = c.Now; c.Old != "" {
			oldIDs[path] = c.Old
		}
	}
	old, now := tree.Blobs(ctx, oldIDs, true), tree.Blobs(ctx, nowIDs, true)
	files := map[string]*File{}
	for path, data := range now {
		if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) { // binary, as for a review
			continue
		}
		f := &File{Path: path, Text: string(data)}
		shift := 0
		for _, e := range diffs.LineEdits(string(old[path]), f.Text) {
			from := e.From + shift
			n := strings.Count(e.Text, "\n")
			if !strings.HasSuffix(e.Text, "\n") && e.Text != "" {
				n++
			}
			if n > 0 {
				f.Lines = append(f.Lines, api.LineRange{From: from, To: from + n})
			}
			shift += n - (e.To - e.From)
		}
		files[path] = f
	}
	return files, nil
}

// both returns the lines that are in two lists, which ascend.
func both(a, b []api.LineRange) (lines []api.LineRange) {
	for len(a) > 0 && len(b) > 0 {
		if from, to := max(a[0].From, b[0].From), min(a[0].To, b[0].To); from < to {
			lines = append(lines, api.LineRange{From: from, To: to})
		}
		if a[0].To < b[0].To {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return lines
}
