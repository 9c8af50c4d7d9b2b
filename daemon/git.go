package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// gitOutput bounds what git may print, in bytes.
const gitOutput = 256 << 20

// A gitTree asks git about a folder in a work tree. It only asks: nothing here takes a lock or writes to the
// repository, runs a program that it names, or fetches.
type gitTree struct {
	dir    string
	within bool // dir itself must be the repository's folder
	guard  *askgit.Guard
	was    *askgit.View // the repository, as it is asked about; nil: as it is when that is done
}

// A listed is one path of a listing, relative to the gitTree's folder.
type listed struct {
	path  string
	oid   string // what the index has; "" for what it does not have
	dirty bool   // the work tree holds, or may hold, something else than oid
	gone  bool   // the index has it, the work tree does not
	skip  bool   // git does not look at it in the work tree
	long  bool   // a folder that git could not open, because its path is too long; the path may be cut off
}

// list names what the index has, and what is neither there nor ignored; without what a sparse checkout leaves out.
// Submodules and repositories within come apart, as folders. With dirty, it also says which contents differ from the
// index.
func (g gitTree) list(ctx context.Context, dirty bool) (files []listed, nested []string, err error) {
	args := []string{"ls-files", "-z", "-v", "--stage", "--others", "--exclude-standard"}
	if dirty {
		args = append(args, "--modified", "--deleted")
	}
	var said string
	out, err := g.ask(ctx, askgit.Question{Said: &said}, args...)
	if err != nil {
		return nil, nil, err
	}
	if files, nested, err = parseListing(string(out)); err != nil {
		return nil, nil, err
	}
	return append(g.withoutLeftOut(files), unopened(said)...), nested, nil
}

// unopened names the folders whose paths are too long for git, by its warnings. Git cuts off a warning that is longer than
// a path may be, and with it the reason.
func unopened(said string) (dirs []listed) {
	const cut = paths.MaxPath - 256
	parts := strings.Split(said, "warning: could not open directory '")
	for _, part := range parts[1:] { // a path may have line ends
		name, _, whole := strings.Cut(part, "': File name too long")
		if whole || len(part) >= cut {
			dirs = append(dirs, listed{path: strings.TrimSuffix(strings.TrimSuffix(name, "\n"), "/"), long: true})
		}
	}
	return dirs
}

// withoutLeftOut drops the files that a sparse checkout leaves out. Those that git is told to skip may be there all the
// same, in any form.
func (g gitTree) withoutLeftOut(files []listed) []listed {
	dirs := map[string]bool{}
	var there func(dir string) bool
	there = func(dir string) bool {
		is, known := dirs[dir]
		if !known {
			is = dir == "." || there(path.Dir(dir)) && filestat.Of(filepath.Join(g.dir, filepath.FromSlash(dir))).Mode.IsDir()
			dirs[dir] = is
		}
		return is
	}
	return slices.DeleteFunc(files, func(l listed) bool {
		return l.skip && !(there(path.Dir(l.path)) && filestat.Of(filepath.Join(g.dir, filepath.FromSlash(l.path))).Exists())
	})
}

// parseListing reads records like "H 100644 <oid> 0\tpath" and "? path", each ended by a NUL.
func parseListing(out string) (list []listed, nested []string, err error) {
	list = make([]listed, 0, strings.Count(out, "\x00"))
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
				list = append(list, listed{path: rec})
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
		if n := len(list); n == 0 || list[n-1].path != path {
			list = append(list, listed{path: path, oid: oid})
		}
		last := &list[len(list)-1]
		switch {
		case tag == 'S' || tag == 's':
			last.dirty, last.skip = true, true
		case tag == 'R':
			last.gone = true
		case tag != 'H': // modified, unmerged, or (in small letters) not to be looked at
			last.dirty = true
		}
	}
	return list, nested, nil
}

// ignored reports whether git would not list a path that is not in the index; "." is the folder itself.
func (g gitTree) ignored(ctx context.Context, path string) (bool, error) {
	_, err := g.run(ctx, nil, "check-ignore", "-q", "--no-index", "--", "./"+path) // ":…" would be more than a name
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// errNoRepository is returned by questions about a folder of which git knows nothing.
var errNoRepository = errors.New("there is no git repository")

// open returns the repository.
func (g gitTree) open(ctx context.Context) (*askgit.View, error) {
	if g.was != nil {
		return g.was, nil
	}
	find := askgit.Find
	if g.within {
		find = askgit.At
	}
	r, ok := find(g.dir)
	if !ok {
		return nil, fmt.Errorf("%s: %w", g.dir, errNoRepository)
	}
	return g.guard.Open(ctx, r)
}

// run runs git and returns what it printed; it is an error if git's exit code is not 0.
func (g gitTree) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	return g.ask(ctx, askgit.Question{In: in}, args...)
}

// ask is run for a question of which the folder and the bound are missing.
func (g gitTree) ask(ctx context.Context, q askgit.Question, args ...string) ([]byte, error) {
	v, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	q.Dir, q.Most = g.dir, gitOutput
	return v.Run(ctx, q, args...)
}

// found returns where git's folder is, and the top of the work tree; zero if there is none.
func (g gitTree) found() askgit.Repository {
	find := askgit.Find
	if g.within {
		find = askgit.At
	}
	r, _ := find(g.dir)
	return r
}

// inGit reports whether a folder lies in a work tree, as far as names tell; git has the last word.
func inGit(dir string) bool {
	r, _ := askgit.Find(dir)
	return r.Dir != ""
}
