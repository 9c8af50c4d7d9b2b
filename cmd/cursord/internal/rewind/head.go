package rewind

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// headLine matches a line of git's log of HEAD: the commits before and after, and the second.
var headLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*> ([0-9]+) [+-][0-9]{4}(?:\t|$)`)
})

// movedHead returns the commit to which HEAD of a folder's repository has moved since a moment; "" if it has not moved, or if that is unknown.
// It reads git's log of HEAD and does not run git, so nobody needs to trust the repository. The log has whole seconds. Of several moves in the same
// second as the moment, only the last can be told to be before or after it: by the time at which the log file was written.
func movedHead(folder string, since time.Time) string {
	first, last := "", ""
	log := filepath.Join(gitDir(folder), "logs", "HEAD")
	info, err := os.Lstat(log)
	later := err == nil && info.ModTime().After(since)
	lines := slices.Collect(strings.Lines(tail(log)))
	for i, line := range lines {
		m := headLine().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		second, err := strconv.ParseInt(m[3], 10, 64)
		if err != nil || second < since.Unix() || second == since.Unix() && !(later && i == len(lines)-1) {
			continue
		}
		if first == "" {
			first = m[1]
		}
		last = m[2]
	}
	if first == last {
		return ""
	}
	return last[:7]
}

// gitDir returns the folder of the repository around a folder. Without one it does not exist.
func gitDir(folder string) string {
	for {
		git := filepath.Join(folder, ".git")
		if info, err := os.Lstat(git); err == nil {
			if to, is := strings.CutPrefix(strings.TrimRight(tail(git), "\r\n"), "gitdir: "); is && !info.IsDir() {
				if git = to; !filepath.IsAbs(to) {
					git = filepath.Join(folder, to)
				}
			}
			return git
		}
		up := filepath.Dir(folder)
		if up == folder {
			return git
		}
		folder = up
	}
}

// tail returns the last 64 KiB of a regular file; "" if it cannot be read.
func tail(path string) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "" // a pipe would be waited for
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 64 << 10
	_, _ = f.Seek(-most, io.SeekEnd) // a shorter file is read from its beginning
	text, _ := io.ReadAll(io.LimitReader(f, most))
	return string(text)
}
