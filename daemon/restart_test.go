package daemon

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/config"
)

// TestReadmeNamesWhatNeedsARestart: the page of the settings names exactly those that Configure leaves as they were.
func TestReadmeNamesWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("configure.go")
	require.NoError(t, err)
	stay := map[string]bool{}
	for _, row := range regexp.MustCompile(`\n\t\t\{"(\w+)", d\.config\.`).FindAllStringSubmatch(string(source), -1) {
		stay[row[1]] = true
	}
	require.NotEmpty(t, stay)
	page, err := os.ReadFile(filepath.Join("..", "cmd", "cursord", "README.md"))
	require.NoError(t, err)
	sentence := regexp.MustCompile(`New turns\s+use the new settings; ([^.]*) need a restart`).FindStringSubmatch(string(page))
	require.NotNil(t, sentence, "cmd/cursord/README.md does not say any more which settings need a restart")
	names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(sentence[1], -1)
	for _, key := range config.Keys() {
		named := false
		for _, name := range names {
			begin, many := strings.CutSuffix(name[1], "…")
			named = named || key == begin || many && strings.HasPrefix(key, begin)
		}
		switch {
		case stay[key] && !named:
			t.Errorf("%s holds from the daemon's start only: name it in cmd/cursord/README.md, in the sentence that begins with %q", key, "New turns use the new settings")
		case named && !stay[key]:
			t.Errorf("cmd/cursord/README.md says that %s needs a restart, and Configure has no row for it", key)
		}
	}
}
