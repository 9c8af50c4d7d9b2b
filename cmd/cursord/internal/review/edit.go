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

// edit opens the file at a part in the person's editor. again is true if there is no file, or the editor failed.
func (r *review) edit(f *reviewFile, p part) (again bool) {
	path := DiffFile(r.root, f.diff)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		r.tell("There is no file to edit.")
		return true
	}
	editor := UserEditor(os.Getenv)
	cmd := term.UserCommand(editor, EditorArgs(editor, path, p.line())...)
	cmd.Stdout, cmd.Stderr = r.out, r.errOut
	if term.IsTerminal(r.in.in) { // otherwise stdin holds the answers
		cmd.Stdin = r.in.in
	}
	if err := r.in.lend(cmd.Run); err != nil {
		r.tell(fmt.Sprintf("%s: %v", editor, err))
		return true
	}
	return false
}

// UserEditor returns the user's editor for a terminal: VISUAL, EDITOR, or the system's usual one.
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

// EditorArgs returns the arguments that make an editor open a file at a line: "+7 file", or the editor's own form if known. For line 0
// they name only the file, as any program can be an editor of a text.
func EditorArgs(editor, path string, line int) []string {
	words := strings.Fields(editor)
	name := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	at := fmt.Sprintf("%s:%d", path, line)
	if line == 0 {
		at = path
	}
	switch {
	case slices.Contains([]string{"code", "code-insiders", "codium", "cursor", "windsurf"}, name):
		if line == 0 {
			return []string{"--wait", path}
		}
		return []string{"--wait", "--goto", at}
	case slices.Contains([]string{"hx", "helix"}, name):
		return []string{at}
	case slices.Contains([]string{"zed", "subl"}, name):
		return []string{"--wait", at}
	case name == "notepad", line == 0:
		return []string{path}
	}
	return []string{fmt.Sprintf("+%d", line), path}
}
