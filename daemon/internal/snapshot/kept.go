package snapshot

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/internal/treewatch"
)

// Bounds of what a snapshot takes over from an earlier one.
const (
	keptChanges = 5000     // files that differ from its table
	keptBytes   = 16 << 20 // contents that were added since all were read
	largeTree   = 20_000   // files; what a look at more leaves behind is worth a collection of garbage
)

// A keeper has what the latest snapshot of a tree leaves to the next one.
type keeper struct {
	leaving sync.RWMutex // held while a snapshot that is ready leaves something; the next one waits for it
	mu      sync.Mutex
	last    *kept            // guarded by mu
	watch   *treewatch.Watch // the latest; guarded by mu
	closed  bool             // there shall be no other; guarded by mu
	written *tableFile       // the latest; guarded by mu
}

// A kept is what a snapshot knew when it was taken. It never changes.
type kept struct {
	basis  string // of git's list: if it changes, all is listed anew
	began  int64
	root   string
	repos  []git.Repository
	nested map[string]bool // where repositories are missing
	files  states
	dirs   map[string]inode
	looked map[string]filestat.Stat
	whole  map[string]bool
	rules  map[string]ignoreFile
	spool  *spool
	floor  int64 // the size of spool when all contents had been read
	copied bool  // the tree is a session's copy

	sight sight // as in Snapshot
}

// take returns what was left, if the caller can use its contents: it has to close the spool.
func (k *keeper) take() *kept {
	k.leaving.Lock()
	k.leaving.Unlock() //lint:ignore SA2001 it only waits
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil || !k.last.spool.use() {
		return nil
	}
	return k.last
}

func (k *keeper) leave(next *kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil {
		k.last.spool.close()
	}
	k.last = next
}

// basis returns on what git's list depends besides the work tree, "" if that is unknown. Without git it is constant.
func (s *Snapshot) basis(ctx context.Context, repos []git.Repository) string {
	all := []string{"folders"}
	for _, r := range repos {
		one := r.Basis(ctx, s.began)
		if one == "" {
			return ""
		}
		all = append(all, one)
	}
	return strings.Join(all, "\n")
}

// leave leaves what is known when the snapshot is taken to the next one. was is what it has been taken from, if anything.
func (s *Snapshot) leave(was *kept) {
	ctx, cancel := context.WithTimeout(context.Background(), ScanTime)
	defer cancel()
	s.mu.Lock()
	listed := s.files.base.len()
	able := s.keeper != nil && s.listed && s.looked != nil && s.short == "" && !s.cut && len(s.long) == 0 && len(s.rules) < rulesMost && !s.mixed
	repos := s.repos
	s.mu.Unlock()
	if was == nil && listed > largeTree {
		debug.FreeOSMemory() // a list of all files leaves several times its size behind
	}
	if !able || !filestat.ChangeTimes {
		return
	}
	var basis string
	var floor int64
	if was != nil {
		basis, floor = was.basis, was.floor
	} else {
		basis, floor = s.basis(ctx, repos), s.first.length()
	}
	if basis == "" || !s.first.use() {
		return
	}
	s.mu.Lock()
	k := &kept{
		basis: basis, began: s.began, root: s.root, repos: repos, nested: maps.Clone(s.nested), dirs: s.dirs, looked: maps.Clone(s.looked), whole: s.whole, rules: s.rules,
		spool: s.first, floor: floor, copied: s.isolated, sight: s.sight,
	}
	s.files.shared = true
	k.files = s.files.clone()
	for name, e := range k.files.own {
		if e == nil {
			continue
		}
		if e.content.in != nil && e.content.in != s.first { // it is noted with a content that ends with the turn
			delete(k.files.own, name)
			continue
		}
		k.files.own[name] = &entry{Stat: e.Stat, racy: e.racy, blob: e.blob, content: e.content}
	}
	mixed := s.mixed
	s.mu.Unlock()
	if mixed {
		s.first.close()
		return
	}
	s.keeper.leave(k)
}

// again takes the snapshot from what an earlier one has left and what has changed since. It returns nil if all has to be listed
// and looked at anew, and otherwise what was left.
func (s *Snapshot) again(ctx context.Context) *kept {
	if s.keeper == nil {
		return nil
	}
	k := s.keeper.take()
	if k == nil {
		return nil
	}
	if !s.follows(ctx, k) {
		k.spool.close()
		return nil
	}
	return k
}

