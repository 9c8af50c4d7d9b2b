// Package git asks git about a workspace: which files its work trees have, which it ignores, the contents of blobs, and the
// differences between two commits. Package askgit runs git and guards it; this package has the questions and reads the
// answers, and git's index. Between questions it keeps only the first state of each Repository. Every question is bounded by its context and
// by the size of git's output.
package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// gitOutput bounds git's output, in bytes.
const gitOutput = 256 << 20

// A Tree asks git about a folder in a work tree. No question takes a lock, writes to the repository, runs a program that the
// repository names, or fetches.
type Tree struct {
	Dir    string
	Within bool   // Dir itself must be the repository's folder
	Rules  string // if not "", the folder in which git finds the ignore files instead, which is laid out like Dir
	Guard  *askgit.Guard
	was    *askgit.View // the repository to ask; nil: the present one, found at each question
}

// A Listed is one path of a listing, relative to the Tree's folder.
type Listed struct {
	Path  string
	seen  uint64 // the sum of the state in which git has seen the content ID in the work tree; 0: Dirty says all
	ID    int32  // the number, in the listing's IDs, of what the index has; 0 for what it does not have
	Dirty bool   // the work tree's content differs from ID, or may
	skip  bool   // git ignores its state in the work tree
	kind  kind   // as the index has it
	Long  bool   // a folder that git could not open, because its path is too long; the path may be cut off
}

// A kind is one of git's kinds of files.
type kind uint8

const (
	plain kind = iota
	executable
	link
)

// Mode returns the mode that the index has of a file, which says nothing of most permissions: these are as now.
func (l *Listed) Mode(now fs.FileMode) fs.FileMode {
	switch {
	case l.kind == link:
		return fs.ModeSymlink | 0o777
	case !now.IsRegular() || now == 0:
		now = 0o644
	}
	if now = now.Perm() &^ 0o111; l.kind == executable {
		now |= now >> 2 & 0o111
	}
	return now
}

// list returns the files of the index, and other files that are not ignored. It leaves out files that a sparse checkout
// leaves out. Submodules and nested repositories are returned apart, as folders. The index is read here while git looks for the others; if
// that is not the same index, or has a form that is not known here, git lists both. Meanwhile indexed, if not nil, gets the files of
// the index; it must not change them. early is how many of files, the first ones, are those. The object ids are added to ids. Files that
// skip names may be missing, unless it is nil.
func (g Tree) list(ctx context.Context, ids *IDs, indexed func([]Listed), skip func(path []byte) bool) (files []Listed, early int, nested []string, err error) {
	found := g.Found()
	index := filepath.Join(found.Dir, "index")
	of := filestat.Of(index)
	var inIndex []Listed
	var failed error
	var both sync.WaitGroup
	both.Go(func() {
		var under string
		if under, failed = filepath.Rel(found.Top, g.Dir); failed == nil {
			inIndex, nested, failed = readIndex(index, strings.TrimPrefix(filepath.ToSlash(under)+"/", "./"), ids, skip)
		}
		if failed == nil && indexed != nil {
			indexed(inIndex)
		}
	})
	args := []string{"ls-files", "-z", "-v", "--others", "--exclude-standard"}
	var said string
	out, err := g.ask(ctx, askgit.Question{Said: &said}, args...)
	both.Wait()
	if own := failed == nil && filestat.Of(index) == of; !own && err == nil {
		inIndex, nested = nil, nil
		out, err = g.ask(ctx, askgit.Question{Said: &said}, append(args, "--stage", "--modified", "--deleted")...)
	}
	if err != nil {
		return nil, 0, nil, err
	}
	others, within, err := parseListing(string(out), ids)
	if err != nil {
		return nil, 0, nil, err
	}
	early = len(inIndex)
	if files = g.withoutLeftOut(inIndex); len(files) < early || indexed == nil {
		early = 0
	}
	return append(append(files, g.withoutLeftOut(others)...), unopened(said)...), early, append(nested, within...), nil
}

// differing returns the files of the index that are gone from the work tree, or have, or may have, another content there. Git compares
// the contents that the state of a file leaves open.
func (g Tree) differing(ctx context.Context) (map[string]bool, error) {
	out, err := g.Run(ctx, nil, "ls-files", "-z", "--modified", "--deleted")
	if err != nil {
		return nil, err
	}
	differ := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		differ[name] = true
	}
	return differ, nil
}

