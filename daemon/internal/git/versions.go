package git

import (
	"context"
	"strconv"
	"strings"
	"time"

	"cursord/daemon/internal/askgit"
)

// A Version is what a commit has written at a path.
type Version struct {
	Commit string
	At     time.Time
	Path   string
	OID    string
}

// Versions returns what the commits of all refs, and of some others, have written at paths below the folder, the newest first: as much as
// most commits have, and as much as git has said until the context ends.
func (g Tree) Versions(ctx context.Context, others, paths []string, most int) (all []Version, err error) {
	args := []string{
		"log", "--all", "--ignore-missing", "--full-history", "-m", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--relative",
		"--no-color", "--no-show-signature", "--max-count=" + strconv.Itoa(most), "--format=%H %ct",
	}
	out, err := g.ask(ctx, askgit.Question{Args: []string{"--literal-pathspecs"}}, append(append(append(args, others...), "--"), paths...)...)
	var of Version
	for fields := records(out); len(fields) > 0; fields = fields[1:] {
		said := strings.Fields(fields[0])
		switch {
		case len(said) == 2 && !strings.HasPrefix(said[0], ":"):
			at, _ := strconv.ParseInt(said[1], 10, 64)
			of = Version{Commit: said[0], At: time.Unix(at, 0)}
		case len(said) == 5 && len(fields) > 1:
			fields = fields[1:]
			if v := of; said[1] != gitlink && said[1] != symlink && strings.Trim(said[3], "0") != "" {
				v.Path, v.OID = fields[0], said[3]
				all = append(all, v)
			}
		}
	}
	return all, err
}
