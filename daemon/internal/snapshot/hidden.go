package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
)

// An agent that adds a rule to an ignore file hides from git the files that it creates. So files that git ignored when the
// turn began stay ignored, and files that only a rule of this turn hides are found like any other. git check-ignore names
// the rule for a file; the former contents of the ignore files show whether the rule was there before.

// Bounds of the search for hidden files.
const (
	rulesMost  = 5000      // ignore files whose former rules are kept
	rulesBytes = 256 << 10 // bytes of one of them
	newDirs    = 2000      // new folders in which ignore files are searched for
	hiddenMost = 50        // files hidden by rules of this turn that are listed all the same; an install creates thousands
)

// An ignoreFile is a file of ignore rules when the turn began.
type ignoreFile struct {
	filestat.Stat
	lines    map[string]bool
	unlisted bool // git did not list it: it was ignored itself
}

func newIgnoreFile(st filestat.Stat, lines []string, listed bool) ignoreFile {
	f := ignoreFile{Stat: st, lines: make(map[string]bool, len(lines)), unlisted: !listed}
	for _, l := range lines {
		f.lines[l] = true
	}
	return f
}

// readRules keeps the rules of the ignore files among files, before anything can have changed them.
func (s *Snapshot) readRules(files []git.Listed, repos []git.Repository) {
	rules := map[string]ignoreFile{} // by their full names
	listed := map[string]bool{}
	keep := func(full string) {
		if _, known := rules[full]; known || len(rules) >= rulesMost {
			return
		}
		st := filestat.Of(full)
		if lines, ok := readLines(full); ok {
			rules[full] = newIgnoreFile(st, lines, listed[full])
		}
	}
	in := map[string]bool{".": true} // those that git ignores, too, count
	var all []string
	for _, l := range files {
		if dir := path.Dir(l.Path); !in[dir] {
			in[dir] = true
			all = append(all, filepath.Join(s.Full(dir), ".gitignore"))
		}
		if isIgnoreFile(l.Path) {
			all = append(all, s.Full(l.Path))
			listed[s.Full(l.Path)] = true
		}
	}
	all = append(all, filepath.Join(s.root, ".gitignore"))
	stats, _ := filestat.All(len(all), func(i int) string { return all[i] }, func() bool { return false })
	for i, full := range all {
		if stats[i].Exists() {
			keep(full)
		}
	}
	for _, r := range repos {
		if exclude := r.Exclude(); exclude != "" {
			listed[exclude] = true
			keep(exclude)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range rules {
		if !s.sure(f.Stat) {
			return // they may be the agent's
		}
	}
	s.rules = rules
}

func readLines(full string) (lines []string, ok bool) {
	st := filestat.Of(full)
	if !st.Mode.IsRegular() || st.Size > rulesBytes {
		return nil, false
	}
	b, err := filestat.ReadRegular(full)
	if err != nil {
		return nil, false
	}
	for line := range strings.Lines(string(b)) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines, true
}

// before reports whether a file was there when the turn began and is unchanged, as far as its times tell.
func (s *Snapshot) before(st filestat.Stat) bool {
	return filestat.ChangeTimes && st.Exists() && st.Changed() < s.began-int64(filestat.RacyTime)
}

// hidden returns the new files that git does not list only because of new rules.
func (s *Snapshot) hidden(ctx context.Context, repos []git.Repository, left *LeftOut) (files []git.Listed) {
	s.mu.Lock()
	known := s.rules != nil
	s.mu.Unlock()
	if !known || !s.ruledAnew(ctx, repos) {
		return nil
	}
	for _, r := range repos {
		names, err := s.hiddenIn(ctx, r)
		if err != nil && ctx.Err() == nil && !errors.Is(err, git.ErrNoRepository) {
			left.hidden = append(left.hidden, "the files that rules of this turn hide from git could not be listed")
			continue
		}
		names, over := s.within(names)
		if over > 0 {
			left.hidden = append(left.hidden, fmt.Sprintf("%d files that this turn's ignore rules hide are not listed for review", over))
		}
		for _, name := range names {
			files = append(files, git.Listed{Path: name})
		}
	}
	return files
}

// within splits the files that rules of the turn hide. list holds those that may be listed; over counts the others. Each
// file counts once.
func (s *Snapshot) within(names []string) (list []string, over int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hid == nil {
		s.hid = map[string]bool{}
	}
	for _, name := range names {
		listed, known := s.hid[name]
		if !known {
			if listed = len(s.hid) < hiddenMost; !listed {
				over++
			}
			s.hid[name] = listed
		}
		if listed {
			list = append(list, name)
		}
	}
	return list, over
}

// ruledAnew reports whether the rules of ignore files may differ from the rules at the turn's beginning.
func (s *Snapshot) ruledAnew(ctx context.Context, repos []git.Repository) bool {
	s.mu.Lock()
	anew, rules := s.reruled, s.rules
	dirs := make([]string, 0, len(s.dirs)+1)
	dirs = append(dirs, ".")
	for dir := range s.dirs {
		dirs = append(dirs, dir)
	}
	s.mu.Unlock()
	if anew {
		return true
	}
	if anew = rulesChanged(rules, repos, s.began); !anew {
		stop := func() bool { return ctx.Err() != nil }
		of := func(i int) string { return s.Full(dirs[i]) }
		ignores, _ := filestat.All(len(dirs), func(i int) string { return filepath.Join(of(i), ".gitignore") }, stop)
		stats, _ := filestat.All(len(dirs), of, stop)
		search := newDirs
		for i := range dirs {
			if _, was := rules[filepath.Join(of(i), ".gitignore")]; !was && ignores[i].Exists() && !s.before(ignores[i]) {
				anew = true
			}
			if stats[i].Mode.IsDir() && !s.before(stats[i]) && s.newRulesIn(dirs[i], &search) {
				anew = true
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reruled = s.reruled || anew
	return anew
}

// rulesChanged reports whether ignore files that were read before a moment now have other rules, or are the first of a repository.
func rulesChanged(rules map[string]ignoreFile, repos []git.Repository, moment int64) bool {
	for full, f := range rules {
		if st := filestat.Of(full); st != f.Stat || st.Racy(moment) {
			if lines, _ := readLines(full); !f.same(lines) {
				return true
			}
		}
	}
	for _, r := range repos {
		if exclude := r.Exclude(); exclude != "" && rules[exclude].lines == nil && filestat.Of(exclude).Exists() {
			return true
		}
	}
	return false
}

func (f ignoreFile) same(lines []string) bool {
	now := make(map[string]bool, len(lines))
	for _, l := range lines {
		if now[l] = true; !f.lines[l] {
			return false
		}
	}
	return len(now) == len(f.lines)
}

// newRulesIn reports whether new folders below dir have ignore files, or are too many to search.
func (s *Snapshot) newRulesIn(dir string, search *int) bool {
	list, err := os.ReadDir(s.Full(dir))
	if err != nil {
		return false
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		if !e.IsDir() || e.Name() == ".git" {
			continue
		}
		s.mu.Lock()
		_, was := s.dirs[name]
		s.mu.Unlock()
		if was || s.before(filestat.Of(s.Full(name))) {
			continue
		}
		if *search--; *search < 0 || filestat.Of(filepath.Join(s.Full(name), ".gitignore")).Exists() || s.newRulesIn(name, search) {
			return true
		}
	}
	return false
}

// hiddenIn is hidden for one repository.
func (s *Snapshot) hiddenIn(ctx context.Context, r git.Repository) ([]string, error) {
	ignored, err := r.IgnoredFiles(ctx)
	if err != nil {
		return nil, err
	}
	var all []git.Listed
	s.mu.Lock()
	for name := range ignored {
		if s.files.get(name) == nil {
			all = append(all, git.Listed{Path: strings.Clone(name)})
		}
	}
	s.mu.Unlock()
	stats, whole := s.lstats(ctx, len(all), func(i int) string { return all[i].Path })
	if !whole {
		return nil, ctx.Err()
	}
	var came []string
	for i, l := range all {
		if stats[i].Exists() && !stats[i].Mode.IsDir() && !s.before(stats[i]) {
			came = append(came, l.Path)
		}
	}
	rules, err := r.Rules(ctx, came)
	if err != nil {
		return nil, err
	}
	return s.notRuledBefore(r, rules), nil
}

// notRuledBefore returns the files whose rules are new since the turn began.
func (s *Snapshot) notRuledBefore(r git.Repository, rules []git.Rule) (names []string) {
	s.mu.Lock()
	before := s.rules
	s.mu.Unlock()
	top, exclude := r.Git.Found().Top, r.Exclude()
	now := map[string][]string{} // the lines of ignore files
	stood := func(rule git.Rule) bool {
		full := rule.Source
		switch {
		case !filepath.IsAbs(full):
			full = filepath.Join(top, filepath.FromSlash(full))
		case r.Git.Guard.Made(full):
			full = exclude
		}
		old, known := before[full]
		if !known || old.unlisted {
			// Git did not list the file before: it was not there, or ignored.
			born, ok := filestat.Born(full)
			return s.before(filestat.Of(full)) || ok && born < s.began-int64(filestat.RacyTime)
		}
		if _, read := now[full]; !read {
			now[full], _ = readLines(full)
		}
		return rule.Line < 1 || rule.Line > len(now[full]) || old.lines[now[full][rule.Line-1]]
	}
	for _, rule := range rules {
		if !stood(rule) {
			names = append(names, rule.Path)
		}
	}
	return names
}
