package program

import (
	"encoding/json"
	"slices"
	"sync"
)

const (
	maxBuilds  = 32  // of which something is remembered
	maxLacks   = 32  // options of one build
	maxVersion = 100 // bytes of a build's name, and of an option
)

// Builds remembers which options builds of the agent do not know. Its methods may be called from anywhere.
type Builds struct {
	mu   sync.Mutex
	list []lacks           // guarded by mu; the latest learned last
	keep func(data []byte) // called with mu held after each change, with what LoadBuilds takes; nil: nobody keeps it
}

// lacks are the options that one build does not know.
type lacks struct {
	Build   string   `json:"build"` // its version, or where it tells none its path
	Options []string `json:"options"`
}

// LoadBuilds returns what was kept, and has keep called with what to keep whenever something is learned. Data that cannot
// be read is as none.
func LoadBuilds(data []byte, keep func(data []byte)) *Builds {
	b := &Builds{keep: keep}
	var list []lacks
	if json.Unmarshal(data, &list) != nil {
		return b
	}
	for _, l := range list {
		for _, option := range l.Options {
			b.add(l.Build, option)
		}
	}
	return b
}

// Lacks returns the options that a build is known not to know.
func (b *Builds) Lacks(build string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.list {
		if l.Build == build {
			return slices.Clone(l.Options)
		}
	}
	return nil
}

// firstTold is since which build the options that let an agent do more are known to do that. Builds before may have had them
// unnoticed, or, as the sandbox on Linux, without effect.
var firstTold = map[string]string{"--sandbox": "2026.09.15", "--auto-review": "2026.09.15", "--add-dir": "2026.09.15"}

// Offers reports whether a message may advise an option of a build, as Lacks names it: the build is not known to lack it,
// and not older than those that are known to have it.
func (b *Builds) Offers(build, option string) bool {
	return !slices.Contains(b.Lacks(build), option) && (!IsBuild(build) || build >= firstTold[option])
}

// learn notes that a build does not know an option.
func (b *Builds) Learn(build, option string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.add(build, option) || b.keep == nil {
		return
	}
	if data, err := json.MarshalIndent(b.list, "", "  "); err == nil {
		b.keep(append(data, '\n'))
	}
}

// add returns false if there is nothing new in it. The mutex must be held.
func (b *Builds) add(build, option string) bool {
	if build == "" || len(build) > maxVersion && build[0] != '/' || len(option) > maxVersion {
		return false
	}
	l := lacks{Build: build}
	if i := slices.IndexFunc(b.list, func(l lacks) bool { return l.Build == build }); i >= 0 {
		if l = b.list[i]; slices.Contains(l.Options, option) || len(l.Options) >= maxLacks {
			return false
		}
		b.list = slices.Delete(b.list, i, i+1)
	}
	l.Options = append(slices.Clip(l.Options), option)
	b.list = append(b.list, l)
	if over := len(b.list) - maxBuilds; over > 0 {
		b.list = slices.Delete(b.list, 0, over)
	}
	return true
}
