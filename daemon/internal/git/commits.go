package git

import (
	"context"
	"fmt"
	"strings"
)

// A Committed is a file that differs between two commits.
type Committed struct{ Old, Now string } // the blobs; "" for none

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
	changed := map[string]Committed{}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if old == "" {
		for _, rec := range fields {
			if info, path, ok := strings.Cut(rec, "\t"); ok {
				changed[path] = Committed{Now: info[strings.LastIndexByte(info, ' ')+1:]}
			}
		}
		return changed, nil
	}
	blob := func(id string) string {
		if strings.Trim(id, "0") == "" {
			return ""
		}
		return id
	}
	for ; len(fields) > 1; fields = fields[2:] {
		info := strings.Fields(fields[0]) // :mode mode id id status
		if len(info) != 5 {
			return nil, fmt.Errorf("git listed %.100q", fields[0])
		}
		changed[fields[1]] = Committed{blob(info[2]), blob(info[3])}
	}
	return changed, nil
}
