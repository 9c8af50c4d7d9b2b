package copytree

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

// A scan lists one tree: the paths that belong to it, without their contents.
type scan struct {
	base  string
	guard *askgit.Guard
	repos map[string]git // where git lists, by folder; "." is the whole
	copy  bool           // base is the copy: repos are those of the real tree, and no others are looked for
	max   int

	files []listed
	empty []string // empty folders
	notes []Note
	index hash.Hash // hash of the index of the workspace's repository
}

// A listed is one file or link, by its name.
type listed struct {
	path string
	oid  string // what the index has; "" for what it does not have
}

// A Note says what the copy lacks, or where it differs.
type Note struct {
	Path string // relative to the workspace
	Text string // for people
}

// scanReal lists a workspace; repos are the repositories that it found.
func scanReal(ctx context.Context, guard *askgit.Guard, root string, top git, max int) (*scan, error) {
	s := &scan{base: root, guard: guard, repos: map[string]git{}, max: max, index: sha256.New()}
	if top.dir != "" {
		s.repos["."] = top
	}
	return s, s.folder(ctx, ".")
}

// scanCopy lists the copy of a workspace by the rules of the workspace's repositories, because the agent may change the
// copy's own.
func scanCopy(ctx context.Context, base string, repos map[string]git, max int) (*scan, error) {
	s := &scan{base: base, repos: map[string]git{}, copy: true, max: max, index: sha256.New()}
	for dir, g := range repos {
		in := filepath.Join(base, filepath.FromSlash(dir))
		top := in
		if rel, err := filepath.Rel(g.tree, g.in); err == nil && rel != "." {
			top = strings.TrimSuffix(in, string(filepath.Separator)+rel)
		}
		if filestat.Of(in).Mode.IsDir() && filestat.Of(g.dir).Mode.IsDir() {
			s.repos[dir] = git{dir: g.dir, tree: top, in: in, guard: g.guard, of: g.tree}
		}
	}
	if _, ok := s.repos["."]; !ok {
		return s, s.folder(ctx, ".")
	}
	for dir := range s.repos {
		err := s.folder(ctx, dir)
		if askgit.Blocked(err) && ctx.Err() == nil {
			// The rules that the agent has made in the copy apply instead. It is better to list ignored files than none.
			s = &scan{base: base, repos: map[string]git{}, copy: true, max: max, index: sha256.New()}
			return s, s.folder(ctx, ".")
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// folder lists a folder that is in no repository.
func (s *scan) folder(ctx context.Context, dir string) error {
	if g, ok := s.repos[dir]; ok {
		return s.listGit(ctx, dir, g)
	}
	_, err := s.walk(ctx, dir)
	return err
}

func (s *scan) add(l listed) error {
	s.files = append(s.files, l)
	if len(s.files) > s.max {
		return Options{MaxFiles: s.max}.tooManyFiles()
	}
	return nil
}

func (s *scan) full(p string) string { return filepath.Join(s.base, filepath.FromSlash(p)) }

func (s *scan) note(p, text string) { s.notes = append(s.notes, Note{p, text}) }

// listGit lists the files of the index, and those that are neither there nor ignored.
func (s *scan) listGit(ctx context.Context, dir string, g git) error {
	out, err := g.run(ctx, nil, "ls-files", "-z", "-v", "--stage", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	var nested []string
	last := ""
	for rest := string(out); rest != ""; {
		rec, tail, ended := strings.Cut(rest, "\x00")
		rest = tail
		if !ended || len(rec) < 3 || rec[1] != ' ' {
			return fmt.Errorf("git listed %.100q", rec)
		}
		l, gitlink := listed{path: path.Join(dir, strings.TrimSuffix(rec[2:], "/"))}, strings.HasSuffix(rec, "/")
		if rec[0] != '?' {
			info, name, ok := strings.Cut(rec[2:], "\t")
			f := strings.Fields(info)
			if !ok || len(f) != 3 {
				return fmt.Errorf("git listed %.100q", rec)
			}
			l, gitlink = listed{path: path.Join(dir, name), oid: f[1]}, f[0] == "160000"
			if dir == "." {
				s.index.Write([]byte(rec + "\x00"))
			}
		}
		switch {
		case gitlink:
			nested = append(nested, l.path)
		case s.copy && s.elsewhere(l.path, dir):
		case l.path == last: // a conflict lists a path up to three times
		default:
			if err := s.add(l); err != nil {
				return err
			}
		}
		last = l.path
	}
	for _, n := range nested {
		if err := s.nested(ctx, n); err != nil {
			return err
		}
	}
	return s.listEmpty(ctx, dir, g)
}

// elsewhere reports whether a repository other than dir's lists a path.
func (s *scan) elsewhere(p, dir string) bool {
	for at := path.Dir(p); at != dir && at != "."; at = path.Dir(at) {
		if _, ok := s.repos[at]; ok {
			return true
		}
	}
	return false
}

// nested lists a nested repository: a submodule, or any other.
func (s *scan) nested(ctx context.Context, dir string) error {
	if s.copy {
		if _, ok := s.repos[dir]; ok {
			return nil // it is listed on its own
		}
	} else if err := s.adopt(ctx, dir); err != nil {
		return err
	}
	if !filestat.Of(s.full(dir)).Mode.IsDir() {
		return nil
	}
	return s.folder(ctx, dir)
}

// adopt lists with git a folder that is a repository of its own.
func (s *scan) adopt(ctx context.Context, dir string) error {
	full := s.full(dir)
	if !filestat.Of(filepath.Join(full, ".git")).Exists() {
		return nil
	}
	if g, ok := findGit(ctx, s.guard, full); ok && g.tree == full {
		s.repos[dir] = g
		s.note(dir, "a repository within: copied without its .git")
	}
	return ctx.Err()
}

// listEmpty lists the empty folders, which git does not name itself.
func (s *scan) listEmpty(ctx context.Context, dir string, g git) error {
	out, err := g.run(ctx, nil, "ls-files", "-z", "--others", "--directory", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name, isDir := strings.CutSuffix(name, "/"); isDir {
			s.emptyIn(path.Join(dir, name))
		}
	}
	return nil
}

// emptyIn lists the empty folders below dir. Folders with files need no entry.
func (s *scan) emptyIn(dir string) {
	if _, ok := s.repos[dir]; ok {
		return
	}
	entries, err := os.ReadDir(s.full(dir))
	if err != nil {
		return
	}
	if len(entries) == 0 {
		s.empty = append(s.empty, dir)
	}
	for _, e := range entries {
		if e.IsDir() && !isGit(e.Name()) {
			s.emptyIn(path.Join(dir, e.Name()))
		}
	}
}

// walk lists everything in a folder without git, and reports whether it is empty.
func (s *scan) walk(ctx context.Context, dir string) (empty bool, err error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	entries, err := os.ReadDir(s.full(dir))
	if err != nil {
		if dir == "." {
			return false, err
		}
		s.note(dir, "left out: "+cause(err))
		return false, nil
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case isGit(e.Name()):
		case e.IsDir():
			if err := s.nestedIn(ctx, p); err != nil {
				return false, err
			}
		case e.Type()&^fs.ModeSymlink != 0:
			s.note(p, "left out: "+errOdd.Error())
		default:
			if err := s.add(listed{path: p}); err != nil {
				return false, err
			}
		}
	}
	return len(entries) == 0, nil
}

func (s *scan) nestedIn(ctx context.Context, dir string) error {
	if !s.copy {
		if err := s.adopt(ctx, dir); err != nil {
			return err
		}
	}
	if g, ok := s.repos[dir]; ok {
		return s.listGit(ctx, dir, g)
	}
	empty, err := s.walk(ctx, dir)
	if empty {
		s.empty = append(s.empty, dir)
	}
	return err
}

func isGit(name string) bool { return strings.EqualFold(name, ".git") }

// cause returns an error's reason, without the path, which is named already.
func cause(err error) string {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err.Error()
	}
	return err.Error()
}
