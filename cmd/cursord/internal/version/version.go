// Package version reports which build of cursord this is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// stamped is a release's version, set by the linker's option -X.
var stamped string

// Own returns this program's version, in the form in which builds are compared: the release's version, else the one that Go
// has recorded (for a clone, from its latest tag and its commit), else "dev".
func Own() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// Line returns the line that "cursord version" prints. Daemons recognize a cursord by the beginning "cursord ".
func Line() string {
	return fmt.Sprintf("cursord %s (%s, %s/%s)\n", ForPeople(Own()), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// ForPeople returns a readable version. For a build between releases it names the release before, the day and the commit.
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
