package git

import (
	"context"
	"fmt"
	"strings"
)

// A Committed is a file that differs between two commits.
type Committed struct {
	Old, Now         string // the blobs; "" for none
	OldLink, NowLink bool   // they are the targets of symbolic links
	Was              string // the path in the old commit, if it is another
}

// Between returns the files below the folder that differ between two commits, by path; old may be "".
func (g Tree) Between(ctx context.Context, old, now string) (map[string]Committed, error) {
	args := []string{"diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--relative", old, now}
	if old == "" {
		args = []string{"ls-tree", "-r", "-z", now}
	}
	out, err := g.Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	if old != "" {
		return changes(out)
	}
	changed := map[string]Committed{}
	for _, rec := range records(out) {
		if info, path, ok := strings.Cut(rec, "\t"); ok {
			changed[path] = Committed{Now: info[strings.LastIndexByte(info, ' ')+1:], NowLink: strings.HasPrefix(info, symlink+" ")}
		}
	}
	return changed, nil
}

// Changes is Between with renamed files; now may be "" for what the index holds.
func (g Tree) Changes(ctx context.Context, old, now string) (map[string]Committed, error) {
	if old == "" && now != "" {
		return g.Between(ctx, old, now)
	}
	if old == "" {
		out, err := g.Run(ctx, nil, "hash-object", "-t", "tree", "--stdin") // the empty tree
		if err != nil {
			return nil, err
		}
		old = strings.TrimSpace(string(out))
	}
	args := []string{"diff-tree", "-r", "-z", "-M", "--no-ext-diff", "--relative", old, now}
	if now == "" {
		args = []string{"diff-index", "--cached", "-z", "-M", "--no-ext-diff", "--relative", old}
	}
	out, err := g.Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	return changes(out)
}

// Held returns the blobs that a commit has at paths below the folder, by path. It leaves out links.
func (g Tree) Held(ctx context.Context, commit string, paths []string) (map[string]string, error) {
	args := []string{"ls-tree", "-r", "-z", commit}
	if len(paths) <= 100 {
		args = append(append(args, "--"), paths...)
	}
	out, err := g.Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	asked := make(map[string]bool, len(paths))
	for _, path := range paths {
		asked[path] = true
	}
	held := map[string]string{}
	for _, rec := range records(out) { // mode type id, a tab, path
		info, path, _ := strings.Cut(rec, "\t")
		if f := strings.Fields(info); len(f) == 3 && f[1] == "blob" && f[0] != symlink && asked[path] {
			held[path] = f[2]
		}
	}
	return held, nil
}

func records(out []byte) []string {
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// changes reads git's list of changes, with NUL between its parts.
func changes(out []byte) (map[string]Committed, error) {
	changed := map[string]Committed{}
	blob := func(id, mode string) string {
		if strings.Trim(id, "0") == "" || mode == gitlink {
			return ""
		}
		return id
	}
	for fields := records(out); len(fields) > 1; {
		info := strings.Fields(strings.TrimPrefix(fields[0], ":")) // mode mode id id status
		if len(info) != 5 {
			return nil, fmt.Errorf("git listed %.100q", fields[0])
		}
		c, path := Committed{Old: blob(info[2], info[0]), Now: blob(info[3], info[1]), OldLink: info[0] == symlink, NowLink: info[1] == symlink}, fields[1]
		fields = fields[2:]
		if k := info[4][0]; (k == 'R' || k == 'C') && len(fields) > 0 {
			c.Was, path, fields = path, fields[0], fields[1:]
		}
		changed[path] = c
	}
	return changed, nil
}

// The modes of what is no file in a tree of git: gitlink of a nested repository's commit.
const gitlink, symlink = "160000", "120000"
