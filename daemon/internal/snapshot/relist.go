package snapshot

import (
	"context"
	"strings"

	"cursord/daemon/internal/git"
)

// repositoryOf returns the innermost repository that holds a path, or nil if none does. s.mu must be held.
func (s *Snapshot) repositoryOf(name string) *git.Repository { return git.Among(s.repos, name) }

// relist lists the present files, as far as possible. It notes which nested repositories have come and gone, because their
// contents are unknown.
func (s *Snapshot) relist(ctx context.Context, left *LeftOut) (files []git.Listed) {
	s.mu.Lock()
	repos := s.repos
	s.mu.Unlock()
	if len(repos) == 0 {
		w := walk(ctx, s.root, walking{})
		s.tellCut(w.cut && ctx.Err() == nil, left)
		return s.control(w.files, nil)
	}
	var kept []git.Repository
	known := map[string]bool{}
	for _, r := range repos {
		if dir := strings.TrimSuffix(r.At, "/"); r.At != "" && !r.There() {
			left.gone = append(left.gone, dir)
			known[dir] = true
			continue
		} else if r.At != "" {
			known[dir] = true
		}
		kept = append(kept, r)
	}
	var within []string
	var byGit []git.Repository // in the other repositories, all files are listed
	for _, r := range kept {
		list, nested, err := s.listNow(ctx, r, left)
		if err != nil && ctx.Err() == nil || r.Git.Found() != r.Is {
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
		for name := range s.files.all() {
			if strings.HasPrefix(name, dir+"/") {
				s.files.delete(name)
			}
		}
	}
	for _, dir := range within {
		r := git.Repository{At: dir + "/", Git: git.Tree{Dir: s.Full(dir), Within: true, Guard: s.guard}}
		if !known[dir] && !s.nested[dir] && r.There() {
			s.nested[dir] = true
			left.made = append(left.made, dir)
		}
	}
	return files
}

// walkWithin lists the files in the folder of a repository that git can no longer list. Ignored files are among them; files
// of nested repositories are not.
func (s *Snapshot) walkWithin(ctx context.Context, r git.Repository, repos []git.Repository, left *LeftOut) (files []git.Listed) {
	w := walk(ctx, s.Full(strings.TrimSuffix(r.At, "/")), walking{})
	s.tellCut(w.cut && ctx.Err() == nil, left)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reruled = true
	for _, l := range w.files {
		l.Path = r.At + l.Path
		if of := git.Among(repos, l.Path); of != nil && of.At == r.At {
			files = append(files, l)
		}
	}
	return files
}

// tellCut notes, once, that a walk has reached its limits.
func (s *Snapshot) tellCut(cut bool, left *LeftOut) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left.cut = left.cut || cut && !s.cut
	s.cut = s.cut || cut
}
