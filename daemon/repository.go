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

// repositoryOf returns the innermost repository that has a path; nil if git has no word there. s.mu must be held.
func (s *snapshot) repositoryOf(name string) *repository { return repositoryAmong(s.repos, name) }

func repositoryAmong(repos []repository, name string) (of *repository) {
	for i := range repos {
		r := &repos[i]
		if strings.HasPrefix(name, r.at) && (of == nil || len(r.at) > len(of.at)) {
			of = r
		}
	}
	return of
}

// relist names the files that are there now, as far as they can be listed, and notes which repositories within have
// come and gone: about what they hold nothing can be said.
func (s *snapshot) relist(ctx context.Context, left *leftOut) (files []listed) {
	s.mu.Lock()
	repos := s.repos
	s.mu.Unlock()
	if len(repos) == 0 {
		w := walk(ctx, s.root)
		s.tellCut(w.cut && ctx.Err() == nil, left)
		return s.control(w.files, nil)
	}
	var kept []repository
	known := map[string]bool{}
	for _, r := range repos {
		if dir := strings.TrimSuffix(r.at, "/"); r.at != "" && !r.there() {
			left.gone = append(left.gone, dir)
			known[dir] = true
			continue
		} else if r.at != "" {
			known[dir] = true
		}
		kept = append(kept, r)
	}
	var within []string
	var byGit []repository // of the others, all is listed that is there
	for _, r := range kept {
		list, nested, err := s.listNow(ctx, r, left)
		if err != nil && ctx.Err() == nil || r.git.found() != r.is {
			list, nested = s.walkWithin(ctx, r, kept, left), nil
		} else {
			byGit = append(byGit, r)
		}
		files, within = append(files, list...), append(within, nested...)
	}
	if len(byGit) > 0 {
		files = append(files, s.hidden(ctx, byGit, left)...)
	}
	files = s.control(files, kept)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos = kept
	for _, dir := range left.gone {
		s.nested[dir] = false
		for name := range s.files {
			if strings.HasPrefix(name, dir+"/") {
				delete(s.files, name)
			}
		}
	}
	for _, dir := range within {
		r := repository{at: dir + "/", git: gitTree{dir: s.full(dir), within: true, guard: s.guard}}
		if !known[dir] && !s.nested[dir] && r.there() {
			s.nested[dir] = true
			left.made = append(left.made, dir)
		}
	}
	return files
}

// walkWithin names the files in the folder of a repository that git cannot list as it did when the turn began, without those
// of other repositories within. What git ignored is among them.
func (s *snapshot) walkWithin(ctx context.Context, r repository, repos []repository, left *leftOut) (files []listed) {
	w := walk(ctx, s.full(strings.TrimSuffix(r.at, "/")))
	s.tellCut(w.cut && ctx.Err() == nil, left)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reruled = true
	for _, l := range w.files {
		l.path = r.at + l.path
		if of := repositoryAmong(repos, l.path); of != nil && of.at == r.at {
			files = append(files, l)
		}
	}
	return files
}

// tellCut says, once, that a walk has reached its limits.
func (s *snapshot) tellCut(cut bool, left *leftOut) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left.cut = left.cut || cut && !s.cut
	s.cut = s.cut || cut
}
