package snapshot

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/internal/treewatch"
	"cursord/daemon/paths"
)

// Looking at the states of all files costs what the tree holds. So the folders are watched (package treewatch), and where the watch has
// lost nothing, only those files are looked at of which it does not tell that they are unchanged. The states of folders are looked at
// all the same: they cost little, and if one has changed of which the watch has told nothing, the watch is not believed. The watch does not
// tell of changes by some other names. So all files are looked at before a turn ends (ahead.go), and when one begins long after all were
// looked at.

// fullEvery is after how long a turn begins with a look at all files.
const fullEvery = time.Hour

// A sight is what is known of a tree's files besides their states, so that not all of them have to be looked at again.
type sight struct {
	watch    *treewatch.Watch // nil: nothing is known
	mark     treewatch.Mark   // a moment before the files were looked at, since which the watch tells their changes
	restless []string         // files of the table that are always looked at: they were just changed, or lie in no folder that is looked at
	linked   []string         // files that have several names, and may change by another one
	full     int64            // when all files were looked at, a moment of package clock
}

// An evidence says which files have to be looked at; nil: all.
type evidence struct {
	mark    treewatch.Mark
	changed []string        // paths that may have changed
	in      map[string]bool // these, and their folders
	bare    map[string]bool // folders that were not watched
}

// since returns the evidence of what has changed in folders.
func (v sight) since(folders map[string]filestat.Stat) *evidence {
	if v.watch == nil {
		return nil
	}
	changed, mark, ok := v.watch.Since(v.mark)
	if !ok {
		return nil
	}
	ev := &evidence{mark, changed, make(map[string]bool, 2*len(changed)), map[string]bool{}}
	for _, name := range changed {
		ev.in[name], ev.in[paths.Parent(name)] = true, true
	}
	for dir := range folders {
		if !v.watch.Covers(dir) {
			ev.bare[dir] = true
			v.watch.Cover(dir)
		}
	}
	return ev
}

// explains reports whether a change of a folder's state is no surprise.
func (ev *evidence) explains(dir string) bool { return ev == nil || ev.in[dir] || ev.bare[dir] }

// watchAnew watches folders from now on, and nothing that was watched before.
func (s *Snapshot) watchAnew(folders map[string]filestat.Stat) (v sight) {
	if s.isolated || s.keeper == nil || !filestat.ChangeTimes {
		return v
	}
	if v.watch = s.keeper.newWatch(s.root); v.watch == nil {
		return v
	}
	v.cover(folders)
	_, v.mark, _ = v.watch.Since(0)
	return v
}

// cover watches folders, too.
func (v sight) cover(folders map[string]filestat.Stat) {
	for _, dir := range slices.Sorted(maps.Keys(folders)) { // each before those in it: so a folder that is moved meanwhile is noticed
		v.watch.Cover(dir)
	}
}

// watchAll is watchAnew for the folders of a listing, some of which may be watched.
func (s *Snapshot) watchAll(list listing) sight {
	folders, last := map[string]filestat.Stat{".": {}}, "."
	add := func(dir string) {
		for ; !inGit(dir); dir = paths.Parent(dir) {
			if _, known := folders[dir]; known {
				return
			}
			folders[dir] = filestat.Stat{}
		}
	}
	for _, dir := range list.dirs {
		if list.whole[dir] {
			add(dir)
		}
	}
	files := list.files
	if list.sight.watch != nil {
		files = files[len(list.stats):] // the folders of the others are watched
	}
	for _, l := range files {
		if dir := paths.Parent(l.Path); dir != last {
			add(dir)
			last = dir
		}
	}
	if list.sight.watch != nil {
		list.sight.cover(folders)
		return list.sight
	}
	return s.watchAnew(folders)
}

// newWatch returns a watch in the place of the present one; nil if there can be none.
func (k *keeper) newWatch(root string) *treewatch.Watch {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.watch.Close()
	if k.watch = nil; !k.closed {
		k.watch = treewatch.New(root)
	}
	return k.watch
}

// Watch returns the watch of the tree's folders; nil if there is none.
func (l *List) Watch() *treewatch.Watch {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	return l.kept.watch
}

// Close ends what goes on between snapshots. Those that are taken later look at all files.
func (l *List) Close() {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	l.kept.watch.Close()
	l.kept.watch, l.kept.closed = nil, true
	l.kept.outdate()
}

// restless returns the files of the table that a sight has as such.
func (t *table) restless(looked map[string]filestat.Stat) (names []string) {
	last, in := "", false
	for i := range t.len() {
		name := t.name(i)
		if dir := paths.Parent(name); dir != last {
			_, in = looked[dir]
			last = dir
		}
		if !in || t.racy[i] {
			names = append(names, name)
		}
	}
	return names
}

// linkedOf returns the paths that have an entry in names.
func linkedOf(path func(int) string, names map[int]uint64) []string {
	linked := make([]string, 0, len(names))
	for i := range names {
		linked = append(linked, strings.Clone(path(i)))
	}
	slices.Sort(linked)
	return linked
}

