package endpoint

import (
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// A Build identifies the program that a daemon or a client runs.
type Build struct {
	Version string    // as recorded at build time; a version that is not semantic is a developer's own
	Written time.Time // when the program's file was last changed
}

// NewerThan reports whether b replaces a daemon of build other. Builds have a total order, so that no two replace each other
// in turn: semantic versions in their order, and after them developers' builds. The file's time decides only between builds
// whose version does not identify their contents: those of developers and of changed work trees.
func (b Build) NewerThan(other Build) bool {
	v, ok := semantic(b.Version)
	w, otherOK := semantic(other.Version)
	switch {
	case ok != otherOK:
		return !ok
	case !ok:
		return b.Written.After(other.Written)
	}
	if c := semver.Compare(v, w); c != 0 {
		return c > 0
	}
	// Of the build metadata, only Go's mark of a changed work tree counts.
	dirty := strings.HasSuffix(semver.Build(v), "dirty")
	if dirty != strings.HasSuffix(semver.Build(w), "dirty") {
		return dirty
	}
	return dirty && b.Written.After(other.Written)
}

// semantic returns a version in the form of package semver, with a v in front. It reports whether the version is semantic,
// with all three numbers.
func semantic(version string) (string, bool) {
	v := "v" + strings.TrimPrefix(version, "v")
	return v, semver.IsValid(v) && v == semver.Canonical(v)+semver.Build(v)
}
