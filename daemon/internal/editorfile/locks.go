// Package editorfile knows what editors do with files: which lock and swap files they keep beside them, and how the text that an
// editor holds differs in form from the file.
package editorfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Locked reports whether an editor's swap or lock file for a file exists, beside it or, for Neovim, in its folder for swap
// files. The editor may have saved the file without a report.
func Locked(file string) bool { return anyLock(file, func(string, os.FileInfo) bool { return true }) }

// Held is Locked without what a Vim, Neovim or Emacs of this machine has left that was killed: it saves nothing more.
func Held(file string) bool {
	return anyLock(file, func(lock string, info os.FileInfo) bool { return !left(lock, info) })
}

func anyLock(file string, counts func(lock string, info os.FileInfo) bool) bool {
	dir, name := filepath.Split(file)
	locks := []string{
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
		locks = append(locks, filepath.Join(state, "nvim", "swap", strings.ReplaceAll(file, string(filepath.Separator), "%")+".swp"))
	}
	for _, lock := range locks {
		if info, err := os.Lstat(lock); err == nil && counts(lock, info) {
			return true
		}
	}
	return false
}

// left reports whether a lock file names a process of this machine that has ended.
func left(lock string, info os.FileInfo) bool {
	pid, host := 0, ""
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		pid, host = emacsOwner(lock)
	case info.Mode().IsRegular() && strings.HasPrefix(filepath.Ext(lock), ".sw"):
		pid, host = vimOwner(lock)
	}
	here, err := os.Hostname()
	return err == nil && pid > 0 && host == here && ended(pid)
}

// emacsOwner returns the process that a lock of Emacs names: a link to USER@HOST.PID, perhaps with :BOOT behind it.
func emacsOwner(lock string) (pid int, host string) {
	to, err := os.Readlink(lock)
	if err != nil {
		return 0, ""
	}
	to = to[strings.LastIndexByte(to, '@')+1:]
	to, _, _ = strings.Cut(to, ":")
	dot := strings.LastIndexByte(to, '.')
	if dot < 0 {
		return 0, ""
	}
	pid, err = strconv.Atoi(to[dot+1:])
	if err != nil {
		return 0, ""
	}
	return pid, to[:dot]
}

// Where a swap file of Vim has what it says of its process (Vim's memline.c, block zero).
const (
	swapMark  = "b0"
	swapPID   = 24
	swapHost  = 68
	swapHosts = 40 // the room for the host's name, which ends with NUL
)

// vimOwner returns the process that a swap file of Vim or Neovim names.
func vimOwner(swap string) (pid int, host string) {
	f, err := os.Open(swap)
	if err != nil {
		return 0, ""
	}
	defer f.Close()
	var block [swapHost + swapHosts]byte
	if _, err := io.ReadFull(f, block[:]); err != nil || string(block[:len(swapMark)]) != swapMark {
		return 0, ""
	}
	name, _, whole := bytes.Cut(block[swapHost:], []byte{0})
	if !whole {
		return 0, "" // cut off
	}
	return int(binary.LittleEndian.Uint32(block[swapPID:])), string(name)
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
