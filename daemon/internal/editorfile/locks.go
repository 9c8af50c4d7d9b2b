// Package editorfile knows what editors do with files: which lock and swap files they keep beside them, and how the text that an
// editor holds differs in form from the file.
package editorfile

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Locked reports whether an editor's swap or lock file for a file exists, beside it or, for Neovim, in its folder for swap
// files. The editor may then save the file at any time without a report.
func Locked(file string) bool {
	dir, name := filepath.Split(file)
	beside := []string{
		dir + "." + name + ".swp", dir + "." + name + ".swo", // Vim
		dir + ".#" + name,              // Emacs
		dir + "." + name + ".kate-swp", // Kate
		dir + ".~lock." + name + "#",   // LibreOffice
	}
	state := os.Getenv("XDG_STATE_HOME")
	if home, err := os.UserHomeDir(); state == "" && err == nil {
		state = filepath.Join(home, ".local", "state")
	}
	if state != "" {
		beside = append(beside, filepath.Join(state, "nvim", "swap", strings.ReplaceAll(file, string(filepath.Separator), "%")+".swp"))
	}
	for _, lock := range beside {
		if _, err := os.Lstat(lock); err == nil {
			return true
		}
	}
	return false
}

// Own reports whether a file is itself an editor's swap or lock file.
func Own(name string) bool {
	base := path.Base(name)
	for _, pattern := range []string{".*.sw[a-p]", ".#*", ".*.kate-swp", ".~lock.*#"} {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return false
}
