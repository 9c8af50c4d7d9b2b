package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"cursord/daemon/internal/askgit"
)

// A Blamed is a run of lines of a text, From to To (exclusive), counted from 0, that a commit has brought.
type Blamed struct {
	From, To int
	Commit   string
	Path     string // in the commit, from the top of the work tree
	Line     int    // in the commit: where From is
}

// mostRanges is how many ranges of lines git is asked about; of a text with more it is asked about all.
const mostRanges = 100

// Blame returns which commits have brought lines of a text of the file at a path below the folder: those in some ranges of lines, from the first
// (counted from 0) to the second (exclusive). It leaves out lines that are in no commit yet.
func (g Tree) Blame(ctx context.Context, path, text string, ranges [][2]int) (all []Blamed, err error) {
	args := []string{"blame", "--incremental", "--no-textconv", "--no-progress", "--contents", "-"}
	for _, r := range ranges {
		if len(ranges) <= mostRanges && r[0] < r[1] {
			args = append(args, "-L", fmt.Sprintf("%d,%d", r[0]+1, r[1]))
		}
	}
	out, err := g.ask(ctx, askgit.Question{In: strings.NewReader(text)}, append(args, "--", path)...)
	if err != nil {
		return nil, err
	}
	var b Blamed
	for line := range bytes.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		switch {
		case name == "filename":
			if b.Path = value; strings.HasPrefix(value, `"`) {
				if b.Path, err = strconv.Unquote(value); err != nil {
					return nil, fmt.Errorf("git named %.100q", value)
				}
			}
			if strings.Trim(b.Commit, "0") != "" {
				all = append(all, b)
			}
		case len(name) >= 40 && strings.Trim(name, "0123456789abcdef") == "":
			var was, now, n int
			if _, err := fmt.Sscanf(value, "%d %d %d", &was, &now, &n); err == nil {
				b = Blamed{From: now - 1, To: now - 1 + n, Commit: name, Line: was - 1}
			}
		}
	}
	return all, nil
}
