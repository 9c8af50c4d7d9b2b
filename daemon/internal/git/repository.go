package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

// repositoriesMax bounds how many nested repositories are listed.
const repositoriesMax = 32

// A Repository is a git work tree with files of the workspace: the work tree around the root, or one nested in the
// workspace. A nested one may be a submodule.
type Repository struct {
	At  string // its folder in the workspace and a slash; "" is the root
	Git Tree
	Is  askgit.Repository // the repository when it was first listed
	// Index is the state of git's index when the repository was listed; zero if it has none, or if it changed meanwhile.
	Index filestat.Stat
	was   Tree // returns contents by their ids even if the repository changes later; its view is nil if that is impossible
}

// A Repositories is git's answer about the work trees in a workspace.
type Repositories struct {
	All    []Repository // the root's repository is the first
	Files  []Listed
	IDs    *IDs            // of Files
	Early  int             // how many of Files, the first ones, were told early
	Nested map[string]bool // folders of nested repositories with unknown contents; the value false means that a repository is only expected there
}

// List lists the work tree at the root and the nested ones. early, if not nil, gets the files of the root's index while git looks for
// others; it must not change them. Nested repositories that cannot be
// listed are in Nested.
func List(ctx context.Context, root string, guard *askgit.Guard, early func([]Listed)) (r Repositories, err error) {
	r.Nested, r.IDs = map[string]bool{}, &IDs{}
	for queue := []Repository{{Git: Tree{Dir: root, Guard: guard}}}; len(queue) > 0; queue = queue[1:] {
		repo := queue[0]
		repo.Is = repo.Git.Found()
		repo.Index = repo.index()
		files, told, nested, err := repo.list(ctx, r.IDs, early, nil)
		early = nil
		if err != nil {
			if repo.At == "" {
				return r, err
			}
			r.Nested[strings.TrimSuffix(repo.At, "/")] = true
			continue
		}
		if repo.index() != repo.Index {
			repo.Index = filestat.Stat{}
		}
		r.All = append(r.All, repo.By(ctx, guard))
		if r.Early += told; len(r.Files) == 0 {
			r.Files = files
		} else {
			r.Files = append(r.Files, files...)
		}
		for _, dir := range nested {
			sub := Repository{At: dir + "/", Git: Tree{Dir: filepath.Join(root, filepath.FromSlash(dir)), Within: true, Guard: guard}}
			if !sub.There() || len(r.All)+len(queue) > repositoriesMax {
				r.Nested[strings.Clone(dir)] = sub.There() // dir is a part of all that git said
				continue
			}
			queue = append(queue, sub)
		}
	}
	return r, nil
}

// By returns the repository for questions by a guard. Its objects are those of its present state.
func (r Repository) By(ctx context.Context, guard *askgit.Guard) Repository {
	r.Git.Guard, r.was = guard, Tree{}
	if v, err := r.Git.open(ctx); err == nil {
		r.was = r.Git
		r.was.was = v.Alone()
	}
	return r
}

// List lists the repository's files, by paths of the workspace and without their object ids. Some of the known ones are left out.
func (r Repository) List(ctx context.Context, known func(path string) bool) (files []Listed, nested []string, err error) {
	name := []byte(r.At)
	files, _, nested, err = r.list(ctx, nil, nil, func(path []byte) bool {
		name = append(name[:len(r.At)], path...)
		return known(string(name))
	})
	return files, nested, err
}

func (r Repository) list(ctx context.Context, ids *IDs, indexed func([]Listed), skip func(path []byte) bool) (files []Listed, early int, nested []string, err error) {
	files, early, nested, err = r.Git.list(ctx, ids, indexed, skip)
	if r.At != "" {
		for i := range files {
			files[i].Path = r.At + files[i].Path
		}
		for i := range nested {
			nested[i] = r.At + nested[i]
		}
	}
	return files, early, nested, err
}

// Compare has git compare the contents of the repository's files among some with its index. Among are all repositories.
func (r Repository) Compare(ctx context.Context, files []Listed, among []Repository) error {
	differ, err := r.Git.differing(ctx)
	if err == nil && r.index() != r.Index {
		err = errIndexChanged
	}
	if err != nil {
		return err
	}
	for i := range files {
		l := &files[i]
		if l.seen != 0 && Among(among, l.Path).At == r.At {
			l.Dirty, l.seen = l.Dirty || differ[strings.TrimPrefix(l.Path, r.At)], 0
		}
	}
	return nil
}

var errIndexChanged = errors.New("git's index has changed since")

func (r Repository) index() filestat.Stat {
	found := r.Git.Found()
	if found.Dir == "" {
		return filestat.Stat{}
	}
	return filestat.Of(filepath.Join(found.Dir, "index"))
}

// There reports whether a nested repository still exists, and no link leads out of the workspace to it.
func (r Repository) There() bool {
	resolved, err := filepath.EvalSymlinks(r.Git.Dir)
	return err == nil && resolved == filepath.Clean(r.Git.Dir) && filestat.Of(filepath.Join(r.Git.Dir, ".git")).Exists()
}

// Among returns the innermost of some repositories that contains a path; nil if none does.
func Among(repos []Repository, name string) (of *Repository) {
	for i := range repos {
		r := &repos[i]
		if strings.HasPrefix(name, r.At) && (of == nil || len(r.At) > len(of.At)) {
			of = r
		}
	}
	return of
}

// Exclude returns the absolute path of the repository's own ignore file (info/exclude); "" if it can have none.
func (r Repository) Exclude() string {
	common, err := r.Git.Found().Common()
	if err != nil {
		return ""
	}
	return filepath.Join(common, "info", "exclude")
}
