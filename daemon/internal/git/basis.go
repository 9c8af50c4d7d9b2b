package git

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

// excludesBytes bounds the user's own file of ignore rules.
const excludesBytes = 1 << 20

// Basis returns a text that changes whenever git may list other files of the repository, although neither the folders of the
// work tree nor the ignore files in it have changed. It returns "" if it cannot say so, or if the index was written after since,
// a moment of package clock, or right before.
func (r Repository) Basis(ctx context.Context, since int64) string {
	v, err := r.Git.open(ctx)
	if err != nil {
		return ""
	}
	ours, err := v.Basis()
	if err != nil {
		return ""
	}
	said, err := v.Run(ctx, askgit.Question{Dir: r.Git.Dir, Most: gitOutput}, "config", "--list", "-z")
	if err != nil {
		return ""
	}
	index, sparse := filestat.Of(filepath.Join(v.Dir, "index")), filestat.Of(filepath.Join(v.Dir, "info", "sparse-checkout"))
	if index.Racy(since) || sparse.Racy(since) {
		return ""
	}
	excludes := filepath.Join(configHome(), "git", "ignore")
	for rec := range strings.SplitSeq(string(said), "\x00") {
		key, value, _ := strings.Cut(rec, "\n")
		switch key {
		case "core.excludesfile":
			excludes = value
			if in, ok := strings.CutPrefix(value, "~/"); ok {
				excludes = filepath.Join(os.Getenv("HOME"), in)
			} else if !filepath.IsAbs(value) {
				return ""
			}
		case "core.ignorecase":
			if value != "false" {
				return "" // names on the disk are not those of the index
			}
		}
	}
	rules, ok := readBounded(excludes)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%v %s %x %x %v %v", r.Is, ours, sha256.Sum256(said), sha256.Sum256(rules), index, sparse)
}

func configHome() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".config")
}

// readBounded returns what a file of rules holds. A file that is not there holds nothing.
func readBounded(name string) (data []byte, ok bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|filestat.NonBlocking, 0)
	if err != nil {
		return nil, os.IsNotExist(err) || filestat.NotDirectory(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	data, err = io.ReadAll(io.LimitReader(f, excludesBytes+1))
	return data, err == nil && len(data) <= excludesBytes
}
