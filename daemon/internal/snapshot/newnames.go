package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/internal/treewatch"
	"cursord/daemon/paths"
)

// Listing a workspace costs what it holds. But a name that comes or goes changes its folder's state. So where the states of folders
// tell that (filestat.Tells), the folders that were listed once are looked at, those that have changed are read, and git is asked for
// the new names alone: whether it ignores them. What git lists otherwise depends on the ignore files, which are looked at too, on its index
// and its settings: a turn that begins with others lists all anew (kept.go). If a look cannot tell all, git is asked for its list.

// lookMost is how many new names are asked for; beyond it git lists all.
const lookMost = 20_000

// folders returns the folders of a workspace: of the listed files and, if the folders were read, all; and those of
// which a later look tells whether there are new names in them.
func (s *Snapshot) folders(files *table, list listing) (dirs map[string]inode, looked map[string]filestat.Stat) {
	names, within := []string{"."}, map[string]uint64{".": 0} // folders that are known in each
	add := func(dir string) {
		for ; ; dir = paths.Parent(dir) {
			if _, known := within[dir]; known {
				return
			}
			names, within[dir] = append(names, dir), 0
		}
	}
	for _, dir := range list.dirs {
		add(dir)
	}
	last := "."
	for i := range files.len() {
		if dir := paths.Parent(files.name(i)); dir != last && len(list.repos) > 0 {
			add(dir)
			last = dir
		}
	}
	for _, dir := range names[1:] {
		within[paths.Parent(dir)]++
	}
	stats, links := make([]filestat.Stat, len(names)), make([]uint64, len(names))
	filestat.Each(len(names), func(i int) { stats[i], links[i] = filestat.Linked(s.Full(names[i])) }, func() bool { return false })
	dirs, looked = make(map[string]inode, len(names)), make(map[string]filestat.Stat, len(names))
	tell := map[uint64]filestat.Telling{}
	for i, dir := range names {
		st := stats[i]
		if dir != "." {
			dirs[dir] = inode{st.Dev, st.Ino}
		}
		how, known := tell[st.Dev]
		if !known {
			how = filestat.Tells(s.Full(dir))
			tell[st.Dev] = how
		}
		byWalk := len(list.repos) == 0
		switch {
		case how == filestat.TellsNothing:
			looked = nil
		case looked == nil || byWalk && !list.whole[dir] || inGit(dir):
		case st.Racy(s.began) || !byWalk && (how != filestat.TellsFolders || links[i] != 2+within[dir]):
			looked[dir] = filestat.Stat{}
		default:
			looked[dir] = st
		}
	}
	return dirs, looked
}

// A looking says what is known before folders are looked at.
type looking struct {
	looked map[string]filestat.Stat // as in Snapshot
	dirs   map[string]inode
	nested map[string]bool
	repos  []git.Repository
	rules  map[string]ignoreFile
	have   func(name string) bool         // whether it is a known file
	stood  func(rules filestat.Stat) bool // whether an ignore file in a folder that was not read counts
	watch  *treewatch.Watch               // of folders that are read
	seen   *evidence
}

// news are what a look has found.
type news struct {
	files   []git.Listed             // new files and links that git does not ignore
	looked  map[string]filestat.Stat // folders that were read, new ones too, as in Snapshot
	dirs    map[string]inode         // these folders, and new ones that are not read
	whole   map[string]bool          // folders all of whose names were seen
	rules   map[string]ignoreFile    // in new folders
	gone    []string                 // folders that are gone
	unknown map[string]bool          // the folders that hold new names which git does not ignore
	doubt   bool                     // the evidence has left out something
}

type lookedAt struct {
	dir string
	is  filestat.Stat
}

func (s *Snapshot) looking(ev *evidence) looking {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := func(name string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.files.has(name)
	}
	return looking{s.looked, s.dirs, maps.Clone(s.nested), s.repos, s.rules, have, s.before, s.sight.watch, ev}
}

