package copytree

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// A stat tells one state of a file from another, as long as it is older than racyTime. The zero stat is of nothing.
type stat struct {
	dev, ino     uint64 // 0 where the system has none
	size         int64
	mtime, ctime int64 // Unix ns
	mode         fs.FileMode
}

func (s stat) exists() bool { return s != stat{} }

// racyTime is how far apart two changes of a file must be for the clock of its file system to tell them apart.
const racyTime = 20 * time.Millisecond

// racy reports whether the file may change after moment, in Unix ns, and look the same.
func (s stat) racy(moment int64) bool {
	return s.exists() && s.ctime >= moment-int64(s.slack())
}

func (s stat) slack() time.Duration {
	if s.ctime%int64(time.Second) == 0 {
		return 2 * time.Second // a clock of whole seconds
	}
	return racyTime
}

// lstatAll returns the stats of paths below base; zero for what is not there, or only there through a link.
func lstatAll(ctx context.Context, base string, paths []string) ([]stat, error) {
	const chunk = 256
	stats := make([]stat, len(paths))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8, len(paths)/chunk+1) {
		wg.Go(func() {
			for from := range next {
				for i := from; i < min(from+chunk, len(paths)); i++ {
					stats[i] = lstat(filepath.Join(base, filepath.FromSlash(paths[i])))
				}
			}
		})
	}
	for from := 0; from < len(paths) && ctx.Err() == nil; from += chunk {
		next <- from
	}
	close(next)
	wg.Wait()
	real := realDirs{base: base, known: map[string]bool{".": true}}
	for i, p := range paths {
		if stats[i].exists() && !real.has(path.Dir(p)) {
			stats[i] = stat{}
		}
	}
	return stats, ctx.Err()
}

// realDirs knows which folders below base are folders all the way, and not links to some.
type realDirs struct {
	base  string
	known map[string]bool
}

func (r realDirs) has(dir string) bool {
	is, known := r.known[dir]
	if !known {
		is = r.has(path.Dir(dir)) && lstat(filepath.Join(r.base, filepath.FromSlash(dir))).mode.IsDir()
		r.known[dir] = is
	}
	return is
}