func (s *Snapshot) follows(ctx context.Context, k *kept) bool {
	basis := make(chan string, 1)
	switch {
	case k.root != s.root, k.copied != s.isolated, git.Inside(s.root) != (len(k.repos) > 0):
		return false
	case len(k.files.own) > keptChanges, k.spool.length()-k.floor > keptBytes:
		return false // it has grown enough to begin anew
	case !s.unmoved(k.repos, k.nested), rulesChanged(k.rules, k.repos, k.began):
		return false
	}
	repos := make([]git.Repository, len(k.repos))
	for i, r := range k.repos {
		repos[i] = r.By(ctx, s.guard)
	}
	go func() { basis <- s.basis(ctx, repos) }()
	files := k.files.clone()
	have := files.has
	seen := k.sight
	ev := seen.since(k.looked)
	if clock.Now()-seen.full > int64(fullEvery) {
		ev = nil
	}
	anew := func() {
		ev = nil
		v := s.watchAnew(k.looked)
		seen.watch, seen.mark = v.watch, v.mark
	}
	if ev == nil {
		anew()
	}
	n, ok := s.look(ctx, looking{k.looked, k.dirs, k.nested, repos, k.rules, have, func(filestat.Stat) bool { return true }, seen.watch, ev})
	if !ok {
		return false
	}
	if ev != nil && n.doubt {
		anew()
	}
	added := came(s.control(n.files, repos), have)
	names, stats, links, whole := s.glance(ctx, ev, &files, seen, n.gone, slices.Collect(maps.Keys(added)))
	if !whole || <-basis != k.basis {
		return false
	}
	if path := func(i int) string { return names[i] }; ev == nil {
		seen.linked, seen.full = linkedOf(path, links), s.began
	} else {
		seen.linked, seen.mark = linkedOf(path, links), ev.mark
	}
	var first, changed []git.Listed // those that git knows come first
	for i, name := range names {
		is := stats[i]
		e, same := files.is(name, is)
		switch there := is.Exists() && !is.Mode.IsDir(); {
		case same, e == nil && !(added[name] && there):
		case !there:
			files.delete(name)
		default:
			if files.set(name, &entry{Stat: is, racy: is.Racy(s.began), content: nowhere}); e != nil && e.blob.OID != "" {
				first = append(first, git.Listed{Path: name})
			} else {
				changed = append(changed, git.Listed{Path: name})
			}
		}
	}
	if changed = append(first, changed...); len(changed) > keptChanges || !s.resume(k, n, repos, files, seen) {
		return false
	}
	s.keepLinks(func(i int) string { return names[i] }, stats, links)
	s.readContents(ctx, changed)
	return true
}

// resume fills the snapshot. It returns false if that is too late.
func (s *Snapshot) resume(k *kept, n news, repos []git.Repository, files states, seen sight) bool {
	dirs, whole, rules := k.dirs, k.whole, k.rules
	read := maps.Clone(k.looked)
	maps.Copy(read, n.looked)
	for _, dir := range n.gone {
		delete(read, dir)
	}
	gone := n.gone
	for dir := range dirs {
		if _, looked := k.looked[dir]; !looked && !filestat.Of(s.Full(dir)).Mode.IsDir() {
			gone = append(gone, dir)
		}
	}
	if len(n.dirs)+len(gone) > 0 {
		dirs, whole = maps.Clone(dirs), maps.Clone(whole)
		maps.Copy(dirs, n.dirs)
		delete(dirs, ".")
		for _, dir := range gone {
			delete(dirs, dir)
			delete(whole, dir)
		}
		if len(repos) == 0 {
			maps.Copy(whole, n.whole)
		}
	}
	if len(n.rules) > 0 {
		rules = maps.Clone(rules)
		maps.Copy(rules, n.rules)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.called != 0 {
		return false
	}
	s.listed, s.lookedAt, s.first = true, clock.Now(), k.spool
	s.repos, s.nested, s.files, s.whole, s.rules = repos, maps.Clone(k.nested), files, whole, rules
	s.dirs, s.looked, s.sight = dirs, read, seen
	return true
}
