package daemon

import (
	"context"
	"strings"
)

// repositoryOf returns the innermost repository that has a path; nil if git has no word there. s.mu must be held.
func (s *snapshot) repositoryOf(name string) *repository { return repositoryAmong(s.repos, name) }

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
