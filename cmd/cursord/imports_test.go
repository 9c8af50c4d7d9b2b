package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// internalImports says which packages of this module each package may import.
var internalImports = map[string][]string{
	"cursord/agent/fake": {},
	"cursord/agent": {
		"cursord/agent/failure",
		"cursord/agent/jsontext",
		"cursord/agent/plaintext",
		"cursord/agent/process",
		"cursord/agent/program",
	},
	"cursord/agent/hooks": {},
	"cursord/agent/failure": {
		"cursord/agent/plaintext",
		"cursord/agent/process",
	},
	"cursord/agent/jsontext":  {},
	"cursord/agent/plaintext": {},
	"cursord/agent/process":   {},
	"cursord/agent/program": {
		"cursord/agent/failure",
		"cursord/agent/jsontext",
		"cursord/agent/plaintext",
		"cursord/agent/process",
	},
	"cursord/diffs":    {},
	"cursord/sessions": {},
	"cursord/daemon": {
		"cursord/agent",
		"cursord/agent/failure",
		"cursord/agent/hooks",
		"cursord/agent/plaintext",
		"cursord/agent/process",
		"cursord/agent/program",
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/copytree",
		"cursord/daemon/endpoint",
		"cursord/daemon/internal/atend",
		"cursord/daemon/internal/atomicfile",
		"cursord/daemon/internal/claims",
		"cursord/daemon/internal/clock",
		"cursord/daemon/internal/copies",
		"cursord/daemon/internal/denied",
		"cursord/daemon/internal/documents",
		"cursord/daemon/internal/exportfile",
		"cursord/daemon/internal/mailbox",
		"cursord/daemon/internal/prompt",
		"cursord/daemon/internal/review",
		"cursord/daemon/internal/savewatch",
		"cursord/daemon/internal/snapshot",
		"cursord/daemon/internal/statusmessages",
		"cursord/daemon/internal/survivors",
		"cursord/daemon/internal/translate",
		"cursord/daemon/internal/watch",
		"cursord/daemon/internal/wire",
		"cursord/daemon/paths",
		"cursord/daemon/pictures",
		"cursord/daemon/whichagent",
		"cursord/sessions",
	},
	"cursord/daemon/api": {
		"cursord/daemon/internal/wire",
		"cursord/daemon/paths",
		"cursord/sessions",
	},
	"cursord/daemon/config": {
		"cursord/daemon/copytree",
		"cursord/daemon/endpoint",
		"cursord/daemon/internal/atomicfile",
		"cursord/daemon/paths",
		"cursord/diffs",
	},
	"cursord/daemon/copytree": {
		"cursord/agent/jsontext",
		"cursord/daemon/internal/askgit",
		"cursord/daemon/internal/clock",
		"cursord/daemon/internal/filestat",
	},
	"cursord/daemon/endpoint": {
		"cursord/daemon/internal/filestat",
		"cursord/daemon/paths",
	},
	"cursord/daemon/paths":    {"cursord/agent/plaintext"},
	"cursord/daemon/internal": {},
	"cursord/daemon/internal/atend": {
		"cursord/agent/plaintext",
		"cursord/agent/process",
		"cursord/sessions",
	},
	"cursord/daemon/internal/askgit": {"cursord/daemon/internal/filestat"},
	"cursord/daemon/internal/atomicfile": {
		"cursord/daemon/internal/filestat",
		"cursord/daemon/paths",
		"cursord/diffs",
	},
	"cursord/daemon/internal/attribution": {"cursord/diffs"},
	"cursord/daemon/internal/filestat":    {"cursord/daemon/internal/clock"},
	"cursord/daemon/internal/git": {
		"cursord/daemon/internal/askgit",
		"cursord/daemon/internal/filestat",
		"cursord/daemon/paths",
	},
	"cursord/daemon/internal/snapshot": {
		"cursord/agent/plaintext",
		"cursord/daemon/internal/askgit",
		"cursord/daemon/internal/atomicfile",
		"cursord/daemon/internal/clock",
		"cursord/daemon/internal/filestat",
		"cursord/daemon/internal/git",
		"cursord/daemon/paths",
		"cursord/diffs",
	},
	"cursord/daemon/internal/wire": {
		"cursord/agent/jsontext",
		"cursord/agent/plaintext",
		"cursord/daemon/paths",
		"cursord/sessions",
	},
	"cursord/daemon/internal/denied": {
		"cursord/agent",
		"cursord/daemon/config",
		"cursord/sessions",
	},
	"cursord/daemon/whichagent": {
		"cursord/agent",
		"cursord/agent/failure",
		"cursord/agent/program",
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/endpoint",
	},
	"cursord/daemon/internal/statusmessages": {
		"cursord/daemon/api",
	},
	"cursord/daemon/pictures": {
		"cursord/daemon/api",
		"cursord/daemon/internal/filestat",
		"cursord/daemon/paths",
	},
	"cursord/daemon/internal/prompt": {
		"cursord/agent/plaintext",
		"cursord/daemon/api",
		"cursord/daemon/pictures",
		"cursord/sessions",
	},
	"cursord/daemon/internal/claims": {
		"cursord/daemon/internal/askgit",
		"cursord/daemon/internal/git",
		"cursord/daemon/internal/statusmessages",
		"cursord/daemon/paths",
		"cursord/sessions",
	},
	"cursord/daemon/internal/translate": {
		"cursord/agent",
		"cursord/daemon/copytree",
	},
	"cursord/daemon/internal/copies": {
		"cursord/daemon/api",
		"cursord/daemon/copytree",
		"cursord/sessions",
	},
	"cursord/daemon/internal/exportfile": {
		"cursord/daemon/api",
		"cursord/daemon/internal/wire",
		"cursord/sessions",
	},
	"cursord/daemon/filelist": {
		"cursord/daemon/internal/askgit",
		"cursord/daemon/internal/git",
	},
	"cursord/daemon/internal/mailbox": {},
	"cursord/daemon/internal/diffshape": {
		"cursord/daemon/paths",
		"cursord/diffs",
		"cursord/sessions",
	},
	"cursord/daemon/internal/editorfile": {
		"cursord/daemon/api",
		"cursord/diffs",
	},
	"cursord/daemon/internal/documents": {
		"cursord/agent/plaintext",
		"cursord/daemon/api",
		"cursord/daemon/internal/atomicfile",
		"cursord/daemon/internal/editorfile",
		"cursord/daemon/internal/filestat",
		"cursord/daemon/paths",
		"cursord/diffs",
	},
	"cursord/daemon/internal/threeway": {"cursord/diffs"},
	"cursord/daemon/internal/review": {
		"cursord/agent",
		"cursord/agent/hooks",
		"cursord/agent/plaintext",
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/copytree",
		"cursord/daemon/internal/askgit",
		"cursord/daemon/internal/atomicfile",
		"cursord/daemon/internal/attribution",
		"cursord/daemon/internal/clock",
		"cursord/daemon/internal/diffshape",
		"cursord/daemon/internal/documents",
		"cursord/daemon/internal/editorfile",
		"cursord/daemon/internal/filestat",
		"cursord/daemon/internal/git",
		"cursord/daemon/internal/mailbox",
		"cursord/daemon/internal/savewatch",
		"cursord/daemon/internal/snapshot",
		"cursord/daemon/internal/survivors",
		"cursord/daemon/internal/threeway",
		"cursord/daemon/internal/watch",
		"cursord/daemon/internal/wire",
		"cursord/daemon/paths",
		"cursord/diffs",
		"cursord/sessions",
	},
	"cursord/daemon/internal/survivors": {
		"cursord/agent/process",
		"cursord/daemon/paths",
	},
	"cursord/daemon/internal/watch": {"cursord/daemon/internal/filestat"},
	"cursord/editors":               {},
	"cursord/editors/lsp": {
		"cursord/daemon/api",
		"cursord/daemon/paths",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/rpc": {
		"cursord/agent/jsontext",
		"cursord/daemon",
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/endpoint",
		"cursord/daemon/paths",
		"cursord/sessions",
	},
	"cursord/rpc/dial": {
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/endpoint",
		"cursord/rpc",
	},
	"cursord/rpc/join": {
		"cursord/agent/jsontext",
		"cursord/daemon",
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/endpoint",
		"cursord/daemon/paths",
		"cursord/rpc",
		"cursord/rpc/dial",
		"cursord/sessions",
	},
	"cursord/rpc/remote": {
		"cursord/agent/jsontext",
		"cursord/rpc/join",
	},
	"cursord/cmd/cursord": {
		"cursord/agent/fake",
		"cursord/cmd/cursord/internal/ask",
		"cursord/cmd/cursord/internal/chat",
		"cursord/cmd/cursord/internal/complete",
		"cursord/cmd/cursord/internal/decide",
		"cursord/cmd/cursord/internal/demo",
		"cursord/cmd/cursord/internal/diff",
		"cursord/cmd/cursord/internal/doctor",
		"cursord/cmd/cursord/internal/export",
		"cursord/cmd/cursord/internal/install",
		"cursord/cmd/cursord/internal/listing",
		"cursord/cmd/cursord/internal/logs",
		"cursord/cmd/cursord/internal/man",
		"cursord/cmd/cursord/internal/misuse",
		"cursord/cmd/cursord/internal/naming",
		"cursord/cmd/cursord/internal/remove",
		"cursord/cmd/cursord/internal/review",
		"cursord/cmd/cursord/internal/run",
		"cursord/cmd/cursord/internal/service",
		"cursord/cmd/cursord/internal/settings",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/daemon",
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/endpoint",
		"cursord/daemon/filelist",
		"cursord/daemon/paths",
		"cursord/daemon/pictures",
		"cursord/diffs",
		"cursord/editors",
		"cursord/editors/helix",
		"cursord/editors/lsp",
		"cursord/rpc",
		"cursord/rpc/dial",
		"cursord/rpc/join",
		"cursord/rpc/remote",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/review": {
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/daemon/api",
		"cursord/daemon/paths",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/listing": {
		"cursord/cmd/cursord/internal/naming",
		"cursord/cmd/cursord/internal/pages",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/daemon/api",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/misuse": {},
	"cursord/cmd/cursord/internal/naming": {
		"cursord/cmd/cursord/internal/misuse",
		"cursord/cmd/cursord/internal/pages",
		"cursord/cmd/cursord/internal/term",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/pages": {
		"cursord/daemon/api",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/remove": {
		"cursord/cmd/cursord/internal/naming",
		"cursord/cmd/cursord/internal/term",
		"cursord/rpc",
	},
	"cursord/cmd/cursord/internal/run": {
		"cursord/cmd/cursord/internal/misuse",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/daemon/api",
		"cursord/daemon/pictures",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/settings": {
		"cursord/cmd/cursord/internal/misuse",
		"cursord/cmd/cursord/internal/review",
		"cursord/cmd/cursord/internal/term",
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/endpoint",
		"cursord/rpc",
	},
	"cursord/cmd/cursord/internal/export": {
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/daemon/api",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/man": {},
	"cursord/cmd/cursord/internal/complete": {
		"cursord/cmd/cursord/internal/pages",
		"cursord/cmd/cursord/internal/review",
		"cursord/cmd/cursord/internal/term",
		"cursord/daemon/config",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/logs": {
		"cursord/cmd/cursord/internal/term",
		"cursord/daemon/endpoint",
	},
	"cursord/cmd/cursord/internal/service": {},
	"cursord/cmd/cursord/internal/install": {
		"cursord/cmd/cursord/internal/term",
		"cursord/diffs",
		"cursord/editors",
		"cursord/editors/helix",
	},
	"cursord/cmd/cursord/internal/decide": {
		"cursord/cmd/cursord/internal/misuse",
		"cursord/cmd/cursord/internal/naming",
		"cursord/cmd/cursord/internal/review",
		"cursord/cmd/cursord/internal/term",
		"cursord/daemon/api",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/diff": {
		"cursord/cmd/cursord/internal/naming",
		"cursord/cmd/cursord/internal/review",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/demo": {
		"cursord/cmd/cursord/internal/review",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/daemon/endpoint",
		"cursord/rpc",
		"cursord/rpc/dial",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/chat": {
		"cursord/cmd/cursord/internal/review",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/daemon/api",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/ask": {
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
		"cursord/daemon/api",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/doctor": {
		"cursord/cmd/cursord/internal/install",
		"cursord/cmd/cursord/internal/term",
		"cursord/daemon",
		"cursord/daemon/api",
		"cursord/daemon/config",
		"cursord/daemon/endpoint",
		"cursord/daemon/whichagent",
		"cursord/editors/helix",
		"cursord/rpc",
	},
	"cursord/cmd/cursord/internal/term": {},
	"cursord/cmd/cursord/internal/undertest": {
		"cursord/daemon",
	},
	"cursord/cmd/cursord/tests/world": {
		"cursord/cmd/cursord/internal/undertest",
		"cursord/daemon/api",
		"cursord/rpc",
		"cursord/sessions",
	},
	"cursord/cmd/cursord/internal/view": {
		"cursord/cmd/cursord/internal/term",
		"cursord/diffs",
		"cursord/rpc",
		"cursord/sessions",
	},
}

// restricted says which packages may import what only they should know.
var restricted = map[string][]string{
	"github.com/sourcegraph/jsonrpc2": {"cursord/rpc"},
	"go.etcd.io/bbolt":                {"cursord/sessions"},
	"github.com/fsnotify/fsnotify": { // there for systems without inotify
		"cursord/daemon/internal/savewatch",
		"cursord/daemon/internal/watch",
	},
	"znkr.io/diff":                          {"cursord/diffs"},
	"znkr.io/diff/textdiff":                 {"cursord/diffs"},
	"github.com/spf13/cobra":                {"cursord/cmd/cursord"},
	"github.com/invopop/jsonschema":         {"cursord/rpc/internal/schema"},
	"github.com/stretchr/testify":           {"cursord/cmd/cursord/tests/world"},
	"github.com/santhosh-tekuri/jsonschema": {"cursord/cmd/cursord/tests/world"},
	"os/exec": {
		"cursord/agent",
		"cursord/agent/fake",
		"cursord/agent/process",
		"cursord/agent/program",
		"cursord/cmd/cursord",
		"cursord/cmd/cursord/internal/chat",
		"cursord/cmd/cursord/internal/demo",
		"cursord/cmd/cursord/internal/doctor",
		"cursord/cmd/cursord/internal/install",
		"cursord/cmd/cursord/internal/service",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/tests/world", // endpoint: to ask a newer build what it is; helix: to ask Helix what it is
		"cursord/daemon/copytree",
		"cursord/daemon/endpoint",
		"cursord/daemon/internal/askgit",
		"cursord/daemon/internal/atend",
		"cursord/daemon/internal/git",
		"cursord/editors/helix",
		"cursord/rpc/dial",
		"cursord/rpc/remote",
	},
	"encoding/gob":                    {},
	"github.com/rogpeppe/go-internal": {"cursord/cmd/cursord/tests/world"},
	"github.com/adrg/xdg":             {"cursord/daemon/endpoint"},
	"github.com/BurntSushi/toml": {
		"cursord/daemon/config",
		"cursord/editors/helix",
	},
	"github.com/mattn/go-isatty": {
		"cursord/agent/fake",
		"cursord/cmd/cursord/internal/term",
		"cursord/cmd/cursord/internal/view",
	},
	"net/http": {},
	"github.com/oklog/ulid/v2": {
		"cursord/cmd/cursord",
		"cursord/cmd/cursord/internal/chat",
		"cursord/daemon",
		"cursord/sessions",
	},
	"golang.org/x/sys/unix": {
		"cursord/cmd/cursord/tests/world",
		"cursord/agent",
		"cursord/agent/process",
		"cursord/cmd/cursord/internal/term",
		"cursord/daemon",
		"cursord/daemon/copytree",
		"cursord/daemon/endpoint",
		"cursord/daemon/internal/atomicfile",
		"cursord/daemon/internal/filestat",
		"cursord/daemon/internal/savewatch",
		"cursord/sessions",
	},
}

// TestImportTable holds the packages to the order in ARCHITECTURE.md.
func TestImportTable(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "cursord/...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(line), ": ")
		allowed, known := internalImports[pkg]
		if !known {
			allowed = []string{}
			for parent, list := range internalImports {
				if strings.HasPrefix(pkg, parent+"/") {
					allowed, known = append(slices.Clone(list), parent), true
				}
			}
			require.True(t, known, "%s is not in the table", pkg)
		}
		for _, imp := range strings.Fields(imports) {
			if strings.HasPrefix(imp, "cursord/") {
				require.Contains(t, allowed, imp, "%s imports %s", pkg, imp)
			}
			for name, who := range restricted {
				if imp == name || strings.HasPrefix(imp, name+"/") && name != "os/exec" {
					require.Contains(t, who, pkg, "%s imports %s", pkg, imp)
				}
			}
		}
	}
}

// TestWorkingDirectory holds the packages of the daemon to not knowing where it was started.
func TestWorkingDirectory(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	asks := regexp.MustCompile(`\bos\.(Chdir|Getwd)\(`)
	files := 0
	for _, in := range []string{"agent", "daemon", "diffs", "editors", "rpc", "sessions"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, in), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			require.NotRegexp(t, asks, string(source), path)
			files++
			return err
		}))
	}
	require.Greater(t, files, 200)
}
