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

// A longer path names no file on any system that cursord runs on. It is refused where it arrives, before any work with it.
const (
	MaxPath = 4096 // in bytes
	MaxName = 255  // of a component, in characters: not all file systems count bytes
)

// TooLong says which part of a path, or of a file:// URI, is too long; "" if none is. Clients use it too. It looks only at
// the text.
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

// TooLongIn is TooLong for a path that is relative to a folder, or absolute.
func TooLongIn(dir, path string) string {
	if why := TooLong(path); why != "" || filepath.IsAbs(path) {
		return why
	}
	return TooLong(dir + "/" + path)
}

// Short returns a path as people are shown it: whole or, if it is too long, its beginning and its length.
func Short(path string) string {
	if TooLong(path) == "" {
		return path
	}
	return fmt.Sprintf("%s…(%d bytes)", plaintext.Cut(path, MaxName), len(path))
}
