// Package filestat looks at the states of files without opening them.
package filestat

import (
	"io/fs"
	"path"
	"runtime"
	"sync"
	"time"

	"cursord/daemon/internal/clock"
)

// A Stat distinguishes one state of a file from another if the state is older than RacyTime. The zero Stat stands for no file.
type Stat struct {
	Dev   uint64      `json:"dev"` // with Ino 0 where the system has none
	Ino   uint64      `json:"ino"`
	Size  int64       `json:"size"`
	Mtime int64       `json:"mtime"` // Unix ns, as the clock showed then
	Ctime int64       `json:"ctime"`
	Mode  fs.FileMode `json:"mode"`
}

// Exists reports whether there is anything.
func (s Stat) Exists() bool { return s != Stat{} }

// RacyTime is how far apart two changes of a file must be for the clock of its file system to tell them apart.
const RacyTime = 20 * time.Millisecond

// Racy reports whether the file may change after a moment of package clock and look the same.
func (s Stat) Racy(moment int64) bool {
	return s.Exists() && clock.Known(s.Ctime) >= moment-int64(s.Slack())
}

// Changed returns the moment of package clock at which the file was last changed in any way.
func (s Stat) Changed() int64 { return clock.Moment(s.Ctime) }

// Written returns the moment at which its content was, if nobody says otherwise.
func (s Stat) Written() int64 { return clock.Moment(s.Mtime) }

// Slack is RacyTime by the clock of the file's system.
func (s Stat) Slack() time.Duration {
	if s.Ctime%int64(time.Second) == 0 {
		return 2 * time.Second // a clock of whole seconds
	}
	return RacyTime
}

// Touched reports whether what a file is now differs by no more than its mode or its name, by all that can be seen.
func (s Stat) Touched(now Stat) bool {
	return s.Ino != 0 && s.Dev == now.Dev && s.Ino == now.Ino && s.Size == now.Size && s.Mtime == now.Mtime &&
		s.Mode.Type() == now.Mode.Type()
}

// Became reports whether what is at a path now is the file that was in this state, whatever has been changed in it since. It is false where
// that cannot be seen: another file may have got the number of one that is gone.
func (s Stat) Became(now Stat, path string) bool {
	if s.Ino == 0 || s.Dev != now.Dev || s.Ino != now.Ino || s.Mode.Type() != now.Mode.Type() {
		return false
	}
	born, known := Born(path)
	return s.Touched(now) || known && born <= s.Changed()
}

// All returns the stats of n paths, by several goroutines; what cannot be found is zero. It stops early, and
// returns false, once stop says so.
func All(n int, path func(int) string, stop func() bool) ([]Stat, bool) {
	stats := make([]Stat, n)
	whole := Each(n, func(i int) { stats[i] = Of(path(i)) }, stop)
	return stats, whole
}

// Below is All for clean slash paths below the folder root; "." is root itself. It fills stats. For each file with several names, names has
// their number, by the file's index. Below is fastest if the paths of a folder follow each other.
func Below(root string, stats []Stat, name func(int) string, stop func() bool) (names map[int]uint64, whole bool) {
	names = map[int]uint64{}
	var mu sync.Mutex // guards names
	whole = chunks(len(stats), func(from, to int) {
		l := newLookup(root)
		defer l.close()
		for i := from; i < to; i++ {
			next := ""
			if i+1 < to {
				next = name(i + 1)
			}
			st, n := l.look(name(i), next)
			if stats[i] = st; n > 1 && st.Mode.IsRegular() {
				mu.Lock()
				names[i] = n
				mu.Unlock()
			}
		}
	}, stop)
	return names, whole
}

// Each calls look with the numbers below n, from several goroutines. It stops early, and returns false, once stop says so.
func Each(n int, look func(int), stop func() bool) bool {
	return chunks(n, func(from, to int) {
		for i := from; i < to; i++ {
			look(i)
		}
	}, stop)
}

// chunks calls do with parts of the numbers below n, each from one number up to another.
func chunks(n int, do func(from, to int), stop func() bool) bool {
	const chunk = 512
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8, n/chunk+1) {
		wg.Go(func() {
			for from := range next {
				do(from, min(from+chunk, n))
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
	return whole
}

// HasFolder reports whether a folder of a tree exists without links on the way, by its path with slashes. where returns the absolute names of
// paths of the tree.
func HasFolder(where func(path string) string, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if !Of(where(dir)).Mode.IsDir() {
			return false
		}
	}
	return true
}