// look finds the names that have come to the folders since they were read. It returns false if only a list of all files tells.
func (s *Snapshot) look(ctx context.Context, was looking) (n news, ok bool) {
	if was.looked == nil {
		return n, false
	}
	n = news{
		looked: map[string]filestat.Stat{}, dirs: map[string]inode{}, whole: map[string]bool{}, rules: map[string]ignoreFile{}, unknown: map[string]bool{},
	}
	began := clock.Now()
	s.mu.Lock()
	dirs, states := make([]string, 0, len(was.looked)), make([]filestat.Stat, 0, len(was.looked))
	for dir, st := range was.looked {
		dirs, states = append(dirs, dir), append(states, st)
	}
	s.mu.Unlock()
	stats, whole := s.lstats(ctx, len(dirs), func(i int) string { return dirs[i] })
	if !whole {
		return n, false
	}
	var queue []lookedAt
	for i, dir := range dirs {
		switch is := stats[i]; {
		case !is.Exists():
			n.gone = append(n.gone, dir)
		case !is.Mode.IsDir():
			return n, false // perhaps a link, beyond which its files seem to be
		case was.seen != nil && dir != "." && was.dirs[dir] != inode{is.Dev, is.Ino}:
			n.doubt = true // another folder, whose files are others
			queue = append(queue, lookedAt{dir, is})
		case is != states[i]:
			n.doubt = n.doubt || states[i].Exists() && !was.seen.explains(dir)
			queue = append(queue, lookedAt{dir, is})
		}
	}
	for asked := 0; len(queue) > 0; {
		var names []fs.DirEntry
		var came []string
		for _, at := range queue {
			if !was.watch.Covers(at.dir) && was.watch.Cover(at.dir) { // from before it is read
				at.is = filestat.Of(s.Full(at.dir))
			}
			list, err := os.ReadDir(s.Full(at.dir))
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) || ctx.Err() != nil {
				return n, false
			}
			n.dirs[at.dir], n.looked[at.dir] = inode{at.is.Dev, at.is.Ino}, at.is
			if n.whole[at.dir] = err == nil; err != nil || at.is.Racy(began) {
				n.looked[at.dir] = filestat.Stat{}
			}
			for _, e := range list {
				name := path.Join(at.dir, e.Name())
				new, sure := s.isNew(was, name, e)
				if !sure && !s.newRules(was, name, n.rules) {
					return n, false
				}
				if new {
					names, came = append(names, e), append(came, name)
				}
			}
		}
		if asked += len(came); asked > lookMost {
			return n, false
		}
		hidden, ok := s.hides(ctx, was.repos, came)
		if !ok {
			return n, false
		}
		queue = queue[:0]
		for i, name := range came {
			if hidden[name] {
				continue
			}
			n.unknown[path.Dir(name)] = true
			is := filestat.Of(s.Full(name))
			switch {
			case !names[i].IsDir():
				n.files = append(n.files, git.Listed{Path: name})
			case !is.Mode.IsDir() || filestat.Tells(s.Full(name)) == filestat.TellsNothing:
				return n, false
			case len(was.repos) == 0 && skipped(names[i].Name()):
				n.dirs[name] = inode{is.Dev, is.Ino}
			default:
				queue = append(queue, lookedAt{name, is})
			}
		}
	}
	return n, true
}

// isNew reports whether a name in a folder is to be looked at; sure is false if only a list of all files tells what it is.
func (s *Snapshot) isNew(was looking, name string, e fs.DirEntry) (new, sure bool) {
	byGit := len(was.repos) > 0
	switch {
	case e.Name() == ".git" && byGit:
		dir := strings.TrimPrefix(path.Dir(name)+"/", "./")
		return false, slices.ContainsFunc(was.repos, func(r git.Repository) bool { return r.At == dir }) || was.nested[path.Dir(name)]
	case e.IsDir():
		_, known := was.dirs[name]
		_, nested := was.nested[name]
		return !known && !nested, true
	case was.have(name):
		return false, true
	case byGit && isIgnoreFile(name): // whatever it is: git would wait for a FIFO
		_, known := was.rules[s.Full(name)]
		return true, known
	}
	return e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0, true
}

// newRules takes in an ignore file in a folder whose names nobody has known, and returns false for any other.
func (s *Snapshot) newRules(was looking, name string, rules map[string]ignoreFile) bool {
	full := s.Full(name)
	st := filestat.Of(full)
	lines, ok := readLines(full)
	if _, known := was.dirs[path.Dir(name)]; known || path.Dir(name) == "." || path.Base(name) != ".gitignore" || !ok || !was.stood(st) {
		return false
	}
	rules[full] = newIgnoreFile(st, lines, false)
	return true
}

// hides returns which of some new names git ignores.
func (s *Snapshot) hides(ctx context.Context, repos []git.Repository, names []string) (hidden map[string]bool, ok bool) {
	hidden = map[string]bool{}
	if len(repos) == 0 || len(names) == 0 {
		return hidden, true
	}
	if s.guard != nil && s.guard.Slow != nil && s.guard.Slow.Load() {
		return nil, false
	}
	asked, cancel := context.WithTimeout(ctx, s.patience(ScanTime))
	defer cancel()
	of := map[*git.Repository][]string{}
	for _, name := range names {
		r := git.Among(repos, name)
		of[r] = append(of[r], name)
	}
	for r, names := range of {
		in, err := r.Hidden(asked, names)
		if err != nil {
			return nil, false
		}
		for name := range in {
			hidden[name] = true
		}
	}
	return hidden, true
}

// inGit reports whether a folder is git's or lies in it.
func inGit(dir string) bool { return strings.Contains("/"+dir+"/", "/.git/") }

// names lists the files that may be new. It need not list others.
func (s *Snapshot) names(ctx context.Context, left *LeftOut) []git.Listed {
	if files, _, ok := s.newNames(ctx, nil); ok {
		return files
	}
	return s.relist(ctx, left)
}

func (s *Snapshot) newNames(ctx context.Context, ev *evidence) (files []git.Listed, n news, ok bool) {
	was := s.looking(ev)
	s.mu.Lock()
	known := was.looked != nil && !s.reruled && !s.cut && (len(was.repos) == 0 || was.rules != nil)
	s.mu.Unlock()
	if !known || len(was.rules) >= rulesMost || !s.unmoved(was.repos, was.nested) || rulesChanged(was.rules, was.repos, s.began) {
		return nil, n, false
	}
	if n, ok = s.look(ctx, was); !ok {
		return nil, n, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir, is := range n.looked {
		if _, known := s.looked[dir]; known && !n.unknown[dir] {
			s.looked[dir] = is
		}
	}
	return s.control(n.files, was.repos), n, true
}

// unmoved reports whether repositories are where they were, and none has come where one was missing.
func (s *Snapshot) unmoved(repos []git.Repository, nested map[string]bool) bool {
	for _, r := range repos {
		if r.At != "" && !r.There() || r.Git.Found() != r.Is {
			return false
		}
	}
	for dir, there := range nested {
		if there || filestat.Of(s.Full(dir+"/.git")).Exists() {
			return false
		}
	}
	return true
}
