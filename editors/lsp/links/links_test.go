package links

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/editors/lsp/protocol"
)

func isFile(path string) bool {
	return slices.Contains([]string{"todo.py", "lib/a b", "lib/util.go", "/etc/hosts", "C:/x.c", "~/notes"}, path)
}

// TestLinksOfALine finds the paths of files in agents' text.
func TestLinksOfALine(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		line string
		want []Link
	}{
		{"", nil},
		{"The fault is at todo.py:20.", []Link{{"todo.py", 20, 16, 26}}},
		{"`todo.py:3:7` and (lib/util.go#L9-L12), then **/etc/hosts**", []Link{{"todo.py", 3, 1, 12}, {"lib/util.go", 9, 19, 37}, {"/etc/hosts", 0, 47, 57}}},
		{"see /etc/hosts, ~/notes and [lib/util.go](lib/util.go:4-9)", []Link{
			{"/etc/hosts", 0, 4, 14}, {"~/notes", 0, 16, 23}, {"lib/util.go", 0, 29, 40}, {"lib/util.go", 4, 42, 57},
		}},
		{"C:/x.c:2 is one", []Link{{"C:/x.c", 2, 0, 8}}},
		{"no.py:1, 12:30, http://todo.py:20", nil},
		{"todo.py:99999999999999", nil},
	} {
		require.Equal(t, one.want, In(one.line, isFile), one.line)
	}
}

// TestLinksInBoldAndItalics: the marks of Markdown around a place were part of its path, and the next place of the line was taken.
func TestLinksInBoldAndItalics(t *testing.T) {
	t.Parallel()
	exists := func(path string) bool {
		return slices.Contains([]string{"main.go", "util.go", "new.go", "_both.go", "both.go", "__init__.py", "end_"}, path)
	}
	for line, want := range map[string][]Link{
		"Done: see **main.go:15** and `new.go:4`": {{"main.go", 15, 12, 22}, {"new.go", 4, 30, 38}},
		"**main.go:15**":                {{"main.go", 15, 2, 12}},
		"*main.go:11*.":                 {{"main.go", 11, 1, 11}},
		"__util.go:3__":                 {{"util.go", 3, 2, 11}},
		"_new.go:4_":                    {{"new.go", 4, 1, 9}},
		"***main.go***":                 {{"main.go", 0, 3, 10}},
		"**main.go:3.**":                {{"main.go", 3, 2, 11}},
		"**main.go**:15":                {{"main.go", 15, 2, 14}},
		"_both.go:1_ and __init__.py:3": {{"_both.go", 1, 0, 10}, {"__init__.py", 3, 16, 29}},
		"**__init__.py:3**":             {{"__init__.py", 3, 2, 15}},
		"end_ and **end_**":             {{"end_", 0, 0, 4}, {"end_", 0, 11, 15}},
		"** and __":                     nil,
	} {
		require.Equal(t, want, In(line, exists), line)
	}
}

const transcript = `# title

- session: 1
- workspace: /home/me/ws

Between: lib/util.go:7 and todo.py:2 it is.

✓ Edit lib/a b +2 −1

` + "```diff" + `
@@ -1,3 +10,4 @@
 a
-b
+c
+d
 e
@@ -20 +22 @@
-x
+y
` + "```" + `

After todo.py.
`

// TestLinkAtAPlace returns the link of a place in a transcript, also in the patch of an edit.
func TestLinkAtAPlace(t *testing.T) {
	t.Parallel()
	text := protocol.NewText(transcript)
	require.Equal(t, "/home/me/ws", Workspace(text))
	require.Empty(t, Workspace(protocol.NewText("# other\n")))
	lines := strings.Split(transcript, "\n")
	for _, one := range []struct {
		line   string // the beginning of the line
		offset int
		want   string
		number int
	}{
		{"# title", 0, "", 0},
		{"Between", 0, "lib/util.go", 7},
		{"Between", 22, "lib/util.go", 7},
		{"Between", 24, "todo.py", 2},
		{"Between", 43, "todo.py", 2},
		{"✓ Edit", 0, "lib/a b", 0},
		{"```diff", 0, "", 0},
		{"@@ -1,3", 0, "lib/a b", 10},
		{" a", 0, "lib/a b", 10},
		{"-b", 0, "lib/a b", 11},
		{"+c", 0, "lib/a b", 11},
		{"+d", 0, "lib/a b", 12},
		{" e", 0, "lib/a b", 13},
		{"@@ -20", 0, "lib/a b", 22},
		{"+y", 0, "lib/a b", 22},
		{"After", 0, "todo.py", 0},
	} {
		line := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, one.line) })
		link, ok := At(text, line, one.offset, isFile)
		require.Equal(t, one.want != "", ok, one.line)
		require.Equal(t, one.want, link.Path, one.line)
		require.Equal(t, one.number, link.Line, one.line)
	}
	_, ok := At(text, 100, 0, isFile)
	require.False(t, ok)
}
