// Package filelist lists the files of a folder that a person might name in a prompt, for clients that complete names. It
// needs no daemon. It waits at most five seconds for git, and lists only a part of a large folder.
package filelist

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/git"
)

const (
	namedMost   = 50_000 // files
	walkedMost  = 20_000 // entries of a folder without git
	namesLimit  = 5 * time.Second
	namesLength = 16 << 20
)

// Named lists files by their paths with slashes: those that git does not ignore or, in a folder without git, those that are
// not hidden, the nearest first.
func Named(ctx context.Context, dir string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, namesLimit)
	defer cancel()
	out, err := inGit(ctx, dir)
	if err != nil {
		return walked(os.DirFS(dir))
	}
	var files []string
	seen := map[string]bool{}
	for raw := range bytes.SplitSeq(out, []byte{0}) {
		if name := string(raw); name != "" && !seen[name] && len(files) < namedMost {
			seen[name] = true
			files = append(files, name)
		}
	}
	return files, nil
}

// inGit asks git. It makes a folder for askgit, because a client does not use the daemon's.
func inGit(ctx context.Context, dir string) ([]byte, error) {
	home, err := os.MkdirTemp("", "cursord-git-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// For names it does not matter where a work tree's repository is.
	guard := &askgit.Guard{Home: home, Root: root, Trust: func(_, claim string) bool { return askgit.IsPlace(claim) }}
	return git.Tree{Dir: root, Guard: guard}.Run(ctx, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
}

func walked(dir fs.FS) (files []string, err error) {
	folders := []string{"."}
	for looked := 0; len(folders) > 0 && looked < walkedMost; folders = folders[1:] {
		entries, err := fs.ReadDir(dir, folders[0])
		if err != nil && folders[0] == "." {
			return nil, err
		}
		for _, e := range entries {
			if looked++; strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" {
				continue
			}
			name := path.Join(folders[0], e.Name())
			if e.IsDir() {
				folders = append(folders, name)
			} else {
				files = append(files, name)
			}
		}
	}
	return files, nil
}
