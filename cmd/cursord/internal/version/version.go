// Package version says which build of cursord this is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// stamped is the version that a release was made as: its link sets it by -X.
var stamped string

// Own returns this program's version, in the form by which builds are compared: that of its release, else what Go has recorded
// (of a clone, by its latest tag and its commit), else "dev".
func Own() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// Line is what "cursord version" prints of this program. Daemons take what begins with "cursord " for a cursord.
func Line() string {
	return fmt.Sprintf("cursord %s (%s, %s/%s)\n", ForPeople(Own()), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// ForPeople returns a version without what Go alone reads: of a build between releases, which release it follows, its day and
// its commit.
func ForPeople(v string) string {
	base, changed := strings.CutSuffix(v, "+dirty")
	switch {
	case v == "dev":
		return "development build"
	case module.IsPseudoVersion(base):
		after := "development build"
		if release, err := module.PseudoVersionBase(base); err == nil && release != "" {
			after += " after " + release
		}
		day := ""
		if t, err := module.PseudoVersionTime(base); err == nil {
			day = " of " + t.Format("2006-01-02")
		}
		commit, _ := module.PseudoVersionRev(base)
		v = fmt.Sprintf("%s%s, commit %.12s", after, day, commit)
	case semver.IsValid(base):
		v = base
	}
	if changed {
		v += ", changed since"
	}
	return v
}
