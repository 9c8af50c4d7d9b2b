package fake

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// buildsTable returns the table in agent/testdata/README.md that shows history.
func buildsTable() string {
	var b strings.Builder
	b.WriteString("| since | option or behaviour | what |\n|---|---|---|\n")
	for _, f := range history {
		if f.since == "" {
			continue
		}
		name := f.name
		if strings.HasPrefix(name, "-") {
			name = "`" + name + "`"
		}
		b.WriteString("| " + f.since + " | " + name + " | " + f.what + " |\n")
	}
	return b.String()
}

// TestBuildsTable compares the table in the README with the fake agent's history.
func TestBuildsTable(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "testdata", "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(page), buildsTable(), "copy this in:\n%s", buildsTable())
	seen := map[string]bool{}
	for _, f := range history {
		require.False(t, seen[f.name], "%s has two rows", f.name)
		seen[f.name] = true
	}
}
