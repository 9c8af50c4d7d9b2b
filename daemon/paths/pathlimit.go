package paths

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"cursord/agent/plaintext"
)

// A longer path names no file on any system that cursord runs on. It is refused where it comes in, before there is any
// work with it.
const (
	MaxPath = 4096 // bytes
	MaxName = 255  // characters of a component: not all file systems count bytes
)

// TooLong says what is too long of a path, or of a file:// URI; "" if it may be one. It is for clients, too, and looks at
// nothing but the text.
func TooLong(path string) string {
	if encoded, is := strings.CutPrefix(path, "file://"); is && len(encoded) <= 3*MaxPath {
		if u, err := url.Parse(path); err == nil {
			path = u.Path
		}
	}
	if len(path) > MaxPath {
		return fmt.Sprintf("the path is %d bytes long; %d are the most", len(path), MaxPath)
	}
	separators := "/"
	if runtime.GOOS == "windows" {
		separators = `/\`
	}
	for len(path) > MaxName {
		end := strings.IndexAny(path, separators)
		if end < 0 {
			end = len(path)
		}
		if n := utf8.RuneCountInString(path[:end]); n > MaxName {
			return fmt.Sprintf("a name in the path is %d characters long; %d are the most", n, MaxName)
		}
		path = path[min(end+1, len(path)):]
	}
	return ""
}

// TooLongIn is TooLong of a path that is relative to a folder, unless it is absolute.
func TooLongIn(dir, path string) string {
	if why := TooLong(path); why != "" || filepath.IsAbs(path) {
		return why
	}
	return TooLong(dir + "/" + path)
}

// Short returns a path as people are shown it: all of it, or, if it is too long, its beginning and how long it is.
func Short(path string) string {
	if TooLong(path) == "" {
		return path
	}
	return fmt.Sprintf("%s…(%d bytes)", plaintext.Cut(path, MaxName), len(path))
}