// unopened returns the folders whose paths are too long for git, according to git's warnings. Git cuts off a warning that is
// longer than a path may be, so the reason may be missing.
func unopened(said string) (dirs []Listed) {
	const cut = paths.MaxPath - 256
	parts := strings.Split(said, "warning: could not open directory '")
	for _, part := range parts[1:] { // a path may have line ends
		name, _, whole := strings.Cut(part, "': File name too long")
		if whole || len(part) >= cut {
			dirs = append(dirs, Listed{Path: strings.TrimSuffix(strings.TrimSuffix(name, "\n"), "/"), Long: true})
		}
	}
	return dirs
}

// withoutLeftOut drops the files that a sparse checkout leaves out. Such a file may nevertheless exist, with any content.
func (g Tree) withoutLeftOut(files []Listed) []Listed {
	dirs := map[string]bool{}
	var there func(dir string) bool
	there = func(dir string) bool {
		is, known := dirs[dir]
		if !known {
			is = dir == "." || there(path.Dir(dir)) && filestat.Of(filepath.Join(g.Dir, filepath.FromSlash(dir))).Mode.IsDir()
			dirs[dir] = is
		}
		return is
	}
	return slices.DeleteFunc(files, func(l Listed) bool {
		return l.skip && !(there(path.Dir(l.Path)) && filestat.Of(filepath.Join(g.Dir, filepath.FromSlash(l.Path))).Exists())
	})
}

// parseListing reads records like "H 100644 <oid> 0\tpath" and "? path", each ended by a NUL, and adds the object ids to ids.
func parseListing(out string, ids *IDs) (list []Listed, nested []string, err error) {
	list = make([]Listed, 0, strings.Count(out, "\x00"))
	for len(out) > 0 {
		rec, rest, ended := strings.Cut(out, "\x00")
		out = rest
		if len(rec) < 3 || rec[1] != ' ' || !ended {
			return nil, nil, fmt.Errorf("git listed %.100q", rec)
		}
		tag, rec := rec[0], rec[2:]
		if tag == '?' {
			if dir, ok := strings.CutSuffix(rec, "/"); ok {
				nested = append(nested, dir)
			} else {
				list = append(list, Listed{Path: rec})
			}
			continue
		}
		info, path, ok := strings.Cut(rec, "\t")
		mode, info, _ := strings.Cut(info, " ")
		oid, stage, _ := strings.Cut(info, " ")
		if !ok || path == "" || oid == "" || stage == "" {
			return nil, nil, fmt.Errorf("git listed %.100q", rec)
		}
		switch {
		case mode == "160000":
			nested = append(nested, path)
			continue
		}
		if n := len(list); n == 0 || list[n-1].Path != path {
			list = append(list, Listed{Path: path, ID: ids.Add(oid)})
		}
		last := &list[len(list)-1]
		switch {
		case tag == 'S' || tag == 's':
			last.Dirty, last.skip = true, true
		case tag != 'H': // gone, modified, unmerged, or (small letters) marked as assumed unchanged
			last.Dirty = true
		}
	}
	return list, nested, nil
}

// ErrNoRepository is the error of questions about a folder without a repository.
var ErrNoRepository = errors.New("there is no git repository")

// open returns a view of the repository.
func (g Tree) open(ctx context.Context) (*askgit.View, error) {
	if g.was != nil {
		return g.was, nil
	}
	find := askgit.Find
	if g.Within {
		find = askgit.At
	}
	r, ok := find(g.Dir)
	if !ok {
		return nil, fmt.Errorf("%s: %w", g.Dir, ErrNoRepository)
	}
	return g.Guard.Open(ctx, r)
}

// Run runs git and returns its output. An exit code other than 0 is an error.
func (g Tree) Run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	return g.ask(ctx, askgit.Question{In: in}, args...)
}

// ask is Run for a question without a folder and a bound.
func (g Tree) ask(ctx context.Context, q askgit.Question, args ...string) ([]byte, error) {
	v, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	q.Dir, q.Most = g.Dir, gitOutput
	if g.Rules != "" {
		q.Dir, q.Work = g.Rules, g.Rules
	}
	return v.Run(ctx, q, args...)
}

// Found returns git's folder and the top of the work tree; the zero Repository if there is none.
func (g Tree) Found() askgit.Repository {
	find := askgit.Find
	if g.Within {
		find = askgit.At
	}
	r, _ := find(g.Dir)
	return r
}

// Inside reports whether a folder lies in a work tree, judged by names alone; git may disagree.
func Inside(dir string) bool {
	r, _ := askgit.Find(dir)
	return r.Dir != ""
}
