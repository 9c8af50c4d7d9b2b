// Package localfile has what the language server does with files beside the documents that editors report.
package localfile

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Put writes a file at once: editors may be loading it.
func Put(file, text string) error {
	temp := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".new")
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, file); err != nil {
		_ = os.Remove(temp)
		return os.WriteFile(file, []byte(text), 0o600) // some systems cannot replace an open file
	}
	return nil
}

// Changed returns the time of a file's latest change; the zero Time if the file cannot be asked.
func Changed(file string) time.Time {
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// AtHome returns a path with the home directory in place of "~".
func AtHome(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if home, err := os.UserHomeDir(); err == nil {
			return home + rest
		}
	}
	return name
}

// Read returns the content of a regular file that is not too large.
func Read(name string, most int64) (string, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return "", false
	}
	b, err := os.ReadFile(name)
	return string(b), err == nil
}

// MayBe reports whether an editor may mean a file by a name: its path in a folder, or that without its first parts or behind more of
// them.
func MayBe(path, name string) bool {
	return path == name || strings.HasSuffix(path, "/"+name) || strings.HasSuffix(name, "/"+path)
}

// SameText reports whether an editor's text is that of a file, apart from line ends and a byte order mark, which editors
// keep beside the text.
func SameText(text, file string) bool {
	if text == file {
		return true
	}
	text, file = strings.TrimPrefix(text, "\ufeff"), strings.TrimPrefix(file, "\ufeff")
	return strings.ReplaceAll(text, "\r\n", "\n") == strings.ReplaceAll(file, "\r\n", "\n")
}
