//go:build unix

package world

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Elapsed removes the duration of turns from a screen.
func Elapsed(screen string) string {
	var b strings.Builder
	for line := range strings.Lines(screen) {
		if end, _, ok := strings.Cut(line, " in "); ok && strings.HasPrefix(line, "— ") {
			line = end + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// LspFile returns a file that "cursord lsp" keeps for the workspace.
func (w *World) LspFile(name string) string {
	w.T.Helper()
	all, err := filepath.Glob(filepath.Join(w.Dir, "state", "lsp", "ws-*", name))
	require.NoError(w.T, err)
	require.Len(w.T, all, 1)
	return all[0]
}

// LSPCapabilities returns the capabilities of an editor that supports everything.
func LSPCapabilities() Obj {
	return Obj{
		"general": Obj{"positionEncodings": []string{"utf-8", "utf-16"}},
		"textDocument": Obj{
			"publishDiagnostics": Obj{"versionSupport": true},
			"hover":              Obj{"contentFormat": []string{"markdown"}},
			"codeAction": Obj{
				"codeActionLiteralSupport": Obj{"codeActionKind": Obj{"valueSet": []string{"quickfix", "source"}}},
				"isPreferredSupport":       true, "disabledSupport": true, "dataSupport": true,
				"resolveSupport": Obj{"properties": []string{"edit", "command"}},
			},
			"codeLens": Obj{}, "inlayHint": Obj{},
		},
		"workspace": Obj{
			"applyEdit":     true,
			"workspaceEdit": Obj{"documentChanges": true, "resourceOperations": []string{"create", "rename", "delete"}},
		},
		"window": Obj{"workDoneProgress": true, "showMessage": Obj{}, "showDocument": Obj{"support": true}},
	}
}

// BuiltinWorld returns a world whose agent will change a file in two places.
func BuiltinWorld(t *testing.T) (w *World, before, after string) {
	w = New(t)
	before, after = Numbered(30, nil), Numbered(30, map[int]string{5: "agent 5\n", 25: ""})
	w.Put("f.txt", before)
	w.Plays(Lines(Edits("c1", "f.txt", before, after))...)
	_, stderr, status := w.Cursord("trust", w.Root)
	require.Zero(t, status, stderr)
	t.Cleanup(func() { w.Cursord("stop", "--force") })
	return w, before, after
}

// editorFolder returns the folder into which "make editors" puts the editors.
func editorFolder() string {
	if dir := os.Getenv("CURSORD_EDITORS"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "cursord-dev")
}

// Program returns the path of a program. Without it the test is skipped, unless CURSORD_NEED_PROGRAMS says that it must be there.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CURSORD_NEED_PROGRAMS") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return path
}

// EditorsFound returns the programs bin/PATTERN in the folder of editors; without any, the program onPath if PATH has it.
// Without either the test is skipped, unless CURSORD_NEED_EDITORS says that the editors must be there.
func EditorsFound(t testing.TB, pattern, onPath string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(editorFolder(), "bin", pattern))
	require.NoError(t, err)
	if len(found) == 0 {
		if os.Getenv("CURSORD_NEED_EDITORS") != "" {
			t.Fatalf("there is no %s in %s: run \"make editors\"", pattern, editorFolder())
		}
		path, err := exec.LookPath(onPath)
		if err != nil {
			t.Skipf("there is no %s in %s; \"make editors\" gets it", pattern, editorFolder())
		}
		found = []string{path}
	}
	return found
}

// Trusts trusts the workspace, as if a person had done so before.
func (w *World) Trusts() {
	w.T.Helper()
	_, stderr, status := w.Cursord("trust")
	require.Zero(w.T, status, stderr)
}
