package program

import (
	"encoding/json"
	"slices"
	"sync"
)

const (
	maxBuilds  = 32  // how many builds are remembered
	maxLacks   = 32  // options of one build
	maxVersion = 100 // bytes of a build's name, and of an option
)

// Builds remembers which options builds of the agent do not know. Any goroutine may call its methods.
type Builds struct {
	mu   sync.Mutex
	list []lacks           // guarded by mu; the build that was added to last comes last
	keep func(data []byte) // called with mu held after each change, with data for LoadBuilds; nil: the data is not kept
}

// lacks are the options that one build does not know.
type lacks struct {
	Build   string   `json:"build"` // the build's version, or its path if it has none
	Options []string `json:"options"`
}

// LoadBuilds returns the Builds in data, or empty ones if data cannot be read. After each change it calls keep with the new
// data.
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

// Lacks returns the options that a build is known to lack.
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

// firstTold maps options that let an agent do more to the first build that is known to have them. Earlier builds may have
// had them unnoticed or, like the sandbox on Linux, without effect.
var firstTold = map[string]string{"--sandbox": "2026.09.15", "--auto-review": "2026.09.15", "--add-dir": "2026.09.15"}

// Offers reports whether a message may recommend an option for a build (as in Lacks): the build is not known to lack it, and
// not older than the first known to have it.
func (b *Builds) Offers(build, option string) bool {
	return !slices.Contains(b.Lacks(build), option) && (!IsBuild(build) || build >= firstTold[option])
}

// Learn notes that a build does not know an option.
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

// add adds an option, and returns false if it was there already. The mutex must be held.
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