// suspicious returns, sorted, the paths that have to be looked at: files, and perhaps others.
func (ev *evidence) suspicious(files *states, v sight, gone []string) []string {
	names := slices.Concat(ev.changed, v.restless, v.linked)
	for name := range files.own {
		names = append(names, name)
	}
	for _, dir := range gone {
		i, _ := files.base.find(dir + "/")
		for ; i < files.base.len() && strings.HasPrefix(files.base.name(i), dir+"/"); i++ {
			names = append(names, files.base.name(i))
		}
	}
	if len(ev.bare) > 0 {
		for name := range files.all() {
			if ev.bare[paths.Parent(name)] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// besides returns the paths of files that have more names than before, among which are names: a change by one is a change of the others.
func (ev *evidence) besides(files *states, v sight, names []string, stats []filestat.Stat, links map[int]uint64) (more []string) {
	came := map[inode]bool{}
	for i := range links {
		if _, was := slices.BinarySearch(v.linked, names[i]); !was {
			came[inode{stats[i].Dev, stats[i].Ino}] = true
		}
	}
	if len(came) == 0 {
		return nil
	}
	for i := range files.base.len() {
		if is := files.base.stats[i]; came[inode{is.Dev, is.Ino}] {
			name := files.base.name(i)
			if _, looked := slices.BinarySearch(names, name); !looked {
				more = append(more, name)
			}
		}
	}
	return more // files that differ from the table are among names
}

// glance looks at the files that evidence names, or at all, and at other paths. It returns what it has looked at, but of all files only those that
// do not look unchanged, or have several names.
func (s *Snapshot) glance(ctx context.Context, ev *evidence, files *states, v sight, gone, others []string) (names []string, stats []filestat.Stat, links map[int]uint64, whole bool) {
	below := func(names []string) ([]filestat.Stat, map[int]uint64, bool) {
		return s.below(ctx, len(names), func(i int) string { return names[i] })
	}
	if ev == nil {
		return s.glanceAtAll(ctx, files, append(files.added(), others...))
	}
	names = append(ev.suspicious(files, v, gone), others...)
	slices.Sort(names)
	names = slices.Compact(names)
	if stats, links, whole = below(names); !whole {
		return names, stats, links, whole
	}
	more := ev.besides(files, v, names, stats, links)
	for _, name := range more {
		v.watch.Touch(name) // the other name may be gone next time
	}
	with, linked, whole := below(more)
	for i, n := range linked {
		links[len(names)+i] = n
	}
	return append(names, more...), append(stats, with...), links, whole
}

// glanceBlock is of how many files the states are in memory at a time while all are looked at.
var glanceBlock = 1 << 16

// glanceAtAll is glance at the files of the table, and at other paths.
func (s *Snapshot) glanceAtAll(ctx context.Context, files *states, others []string) (names []string, stats []filestat.Stat, links map[int]uint64, whole bool) {
	links = map[int]uint64{}
	room := make([]filestat.Stat, min(glanceBlock, files.base.len()))
	for from := 0; from < files.base.len(); from += glanceBlock {
		name := func(i int) string { return files.base.name(from + i) }
		are := room[:min(glanceBlock, files.base.len()-from)]
		linked, whole := s.fill(ctx, are, name)
		if !whole {
			return nil, nil, nil, false
		}
		for i, is := range are {
			n, several := linked[i]
			if several {
				links[len(names)] = n
			}
			if name := name(i); several || !files.same(from+i, name, is) {
				names, stats = append(names, name), append(stats, is)
			}
		}
	}
	are, linked, whole := s.below(ctx, len(others), func(i int) string { return others[i] })
	for i, n := range linked {
		links[len(names)+i] = n
	}
	return append(names, others...), append(stats, are...), links, whole
}

// came returns the paths of a listing that are no known files.
func came(list []git.Listed, have func(string) bool) map[string]bool {
	paths := map[string]bool{}
	for _, l := range list {
		if !have(l.Path) {
			paths[strings.Clone(l.Path)] = true
		}
	}
	return paths
}

// is returns the entry of a path, and whether it has a state without a doubt.
func (f *states) is(name string, stat filestat.Stat) (e *entry, same bool) {
	e = f.get(name)
	return e, e != nil && !e.racy && e.Stat == stat
}

// A present is what a scan has looked at, as glance returns it.
type present struct {
	names  []string
	stats  []filestat.Stat
	all    bool         // it has looked at all known files
	whole  bool         // there was time for all of it
	listed []git.Listed // what may be new
}

// add adds the files of a table, unless they are there, that looked unchanged and have certain states.
func (p *present) add(t *table, wanted func(filestat.Stat) bool) {
	there := make(map[string]bool, len(p.names))
	for _, name := range p.names {
		there[name] = true
	}
	for i, is := range t.states() {
		if wanted(is) && !there[t.name(i)] {
			p.names, p.stats = append(p.names, t.name(i)), append(p.stats, is)
		}
	}
}

// present looks at the known files that may have changed and, with list, lists those that may be new.
func (s *Snapshot) present(ctx context.Context, list bool, left *LeftOut) (p present) {
	s.mu.Lock()
	v, folders, files := s.sight, s.looked, s.files.clone()
	if !last(ctx) {
		s.ahead = nil
	}
	s.mu.Unlock()
	var ev *evidence
	if !last(ctx) || s.sawAll(ctx) {
		ev = v.since(folders)
	}
	if ev == nil { // known files are looked at while git, or a walk, looks for others
		listing := make(chan []git.Listed, 1)
		if list {
			go func() { listing <- s.names(ctx, left) }()
		} else {
			listing <- nil
		}
		p.names, p.stats, _, p.whole = s.glance(ctx, nil, &files, v, nil, nil)
		p.all, p.listed = true, <-listing
		return p
	}
	var n news
	if list {
		ok := false
		if p.listed, n, ok = s.newNames(ctx, ev); !ok {
			p.listed = s.relist(ctx, left)
		}
		if p.all = !ok || n.doubt; p.all {
			ev = nil
		}
	}
	p.names, p.stats, _, p.whole = s.glance(ctx, ev, &files, v, n.gone, nil)
	return p
}
