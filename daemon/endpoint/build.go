package endpoint

import (
	"strings"
	"time"

	"golang.org/x/mod/semver"
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
	// Of build metadata only Go's mark of a changed work tree counts.
	dirty := strings.HasSuffix(semver.Build(v), "dirty")
	if dirty != strings.HasSuffix(semver.Build(w), "dirty") {
		return dirty
	}
	return dirty && b.Written.After(other.Written)
}

// semantic returns a version as package semver takes it, with a v in front, and whether it is one, with all three numbers.
func semantic(version string) (string, bool) {
	v := "v" + strings.TrimPrefix(version, "v")
	return v, semver.IsValid(v) && v == semver.Canonical(v)+semver.Build(v)
}
