package daemon

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// A fileStat tells one state of a file from another, as long as it is older than racyTime.
type fileStat struct {
	dev, ino     uint64 // 0 where the system has none
	size         int64
	mtime, ctime int64 // Unix ns
	mode         fs.FileMode
}

func (s fileStat) exists() bool { return s != fileStat{} }

// racyTime is how far apart two changes of a file must be for the clock of its file system to tell them apart.
const racyTime = 20 * time.Millisecond

// racy reports whether the file may change after moment, in Unix ns, and look the same.
func (s fileStat) racy(moment int64) bool {
	slack := racyTime
	if s.ctime%int64(time.Second) == 0 {
		slack = 2 * time.Second // a clock of whole seconds
	}
	return s.exists() && s.ctime >= moment-int64(slack)
}

// touched reports whether what a file is now differs by no more than its mode or its name, by all that can be seen.
func (s fileStat) touched(now fileStat) bool {
	return s.ino != 0 && s.dev == now.dev && s.ino == now.ino && s.size == now.size && s.mtime == now.mtime &&
		s.mode.Type() == now.mode.Type()
}

// changedAt returns when a path below root that is in a state was last changed, in Unix ns. Of what is gone the folder
// tells, which may have changed again.
func changedAt(root, name string, now fileStat) int64 {
	if now.exists() {
		return now.ctime
	}
	for dir := filepath.Dir(name); len(dir) >= len(root); dir = filepath.Dir(dir) {
		if st := lstat(dir); st.exists() {
			return st.ctime
		}
	}
	return time.Now().UnixNano()
}

// lstatAll returns the stats of n paths, by several goroutines; what cannot be found is zero. It stops early, and
// returns false, once stop says so.
func lstatAll(n int, path func(int) string, stop func() bool) ([]fileStat, bool) {
	const chunk = 512
	stats := make([]fileStat, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8, n/chunk+1) {
		wg.Go(func() {
			for from := range next {
				for i := from; i < min(from+chunk, n); i++ {
					stats[i] = lstat(path(i))
				}
			}
		})
	}
	whole := true
	for from := 0; from < n && whole; from += chunk {
		next <- from
		whole = !stop()
	}
	close(next)
	wg.Wait()
	return stats, whole
}
