// Package editorfile knows what editors do with files: which lock and swap files they keep beside them, and how the text that an
// editor holds differs in form from the file.
package editorfile

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Locked reports whether a swap or lock file of an editor lies beside a file, or, of Neovim's, in its folder for them:
// the editor may save the file at any time, and report nothing.
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

// Own reports whether a file is an editor's own swap or lock file.
func Own(name string) bool {
	base := path.Base(name)
	for _, pattern := range []string{".*.sw[a-p]", ".#*", ".*.kate-swp", ".~lock.*#"} {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return false
}
