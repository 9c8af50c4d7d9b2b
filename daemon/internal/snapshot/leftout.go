package snapshot

import (
	"fmt"
	"path"
	"strings"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/paths"
)

// A LeftOut has the changes that a scan has not returned.
type LeftOut struct {
	more []string // paths beyond the bounds of number and size
	late int      // number of paths for which the scan had no time; the next scan returns to them
	odd  []string // paths that cannot be reviewed, each with the reason
	long []string // paths that are too long to look at
	git  string   // why git could not list the files; "" if it could
	cut  bool     // not all folders could be listed

	hidden []string // notices about files that rules of the turn hide

	made, gone []string // nested repositories that came, and that went
}

// String returns a text for people about the changes that a scan has left out; "" if there are none.
func (l LeftOut) String() string {
	var say []string
	if n := len(l.more); n > 0 {
		say = append(say, fmt.Sprintf("not listed for review: %s; the limit is %d files and %d MiB at a time: %s",
			plaintext.Count(n, "changed file"), scanFiles, scanBytes>>20, byFolder(l.more)))
	}
	if l.late > 0 {
		say = append(say, fmt.Sprintf("Some changes by commands may be missing from the review, because looking for them took longer than %s "+
			"(the workspace is large, or the machine busy): look at the workspace yourself, for example with git status", LastScanTime))
	}
	if len(l.odd) > 0 {
		say = append(say, Unreviewable(l.odd))
	}
	if n := len(l.long); n == 1 {
		say = append(say, paths.Shown(plaintext.Cut(l.long[0], paths.MaxName))+"… was not looked at: its path is too long")
	} else if n > 1 {
		say = append(say, fmt.Sprintf("%s… and %d more were not looked at: their paths are too long", paths.Shown(plaintext.Cut(l.long[0], paths.MaxName)), n-1))
	}
	if l.git != "" {
		say = append(say, l.git)
	}
	if l.cut {
		say = append(say, "not all folders could be listed within the limits; new files in the others are not listed for review")
	}
	say = append(say, l.hidden...)
	for _, dir := range l.made {
		say = append(say, fmt.Sprintf("a repository was created in %s; its files are not listed for review", paths.Shown(dir)))
	}
	for _, dir := range l.gone {
		say = append(say, fmt.Sprintf("the repository in %s is gone; its files cannot be reviewed", paths.Shown(dir)))
	}
	return strings.Join(say, ". ")
}

// Unreviewable returns a text for people about changes that cannot be reviewed, and the reasons.
func Unreviewable(odd []string) string {
	text := fmt.Sprintf("%s cannot be reviewed: %s", plaintext.Count(len(odd), "change"), strings.Join(odd[:min(len(odd), 3)], "; "))
	if len(odd) > 3 {
		text += "; …"
	}
	return text
}

// After is String for a scan with a time limit. Only the last scan of a turn names the files that it had no time for,
// because after any other the next scan looks at them.
func (l LeftOut) After(limit time.Duration) string {
	if limit != LastScanTime {
		l.late = 0
	}
	return l.String()
}

// byFolder names the first few paths, one of each folder, so that many files in one folder do not hide another.
func byFolder(all []string) string {
	const most = 5
	var first []string
	same := map[string]int{}
	for _, name := range all {
		dir := path.Dir(name)
		if same[dir]++; same[dir] == 1 {
			first = append(first, name)
		}
	}
	more := len(all)
	var names []string
	for _, name := range first[:min(len(first), most)] {
		text, n := paths.Shown(paths.Short(name)), same[path.Dir(name)]
		more -= n
		if n > 1 {
			text += fmt.Sprintf(" and %d more beside it", n-1)
		}
		names = append(names, text)
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("and %d more elsewhere", more))
	}
	return strings.Join(names, ", ")
}
