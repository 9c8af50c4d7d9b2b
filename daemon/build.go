package daemon

import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"time"

	"cursord/daemon/endpoint"
)

// A Build says which program a daemon or a client of it runs.
type Build struct {
	Version string    // as the build recorded it; one that is no semantic version is a developer's own
	Written time.Time // when the program's file was last changed
}

// NewerThan reports whether b takes the place of a daemon of other. Builds have one order, so that no two of them take
// each other's place in turn: semantic versions come in theirs, after them what developers build. Only of builds whose
// version does not say what is in them, those of developers and of changed work trees, the file's time decides.
func (b Build) NewerThan(other Build) bool {
	v, ok := parseVersion(b.Version)
	w, otherOK := parseVersion(other.Version)
	switch {
	case ok != otherOK:
		return !ok
	case !ok:
		return b.Written.After(other.Written)
	}
	if c := v.compare(w); c != 0 {
		return c > 0
	}
	if v.dirty != w.dirty {
		return v.dirty
	}
	return v.dirty && b.Written.After(other.Written)
}

// A semantic version. Of its build metadata only Go's mark of a changed work tree counts.
type semver struct {
	core  [3]uint64
	pre   []string
	dirty bool
}

// parseVersion takes a version as semver.org has it, or as Go has it, with a v in front.
func parseVersion(s string) (v semver, ok bool) {
	s = strings.TrimPrefix(s, "v")
	s, meta, _ := strings.Cut(s, "+")
	v.dirty = strings.HasSuffix(meta, "dirty")
	s, pre, hasPre := strings.Cut(s, "-")
	if hasPre {
		v.pre = strings.Split(pre, ".")
	}
	parts := strings.Split(s, ".")
	if len(parts) != len(v.core) {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 64)
		if err != nil {
			return v, false
		}
		v.core[i] = n
	}
	return v, true
}

// compare is the precedence of semver.org.
func (v semver) compare(w semver) int {
	for i := range v.core {
		if c := cmp.Compare(v.core[i], w.core[i]); c != 0 {
			return c
		}
	}
	if len(v.pre) == 0 || len(w.pre) == 0 {
		return cmp.Compare(len(w.pre), len(v.pre)) // a release is newer than what came before it
	}
	for i := range min(len(v.pre), len(w.pre)) {
		a, aErr := strconv.ParseUint(v.pre[i], 10, 64)
		b, bErr := strconv.ParseUint(w.pre[i], 10, 64)
		c := 0
		switch {
		case aErr == nil && bErr == nil:
			c = cmp.Compare(a, b)
		case aErr == nil:
			c = -1
		case bErr == nil:
			c = 1
		default:
			c = cmp.Compare(v.pre[i], w.pre[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.pre), len(w.pre))
}

// Join takes the word of a client about its program, an absolute path. A daemon that is older gives its place to that
// program as soon as no turn runs or waits, unless the program cannot take it: then the daemon stays.
func (d *Daemon) Join(b Build, program string) Joined {
	j := Joined{Version: d.build.Version, PID: os.Getpid(), Replaced: "no"}
	if program == "" || !b.NewerThan(d.build) {
		return j
	}
	if err := endpoint.CheckSuccessor(program); err != nil {
		d.log.Error("a newer build cannot take over", "version", b.Version, "err", err)
		return j
	}
	d.mu.Lock()
	if d.successor == "" || b.NewerThan(d.successorBuild) {
		d.successor, d.successorBuild = program, b
	}
	d.mu.Unlock()
	if d.Stop(false) == nil {
		j.Replaced = "now"
	} else {
		j.Replaced = "later"
	}
	return j
}

// Successor returns the program that takes the place of this daemon when it has ended, "" if there is none.
func (d *Daemon) Successor() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.successor
}

// giveWay ends a daemon that has a successor and no turns.
func (d *Daemon) giveWay() {
	if d.Successor() != "" && d.Stop(false) == nil {
		d.log.Info("no turn runs any more: giving way to a newer build")
	}
}
