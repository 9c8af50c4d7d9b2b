package snapshot

import (
	"context"
	"io/fs"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// listedBesides is for how many states there is room behind those of the files that were listed first.
const listedBesides = 512

// below is filestat.Below for the root, but nothing lies beyond a link: git still lists the files of a folder that a link has
// replaced, and what is found through the link may even be the same file, moved.
func (s *Snapshot) below(ctx context.Context, n int, path func(int) string) (stats []filestat.Stat, names map[int]uint64, whole bool) {
	stats = make([]filestat.Stat, n, n+listedBesides)
	names, whole = s.fill(ctx, stats, path)
	return stats, names, whole
}

// fill is below for stats that are there.
func (s *Snapshot) fill(ctx context.Context, stats []filestat.Stat, path func(int) string) (names map[int]uint64, whole bool) {
	stop := func() bool { return ctx.Err() != nil }
	if names, whole = filestat.Below(s.root, stats, path, stop); !whole {
		return names, false
	}
	var dirs []string
	known, last := map[string]bool{".": true}, "."
	for i := range stats {
		dir := paths.Parent(path(i))
		if dir == last || !stats[i].Exists() {
			continue
		}
		last = dir
		for ; !known[dir]; dir = paths.Parent(dir) {
			dirs, known[dir] = append(dirs, dir), true
		}
	}
	are := make([]filestat.Stat, len(dirs))
	_, whole = filestat.Below(s.root, are, func(i int) string { return dirs[i] }, stop)
	links := map[string]bool{}
	for i, dir := range dirs {
		if are[i].Mode&fs.ModeSymlink != 0 {
			links[dir] = true
		}
	}
	for i := 0; i < len(stats) && len(links) > 0; i++ {
		for dir := paths.Parent(path(i)); dir != "."; dir = paths.Parent(dir) {
			if links[dir] {
				stats[i] = filestat.Stat{}
				delete(names, i)
			}
		}
	}
	return names, whole
}
