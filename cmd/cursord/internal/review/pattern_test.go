package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestSelectDiffs has a row for each way in which files are named.
func TestSelectDiffs(t *testing.T) {
	t.Parallel()
	var diffs []*sessions.Diff
	for _, path := range []string{"a.go", "b.txt", "sub/a.go", "sub/deep/c.go", "sub/[x].go", "/else/where.go"} {
		diffs = append(diffs, &sessions.Diff{Path: path, Hunks: []sessions.Hunk{{ID: path}}})
	}
	for path, want := range map[string][]string{
		"a.go":             {"a.go"},
		"sub":              {"sub/a.go", "sub/deep/c.go", "sub/[x].go"},
		"./sub/":           {"sub/a.go", "sub/deep/c.go", "sub/[x].go"},
		"*.go":             {"a.go", "sub/a.go", "sub/deep/c.go", "sub/[x].go"},
		"a.*":              {"a.go", "sub/a.go"},
		"sub/*.go":         {"sub/a.go", "sub/[x].go"},
		"sub/**/*.go":      {"sub/a.go", "sub/deep/c.go", "sub/[x].go"},
		"**/c.go":          {"sub/deep/c.go"},
		"sub/**":           {"sub/a.go", "sub/deep/c.go", "sub/[x].go"},
		"[ab].*":           {"a.go", "b.txt", "sub/a.go"},
		"[!a].*":           {"b.txt", "sub/deep/c.go"},
		"?.txt":            {"b.txt"},
		"sub/[x].go":       {"sub/[x].go"},
		`sub/\[*`:          {"sub/[x].go"},
		"/nowhere/ws/*.go": {"a.go"},
		"/else/*":          {"/else/where.go"},
		"*.md":             nil,
		"[z-a]*":           nil,
		"*":                {"a.go", "b.txt", "sub/a.go", "sub/deep/c.go", "sub/[x].go"},
		"nothing":          nil,
	} {
		var got []string
		for _, d := range SelectDiffs(diffs, "/nowhere/ws", path) {
			got = append(got, d.Path)
		}
		require.Equal(t, want, got, path)
	}
}
