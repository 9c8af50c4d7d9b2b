package review

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/term"
)

// edit has the person edit a file at a part, and reports whether there is nothing new to show.
func (r *review) edit(f *reviewFile, p part) (again bool) {
	path := DiffFile(r.root, f.diff)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		r.tell("There is no file to edit.")
		return true
	}
	editor := UserEditor(os.Getenv)
	cmd := term.UserCommand(editor, EditorArgs(editor, path, p.line())...)
	cmd.Stdout, cmd.Stderr = r.out, r.errOut
	if term.IsTerminal(r.in.in) { // else what it has are the answers
		cmd.Stdin = r.in.in
	}
	if err := r.in.lend(cmd.Run); err != nil {
		r.tell(fmt.Sprintf("%s: %v", editor, err))
		return true
	}
	return false
}

// UserEditor returns the program with which the user edits files at a terminal.
func UserEditor(getenv func(string) string) string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if editor := strings.TrimSpace(getenv(name)); editor != "" {
			return editor
		}
	}
	if runtime.GOOS == "windows" {
		return "notepad"
	}
	return "vi"
}

// EditorArgs returns how an editor is told to open a file at a line: "+7 file", which nearly all understand, or in the
// way of its own.
func EditorArgs(editor, path string, line int) []string {
	words := strings.Fields(editor)
	name := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	at := fmt.Sprintf("%s:%d", path, line)
	switch {
	case slices.Contains([]string{"code", "code-insiders", "codium", "cursor", "windsurf"}, name):
		return []string{"--wait", "--goto", at}
	case slices.Contains([]string{"hx", "helix"}, name):
		return []string{at}
	case slices.Contains([]string{"zed", "subl"}, name):
		return []string{"--wait", at}
	case name == "notepad":
		return []string{path}
	}
	return []string{fmt.Sprintf("+%d", line), path}
}
