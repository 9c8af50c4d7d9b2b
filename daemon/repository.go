package daemon

import (
	"context"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

// repositoriesMax bounds the repositories within a workspace that are looked into.
const repositoriesMax = 32

// A repository is a git work tree with files of the workspace: the one that the root is in, or one within it, be it a
// submodule of another or not.
type repository struct {
	at  string // its folder in the workspace and a slash; "" is the root
	git gitTree
	is  askgit.Repository // when it was listed first
	was gitTree           // asks for contents by their ids, whatever becomes of the repository; its view is nil if that cannot be
}

// A repositories is what git says of the work trees in a workspace.
type repositories struct {
	all    []repository // the root's is the first
	files  []listed
	nested map[string]bool // folders with repositories of which nothing is known; whether there is one, or only to be
}

// listRepositories lists the work tree at the root and those within; dirty as in list.
func listRepositories(ctx context.Context, root string, guard *askgit.Guard, dirty bool) (r repositories, err error) {
	r.nested = map[string]bool{}
	for queue := []repository{{git: gitTree{dir: root, guard: guard}}}; len(queue) > 0; queue = queue[1:] {
		repo := queue[0]
		repo.is = repo.git.found()
		files, nested, err := repo.list(ctx, dirty)
		if err != nil {
			if repo.at == "" {
				return r, err
			}
			r.nested[strings.TrimSuffix(repo.at, "/")] = true
			continue
		}
		if v, err := repo.git.open(ctx); err == nil {
			repo.was = repo.git
			repo.was.was = v.Alone()
		}
		r.all = append(r.all, repo)
		r.files = append(r.files, files...)
		for _, dir := range nested {
			sub := repository{at: dir + "/", git: gitTree{dir: filepath.Join(root, filepath.FromSlash(dir)), within: true, guard: guard}}
			if !sub.there() || len(r.all)+len(queue) > repositoriesMax {
				r.nested[dir] = sub.there()
				continue
			}
			queue = append(queue, sub)
		}
	}
	return r, nil
}

// list is git's list with the workspace's paths.
func (r repository) list(ctx context.Context, dirty bool) (files []listed, nested []string, err error) {
	files, nested, err = r.git.list(ctx, dirty)
	if r.at != "" {
		for i := range files {
			files[i].path = r.at + files[i].path
		}
		for i := range nested {
			nested[i] = r.at + nested[i]
		}
	}
	return files, nested, err
}

// there reports whether a repository within the workspace is there, and no link leads out to it.
func (r repository) there() bool {
	resolved, err := filepath.EvalSymlinks(r.git.dir)
	return err == nil && resolved == filepath.Clean(r.git.dir) && filestat.Of(filepath.Join(r.git.dir, ".git")).Exists()
}

// repositoryAmong returns the innermost of some repositories that has a path; nil if git has no word there.
func repositoryAmong(repos []repository, name string) (of *repository) {
	for i := range repos {
		r := &repos[i]
		if strings.HasPrefix(name, r.at) && (of == nil || len(r.at) > len(of.at)) {
			of = r
		}
	}
	return of
}
