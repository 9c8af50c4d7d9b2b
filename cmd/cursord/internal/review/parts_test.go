package review

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

func TestNextKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typed string
		want  []string // "" is a key that means nothing
	}{
		{"", nil},
		{"yn", []string{"y", "n"}},
		{"\x1b[A\x1b[B\x1bOC\x1bOD", []string{"k", "j", "j", "k"}},
		{"\x1b", []string{""}},
		{"\x1b[5~\x1b[1;5Ay", []string{"", "", "y"}},
		{"y\x1b[1;", []string{"y"}},
		{"\r\n \x04", []string{"", "", "", "q"}},
		{"ä\xc3", []string{"ä"}},
		{"\xffy", []string{"\xff", "y"}},
	} {
		var got []string
		for b := []byte(tt.typed); ; {
			key, n := NextKey(b)
			if n == 0 {
				break
			}
			got, b = append(got, key), b[n:]
		}
		require.Equal(t, tt.want, got, "%q", tt.typed)
	}
}

func TestEditorArgs(t *testing.T) {
	t.Parallel()
	for editor, want := range map[string][]string{
		"vi":                 {"+7", "/f"},
		"/usr/bin/emacs -nw": {"+7", "/f"},
		"code":               {"--wait", "--goto", "/f:7"},
		"code --wait":        {"--wait", "--goto", "/f:7"},
		"hx":                 {"/f:7"},
		"subl -w":            {"--wait", "/f:7"},
		"notepad.exe":        {"/f"},
	} {
		require.Equal(t, want, EditorArgs(editor, "/f", 7), editor)
	}
	for editor, want := range map[string][]string{
		"./take-first": {"/f"}, "vi": {"/f"}, "code": {"--wait", "/f"}, "hx": {"/f"}, "zed": {"--wait", "/f"}, "notepad": {"/f"},
	} {
		require.Equal(t, want, EditorArgs(editor, "/f", 0), editor)
	}
	env := map[string]string{"EDITOR": "ed"}
	require.Equal(t, "ed", UserEditor(func(name string) string { return env[name] }))
	env["VISUAL"] = "vim"
	require.Equal(t, "vim", UserEditor(func(name string) string { return env[name] }))
}

func hunk(id string, start int, lines ...string) sessions.Hunk {
	return sessions.Hunk{ID: id, Kind: "text", OldStart: start, NewStart: start, Lines: lines}
}

// parted writes the parts of a file as their hunks' ids and lines.
func (f *reviewFile) parted() (all []string) {
	for _, p := range f.parts() {
		all = append(all, fmt.Sprintf("%s:%d-%d/%d", p.hunk.ID, p.from, p.to, p.of))
	}
	return all
}

func TestSplit(t *testing.T) {
	t.Parallel()
	f := &reviewFile{diff: &sessions.Diff{Hunks: []sessions.Hunk{
		hunk("1", 1), // of a mode
		hunk("2", 1, " a", "-b", " c", "-d", "-e", "+f", "+g", " h"),
		hunk("3", 9, "+x"),
	}}}
	require.Equal(t, []string{"1:0-0/0", "2:0-5/5", "3:0-1/1"}, f.parted())
	require.False(t, f.split(f.parts()[0]))
	require.True(t, f.split(f.parts()[1]), "at what has not changed")
	require.Equal(t, []string{"1:0-0/0", "2:0-1/5", "2:1-5/5", "3:0-1/1"}, f.parted())
	require.False(t, f.split(f.parts()[1]))
	require.True(t, f.split(f.parts()[2]), "between removed and added lines")
	require.Equal(t, []string{"1:0-0/0", "2:0-1/5", "2:1-3/5", "2:3-5/5", "3:0-1/1"}, f.parted())
	require.True(t, f.split(f.parts()[3]), "between lines")
	require.Equal(t, []string{"1:0-0/0", "2:0-1/5", "2:1-3/5", "2:3-4/5", "2:4-5/5", "3:0-1/1"}, f.parted())
	require.Equal(t, []int{1, 2, 3, 3, 4, 9}, func() (at []int) {
		for _, p := range f.parts() {
			at = append(at, p.line())
		}
		return at
	}())

	// What was decided goes; where the person is and what was split stays.
	f.at = 4 // -e is decided with -d
	f.setDiff(&sessions.Diff{Hunks: []sessions.Hunk{
		hunk("1", 1), hunk("2", 1, " a", "-b", " c"), hunk("4", 4, " c", "+f", "+g", " h"), hunk("3", 9, "+x"),
	}}, 2, 4)
	require.Equal(t, []string{"1:0-0/0", "2:0-1/1", "4:0-1/2", "4:1-2/2", "3:0-1/1"}, f.parted())
	p, i, of, ok := f.present()
	require.True(t, ok)
	require.Equal(t, "4", p.hunk.ID)
	require.Equal(t, []int{2, 5}, []int{i, of})

	// What has come joins nothing: the hunk stays the present one, whole.
	f.setDiff(&sessions.Diff{Hunks: []sessions.Hunk{
		hunk("9", 1, "+new"), hunk("2", 2, " a", "-b", " c"), hunk("4", 5, " c", "+f", "+g", " h"), hunk("3", 10, "+x"),
	}}, 0, 0)
	require.Equal(t, []string{"9:0-1/1", "2:0-1/1", "4:0-2/2", "3:0-1/1"}, f.parted())
	p, _, _, _ = f.present()
	require.Equal(t, "4", p.hunk.ID)

	// Without it, the next one is.
	f.setDiff(&sessions.Diff{Hunks: []sessions.Hunk{hunk("9", 1, "+newer"), hunk("3", 10, "+x")}}, 0, 0)
	p, _, _, _ = f.present()
	require.Equal(t, "3", p.hunk.ID)
	f.setDiff(&sessions.Diff{Hunks: []sessions.Hunk{hunk("9", 1, "+newest")}}, 0, 0)
	_, _, _, ok = f.present()
	require.False(t, ok)
}
